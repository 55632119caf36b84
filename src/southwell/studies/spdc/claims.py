"""What Zhang and Xiao 2015 claim, and how verdicts follow from what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, pairwise, permutations
from typing import Any

import numpy as np

from ..ahead import ERRORS, Ratio, beyond, held, labels, power
from ..findings import Findings, Race, Trace
from ..study import Claim, Verdict
from ..verdicts import count, decided, shown, slope
from .races import BATCH, LARGE, SETS, SMALL, STOCHASTIC, TITLE

PAPER = "spdc"

Found = Mapping[str, Findings]
CLEARLY = 2.0  # "substantially faster": so many times as fast
ALIKE = 3.0  # "comparable": within this factor


def races_at(found: Found, l2: float) -> list[tuple[str, Race]]:
    """The races of figures 1 and 2 at an l2, by the name of the set."""
    races = {race.title: race for race in found["spdc-figures"].races}
    titles = {name: TITLE.format(name=name, l2=l2) for name in SETS}
    return [(name, races[title]) for name, title in titles.items() if title in races]


def needs(race: Race, others: tuple[str, ...], label: str, limit: float) -> tuple[Ratio, str]:
    """What the best of the others needs over what ``label`` does, in passes; and the same in words, with seconds."""
    passes, seconds = (Ratio(race, others, (label,), unit, limit) for unit in ("epoch", "seconds"))
    return passes, f"{passes.times(f'the passes of {label}')}, {seconds.times('its seconds', False)}"


def beyond_batch(found: Found) -> Verdict:
    """S1: against each of the two."""
    ratios, cases = [], []
    for name, race in races_at(found, LARGE):
        for other in BATCH:
            passes, told = needs(race, (other,), "SPDC", CLEARLY)
            ratios.append(passes)
            cases.append(f"{name}: {other} needs {told}")
    good = beyond(*ratios)
    return decided(
        good,
        f"At l2 = {power(LARGE)} AFG or L-BFGS needs more than {CLEARLY:g} times the passes of SPDC in "
        f"{count(good)} cases. "
        f"{ERRORS}", cases,
    )  # fmt: skip


def batch_catches_up(found: Found) -> Verdict:
    """S2: the better of the two is comparable or ahead."""
    ratios, cases = [], []
    for name, race in races_at(found, SMALL):
        passes, told = needs(race, BATCH, "SPDC", ALIKE)
        ratios.append(passes)
        cases.append(f"{name}: the better of AFG and L-BFGS needs {told}")
    good = held(*ratios)
    return decided(
        good,
        f"At l2 = {power(SMALL)} the better of AFG and L-BFGS needs at most {ALIKE:g} times the passes of SPDC on "
        f"{count(good)} sets. {ERRORS}", cases,
    )  # fmt: skip


def stochastic_alike(found: Found) -> Verdict:
    """S3: of each pair."""
    good, cases = [], []
    for name, race in races_at(found, LARGE):
        pairs = permutations(("SPDC", *STOCHASTIC), 2)
        ratios = {pair: Ratio(race, pair[:1], pair[1:], "epoch", ALIKE) for pair in pairs}
        known = [pair for pair, ratio in ratios.items() if ratio.held is not None]
        if len(known) == len(ratios) or any(beyond(*ratios.values())):
            good.append(not any(beyond(*ratios.values())))
            most = max(known, key=lambda pair: ratios[pair].value)
            cases.append(f"{name}: {most[0]} needs {ratios[most].times(f'the passes of {most[1]}')}")
    return decided(
        good,
        f"At l2 = {power(LARGE)} none of SPDC, SAG and SDCA needs more than {ALIKE:g} times the passes of another on "
        f"{count(good)} sets. {ERRORS} The cases give the largest ratio of each set.", cases,
    )  # fmt: skip


def acceleration_pays(found: Found) -> Verdict:
    """S4."""
    ratios, cases = [], []
    for name, race in races_at(found, SMALL):
        for label in ("SPDC", "ASDCA"):
            if label in labels(race):
                passes, told = needs(race, STOCHASTIC, label, CLEARLY)
                ratios.append(passes)
                cases.append(f"{name}: the better of SAG and SDCA needs {told}")
    good = beyond(*ratios)
    return decided(
        good,
        f"At l2 = {power(SMALL)} the better of SAG and SDCA needs more than {CLEARLY:g} times the passes of SPDC, and "
        "of "
        f"ASDCA, in {count(good)} cases. {ERRORS}", cases,
    )  # fmt: skip


def where_asdca_wins(found: Found) -> Verdict:
    """S5."""
    good, cases = [], []
    for l2 in (1e-6, 1e-8):
        for name, race in races_at(found, l2):
            if "ASDCA" in labels(race):
                passes, told = needs(race, ("ASDCA",), "SPDC", 1.0)
                good += held(passes) if name == "covtype" else beyond(passes)
                cases.append(f"{name}, l2 = {power(l2)}: ASDCA needs {told}")
    return decided(
        good,
        f"ASDCA needs fewer passes than SPDC on covtype, or more on the other sets, in {count(good)} cases. {ERRORS}",
        cases,
    )


def largest_rise(trace: Trace, column: str = "latest", above: float = 1e-8) -> float:
    """How many times its least value so far a column rises to, at most, from values above a limit; 1 if it never
    rises."""
    values = np.asarray(trace.columns[column], dtype=float)
    values = values[np.isfinite(values)]
    if values.size < 2:
        return 1.0
    least = np.minimum.accumulate(values)[:-1]
    seen = least > above
    return float(np.max(values[1:][seen] / least[seen], initial=1.0))


def straightness(race: Race, label: str) -> float:
    """R^2 of a line through log(latest) over passes."""
    values, at = (np.asarray(race[label].columns[name], dtype=float) for name in ("latest", "epoch"))
    seen = (values > 1e-8) & np.isfinite(values)
    if seen.sum() < 3:
        return 1.0
    return float(np.corrcoef(at[seen], np.log(values[seen]))[0, 1] ** 2)


def asdca_oscillates(found: Found) -> Verdict:
    """S6."""
    good, cases = [], []
    for race in found["spdc-oscillation"].races:
        asdca, spdc = (largest_rise(race[label]) for label in ("ASDCA", "SPDC"))
        good += [asdca > 1.1, spdc < asdca]
        cases.append(
            f"{race.title.removeprefix('latest, ')}: up to {asdca:.3g} times for ASDCA, {spdc:.3g} times for SPDC; a "
            f"line through the logarithm of SPDC's error explains {100 * straightness(race, 'SPDC'):.0f} % of its "
            "variance"
        )
    return decided(
        good,
        f"The error of ASDCA's latest point rises to more than 1.1 times the least so far in {count(good[::2])} cases, "
        f"and further than that of SPDC in {count(good[1::2])}. The cases give the largest error after a pass over the "
        "least before it.", cases,
    )  # fmt: skip


def batches_trade(found: Found) -> Verdict:
    """S7."""
    numbers = found["spdc-batches"].numbers
    rows: list[Any] = numbers["sweep"]
    alone = [row for row in rows if row["threads"] == 1 and np.isfinite(row["passes"])]
    if len(alone) < 2:
        return Verdict("cannot tell", "Fewer than two sizes of a batch reached the accuracy in time.")
    iterations = all(b["iterations"] < a["iterations"] for a, b in pairwise(alone))
    passes = all(b["passes"] >= a["passes"] for a, b in pairwise(alone))
    fastest = min(rows, key=lambda row: row["seconds"])
    matching = int(numbers["processors"])
    matched = min((row["seconds"] for row in rows if row["m"] == matching), default=np.inf)
    first, last = alone[0], alone[-1]
    good = (iterations, passes, bool(matched <= 1.1 * fastest["seconds"]))
    return decided(
        good, f"{count(good)} statements agree, m being the size of a batch.",
        [f"from m = {first['m']} to {last['m']} iterations go from {first['iterations']:.3g} to "
         f"{last['iterations']:.3g}" + (", fewer at every step" if iterations else ", not fewer at every step"),
         f"passes go from {first['passes']:.3g} to {last['passes']:.3g}"
         + (", never fewer" if passes else ", fewer at some step"),
         f"the least time is {fastest['seconds']:.2g} s, with m = {fastest['m']} on {fastest['threads']} thread(s); "
         f"m = {matching}, the number of processors, takes {shown(matched)} s"],
    )  # fmt: skip


def norms_help(found: Found) -> Verdict:
    """S8."""
    rows: list[Any] = found["spdc-sampling"].numbers["sampling"]
    uneven = [row for row in rows if row["longest / mean"] > 4]  # theory: a factor of two is lost where rows are equal
    known = [row for row in uneven if np.isfinite(min(row["norms"], row["uniform"]))]
    good = [bool(row["uniform"] >= CLEARLY * row["norms"]) for row in known]
    return decided(
        good,
        f"Where the longest row is more than 4 times the mean, uniform sampling needs at least {CLEARLY:g} times the "
        f"passes of algorithm 2 in {count(good)} cases.",
        [f"{row['lengths']} lengths, the longest {row['longest / mean']:.2g} times the mean: uniform sampling "
         f"{shown(row['uniform'])} passes, algorithm 2 {shown(row['norms'])}" for row in rows],
    )  # fmt: skip


def rates(found: Found) -> Verdict:
    """S9: bounds hold if passes grow no faster than they say. Corollary 2 has a factor log(1 / eps), which is divided
    out; with strong convexity on both sides it is all there is. The finer half of the accuracies counts."""
    good, cases = [], []
    table: list[Any] = found["spdc-table-1"].numbers["table 1"]
    for case, rows in groupby(table, key=lambda row: row["case"]):
        own = list(rows)
        measured = own[len(own) // 2 :] if len(own) > 3 else own
        if not all(np.isfinite(row["passes"]) for row in measured):
            cases.append(f"{case}: undecided, not all accuracies were reached in time")
            continue
        logs = [float(np.log(1 / row["accuracy"])) for row in measured]
        passes = [row["passes"] / log for row, log in zip(measured, logs, strict=True)]
        exponent = slope([1 / row["accuracy"] for row in measured], passes)
        good.append(exponent <= measured[0]["exponent"] + 0.2)
        cases.append(f"{case}: (1 / eps)^{exponent:.2f}, in table 1 (1 / eps)^{measured[0]['exponent']:g}")
    return decided(
        good,
        f"Passes, divided by log(1 / eps), grow as a power of 1 / eps that is at most 0.2 above that of table 1 in "
        f"{count(good)} cases.", cases,
    )  # fmt: skip


def cost_of_a_step(found: Found) -> Verdict:
    """S10."""
    numbers = found["spdc-costs"].numbers
    good, cases = [], []
    features, entries = numbers["by features"], numbers["by entries"]
    for name in numbers["penalties"]:
        flat = slope([row["features"] for row in features], [row[name] for row in features])
        steep = slope([row["entries"] for row in entries], [row[name] for row in entries])
        good += [abs(flat) <= 0.35, 0.6 <= steep <= 1.3]
        cases.append(
            f"{name}: the time of an iteration grows as d^{flat:.2f} (from {features[0][name]:.2g} to "
            f"{features[-1][name]:.2g} microseconds as the dimension d goes from {features[0]['features']:,} to "
            f"{features[-1]['features']:,}) and as (entries of the row)^{steep:.2f}"
        )
    return decided(
        good,
        f"{count(good)} powers are as claimed: -0.35 to 0.35 for the dimension (0 but for the caches), and 0.6 to 1.3 "
        "for the entries.", cases,
    )  # fmt: skip


def theorems(found: Found) -> Verdict:
    """S11."""
    rows: list[Any] = found["spdc-theorems"].numbers["theorems"]
    good, cases = [], []
    for theorem in (1, 2):
        own = [row for row in rows if row["theorem"] == theorem]
        draws, means = (max(row["ratio"] for row in own if row["how"] == how) for how in ("all draws", "averages"))
        good.append(draws <= 1 + 1e-9 and means <= 1.05)
        cases.append(
            f"theorem {theorem}: at most {draws:.2f} of the bound over all draws, {means:.2f} in averages over runs"
        )
    return decided(good, f"The left side is at most the bound (averages: 1.05 of it) in {count(good)} theorems.", cases)


SIMPLE = "Where the data are stand-ins, so are the verdicts: the sources say which."
CLAIMS = (
    Claim(
        "S1", PAPER, "section 5, figure 1",
        "SPDC is substantially faster than AFG and L-BFGS if lambda is large.",
        ("spdc-figures",), beyond_batch, SIMPLE,
    ),
    Claim(
        "S2", PAPER, "section 5, figure 1",
        "At lambda = 1e-8 batch methods, L-BFGS above all, are comparable to SPDC.",
        ("spdc-figures",), batch_catches_up, SIMPLE,
    ),
    Claim(
        "S3", PAPER, "section 5, figure 2",
        "If lambda is large, all stochastic methods perform alike.",
        ("spdc-figures",), stochastic_alike, SIMPLE,
    ),
    Claim(
        "S4", PAPER, "section 5, figure 2",
        "As lambda goes to zero, the accelerated methods SPDC and ASDCA become substantially faster than SAG and "
        "SDCA.",
        ("spdc-figures",), acceleration_pays, SIMPLE,
    ),
    Claim(
        "S5", PAPER, "section 5, figure 2",
        "ASDCA is faster than SPDC on Covtype, which has few features, and slower on RCV1 and News20.",
        ("spdc-figures",), where_asdca_wins, SIMPLE,
    ),
    Claim(
        "S6", PAPER, "section 5, figure 2",
        "The gap of ASDCA may rise when an outer iteration begins; SPDC converges almost linearly and is more "
        "stable.",
        ("spdc-oscillation",), asdca_oscillates, SIMPLE,
    ),
    Claim(
        "S7", PAPER, "section 2.1",
        "A larger batch needs fewer iterations and more passes; wall-clock time is least if the batch is as large "
        "as the number of processors.",
        ("spdc-batches",), batches_trade, "The paper has no experiment.",
    ),
    Claim(
        "S8", PAPER, "section 3.2, theorem 2",
        "If some rows are much longer than others, weighted sampling (algorithm 2) converges faster than uniform "
        "sampling.",
        ("spdc-sampling",), norms_help, "The paper has no experiment.",
    ),
    Claim(
        "S9", PAPER, "section 3.1, table 1",
        "Without smoothness or strong convexity the passes grow as 1 + sqrt(1 / (eps n)), or 1 + sqrt(1 / (eps^2 "
        "n)) without both.",
        ("spdc-table-1",), rates, "The paper has no experiment.",
    ),
    Claim(
        "S10", PAPER, "section 4",
        "An iteration costs the nonzeros of its row, independent of the dimension, for l2 and for l1 + l2.",
        ("spdc-costs",), cost_of_a_step, "The paper has no experiment.",
    ),
    Claim(
        "S11", PAPER, "theorems 1 and 2",
        "The expected distance to the saddle point falls by theta in every iteration.",
        ("spdc-theorems",), theorems,
    ),
)  # fmt: skip

"""Zhang and Xiao 2015: what the paper claims, and how verdicts follow from what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from ..ahead import ahead_by, counted, labels, largest_rise, lead, rows_of, slope, told
from ..findings import Findings, Race
from ..study import Claim, Verdict
from .races import BATCH, LARGE, SETS, SMALL, STOCHASTIC, TITLE

Found = Mapping[str, Findings]
CLEARLY = 2.0  # "substantially faster"
ALIKE = 3.0  # "comparable": within this factor


def races_at(found: Found, l2: float) -> list[tuple[str, Race]]:
    """The races of figures 1 and 2 at an l2, by the name of the set."""
    races = {race.title: race for race in found["spdc-figures"].races}
    titles = {name: TITLE.format(name=name, l2=l2) for name in SETS}
    return [(name, races[title]) for name, title in titles.items() if title in races]


def beyond_batch(found: Found) -> Verdict:
    """S1: against each of the two."""
    good, total, said = 0, 0, []
    for name, race in races_at(found, LARGE):
        for other in BATCH:
            passes, seconds = (lead(race, "SPDC", other, unit) for unit in ("epoch", "seconds"))
            total, good = total + 1, good + (passes is not None and passes.factor >= CLEARLY)
            said.append(f"{name} {other} {told(passes)} ({told(seconds)} in seconds)")
    return counted(good, total, f"Passes at l2 = {LARGE:g} over those of SPDC: {'; '.join(said)}.")


def batch_catches_up(found: Found) -> Verdict:
    """S2: the better of the two is comparable or ahead."""
    good, said = 0, []
    races = races_at(found, SMALL)
    for name, race in races:
        passes, seconds = (ahead_by(race, "SPDC", BATCH, unit) for unit in ("epoch", "seconds"))
        good += passes is not None and passes.factor <= ALIKE
        said.append(f"{name} {told(passes)} times as many passes, {told(seconds)} times as many seconds")
    return counted(good, len(races), f"At l2 = {SMALL:g} the better of AFG and L-BFGS needs: {'; '.join(said)}.")


def stochastic_alike(found: Found) -> Verdict:
    """S3."""
    good, said = 0, []
    races = races_at(found, LARGE)
    for name, race in races:
        leads = [lead(race, "SPDC", other, "epoch") for other in STOCHASTIC]
        factors = [1.0] + [one.factor for one in leads if one is not None]
        spread = max(factors) / min(factors)
        good += len(factors) == 1 + len(STOCHASTIC) and spread <= ALIKE
        said.append(f"{name} {spread:.2g}")
    return counted(good, len(races), f"At l2 = {LARGE:g} the slowest of SPDC, SAG and SDCA needs so many times the "
                                     f"passes "
                   f"of the fastest: {', '.join(said)}.")  # fmt: skip


def acceleration_pays(found: Found) -> Verdict:
    """S4."""
    good, total, said = 0, 0, []
    for name, race in races_at(found, SMALL):
        for label in ("SPDC", "ASDCA"):
            if label not in labels(race):
                continue
            passes, seconds = (ahead_by(race, label, STOCHASTIC, unit) for unit in ("epoch", "seconds"))
            total, good = total + 1, good + (passes is not None and passes.factor >= CLEARLY)
            said.append(f"{name} {told(passes)} times the passes of {label} ({told(seconds)} times its seconds)")
    return counted(good, total, f"At l2 = {SMALL:g} the better of SAG and SDCA needs: {'; '.join(said)}.")


def where_asdca_wins(found: Found) -> Verdict:
    """S5."""
    good, total, said = 0, 0, []
    for l2 in (1e-6, 1e-8):
        for name, race in races_at(found, l2):
            if "ASDCA" not in labels(race):
                continue
            passes, seconds = (lead(race, "SPDC", "ASDCA", unit) for unit in ("epoch", "seconds"))
            total += 1
            if passes is not None:
                good += passes.factor < 1 if name == "covtype" else passes.factor > 1
            said.append(f"{name} at {l2:g} {told(passes)} ({told(seconds)} in seconds)")
    return counted(good, total, f"Passes of ASDCA over those of SPDC, below 1 expected on covtype alone: "
                   f"{'; '.join(said)}.")  # fmt: skip


def straightness(race: Race, label: str) -> float:
    """R^2 of a line through log(latest) over passes."""
    values, at = (np.asarray(race[label].columns[name], dtype=float) for name in ("latest", "epoch"))
    seen = (values > 1e-8) & np.isfinite(values)
    if seen.sum() < 3:
        return 1.0
    return float(np.corrcoef(at[seen], np.log(values[seen]))[0, 1] ** 2)


def asdca_oscillates(found: Found) -> Verdict:
    """S6."""
    good, total, said = 0, 0, []
    for race in found["spdc-oscillation"].races:
        asdca, spdc = (largest_rise(race[label]) for label in ("ASDCA", "SPDC"))
        total, good = total + 1, good + (asdca > 1.1 and spdc < asdca)
        said.append(f"{race.title.removeprefix('latest, ')}: ASDCA {asdca:.2g}, SPDC {spdc:.2g} "
                    f"(R^2 of its line {straightness(race, 'SPDC'):.2f})")  # fmt: skip
    return counted(good, total, "The largest factor by which the latest suboptimality rises from one epoch to the "
                                "next: "
                   + "; ".join(said) + ".")  # fmt: skip


def batches_trade(found: Found) -> Verdict:
    """S7."""
    rows: list[Any] = rows_of(found, "spdc-batches", "sweep")
    alone = [row for row in rows if row["threads"] == 1 and np.isfinite(row["passes"])]
    iterations = all(b["iterations"] < a["iterations"] for a, b in pairwise(alone))
    passes = all(b["passes"] >= a["passes"] for a, b in pairwise(alone))
    fastest = min(rows, key=lambda row: row["seconds"])
    matching = int(found["spdc-batches"].numbers["processors"])
    matched = min((row["seconds"] for row in rows if row["m"] == matching), default=np.inf)
    wall = matched <= 1.1 * fastest["seconds"]
    first, last = alone[0], alone[-1]
    return counted(
        iterations + passes + wall, 3,
        f"From m = {first['m']} to {last['m']} iterations go from {first['iterations']:.3g} to "
        f"{last['iterations']:.3g} and "
        f"passes from {first['passes']:.3g} to {last['passes']:.3g}; the least time is {fastest['seconds']:.2g} s with "
        f"m = "
        f"{fastest['m']} on {fastest['threads']} threads, while m = {matching}, the number of processors, takes "
        f"{matched:.2g} s.",
    )  # fmt: skip


def norms_help(found: Found) -> Verdict:
    """S8."""
    rows: list[Any] = rows_of(found, "spdc-sampling", "sampling")
    uneven = [row for row in rows if row["longest / mean"] > 4]  # theory: a factor of two is lost where rows are equal
    factors = [row["uniform"] / row["norms"] if np.isfinite(row["norms"]) else 0.0 for row in uneven]
    said = "; ".join(f"{row['lengths']} (longest {row['longest / mean']:.2g} times the mean) {row['uniform']:.3g} "
           f"against "
                     f"{row['norms']:.3g}" for row in rows)  # fmt: skip
    return counted(sum(f >= CLEARLY for f in factors), len(factors), f"Passes with uniform sampling against algorithm "
                                                                     f"2, "
                   f"by lengths of rows: {said}.")  # fmt: skip


def rates(found: Found) -> Verdict:
    """S9: bounds hold if passes grow no faster than they say. Corollary 2 has a factor log(1 / eps), which is divided
    out; with strong convexity on both sides it is all there is. The finer half of the accuracies counts."""
    good, said = 0, []
    cases = [list(own) for _, own in groupby(rows_of(found, "spdc-table-1", "table 1"), key=lambda row: row["case"])]
    for own in cases:
        measured: list[Any] = own[len(own) // 2 :] if len(own) > 3 else own
        if not all(np.isfinite(row["passes"]) for row in measured):
            said.append(f"{own[0]['case']}: not all accuracies were reached")
            continue
        logs = [float(np.log(1 / row["accuracy"])) for row in measured]
        passes = [row["passes"] / log for row, log in zip(measured, logs, strict=True)]
        exponent = slope([1 / row["accuracy"] for row in measured], passes)
        good += exponent <= measured[0]["exponent"] + 0.2
        said.append(f"{own[0]['case']}: {exponent:.2f} ({measured[0]['exponent']:g})")
    return counted(good, len(cases), "Exponents of 1 / eps in passes / log(1 / eps), in brackets those of the table: "
                   + "; ".join(said) + ".")  # fmt: skip


def cost_of_a_step(found: Found) -> Verdict:
    """S10."""
    numbers = found["spdc-costs"].numbers
    good, said = 0, []
    for name in numbers["penalties"]:
        features, entries = numbers["by features"], numbers["by entries"]
        flat = slope([row["features"] for row in features], [row[name] for row in features])
        steep = slope([row["entries"] for row in entries], [row[name] for row in entries])
        good += (flat <= 0.35) + (0.6 <= steep <= 1.3)
        said.append(f"{name} d^{flat:.2f} and entries^{steep:.2f}, {features[0][name]:.2g} us to "
                    f"{features[-1][name]:.2g} "
                    f"us as d goes from {features[0]['features']:,} to {features[-1]['features']:,}")  # fmt: skip
    return counted(good, 2 * len(said), f"The time of an iteration grows as: {'; '.join(said)}.")


def theorems(found: Found) -> Verdict:
    """S11."""
    rows: list[Any] = rows_of(found, "spdc-theorems", "theorems")
    said, good = [], 0
    for theorem in (1, 2):
        own = [row for row in rows if row["theorem"] == theorem]
        draws, means = (max((row["ratio"] for row in own if row["how"] == how), default=0.0)
                        for how in ("all draws", "averages"))  # fmt: skip
        good += draws <= 1 + 1e-9 and means <= 1.05
        said.append(f"theorem {theorem}: at most {draws:.2f} of the bound over all draws, {means:.2f} in averages")
    return counted(good, 2, f"{'; '.join(said).capitalize()}.")


SIMPLE = "Where the data are stand-ins, so are the verdicts: the sources say which."
CLAIMS = (
    Claim(
        "S1", "spdc", "section 5, figure 1",
        "SPDC is substantially faster than AFG and L-BFGS if lambda is large.",
        ("spdc-figures",), beyond_batch, SIMPLE,
    ),
    Claim(
        "S2", "spdc", "section 5, figure 1",
        "At lambda = 1e-8 batch methods, L-BFGS above all, are comparable to SPDC.",
        ("spdc-figures",), batch_catches_up, SIMPLE,
    ),
    Claim(
        "S3", "spdc", "section 5, figure 2",
        "If lambda is large, all stochastic methods perform alike.",
        ("spdc-figures",), stochastic_alike, SIMPLE,
    ),
    Claim(
        "S4", "spdc", "section 5, figure 2",
        "As lambda goes to zero, the accelerated methods SPDC and ASDCA become substantially faster than SAG and "
        "SDCA.",
        ("spdc-figures",), acceleration_pays, SIMPLE,
    ),
    Claim(
        "S5", "spdc", "section 5, figure 2",
        "ASDCA is faster than SPDC on Covtype, which has few features, and slower on RCV1 and News20.",
        ("spdc-figures",), where_asdca_wins, SIMPLE,
    ),
    Claim(
        "S6", "spdc", "section 5, figure 2",
        "The gap of ASDCA may rise when an outer iteration begins; SPDC converges almost linearly and is more "
        "stable.",
        ("spdc-oscillation",), asdca_oscillates, SIMPLE,
    ),
    Claim(
        "S7", "spdc", "section 2.1",
        "A larger batch needs fewer iterations and more passes; wall-clock time is least if the batch is as large "
        "as the number of processors.",
        ("spdc-batches",), batches_trade, "The paper has no experiment.",
    ),
    Claim(
        "S8", "spdc", "section 3.2, theorem 2",
        "If some rows are much longer than others, weighted sampling (algorithm 2) converges faster than uniform "
        "sampling.",
        ("spdc-sampling",), norms_help, "The paper has no experiment.",
    ),
    Claim(
        "S9", "spdc", "section 3.1, table 1",
        "Without smoothness or strong convexity the passes grow as 1 + sqrt(1 / (eps n)), or 1 + sqrt(1 / (eps^2 "
        "n)) without both.",
        ("spdc-table-1",), rates, "The paper has no experiment.",
    ),
    Claim(
        "S10", "spdc", "section 4",
        "An iteration costs the nonzeros of its row, independent of the dimension, for l2 and for l1 + l2.",
        ("spdc-costs",), cost_of_a_step, "The paper has no experiment.",
    ),
    Claim(
        "S11", "spdc", "theorems 1 and 2",
        "The expected distance to the saddle point falls by theta in every iteration.",
        ("spdc-theorems",), theorems,
    ),
)  # fmt: skip

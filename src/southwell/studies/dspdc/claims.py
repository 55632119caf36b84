"""What Yu, Lin and Yang 2015 claim, and how verdicts follow from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..ahead import ERRORS, Ratio, beyond, labels
from ..findings import Findings, Race
from ..study import Claim, Verdict
from ..verdicts import count, decided, slope

PAPER = "dspdc"

Found = Mapping[str, Findings]
CLEARLY = 1.5  # "significantly faster", "much faster": so many times as fast, in seconds
LEVEL = 1.1  # "even better": more than this
SAME = 2.0  # "the same efficiency": within this factor


def comparisons(races: Iterable[Race], kind: str = "") -> tuple[list[bool], list[str]]:
    """In which cases SPDC and SDCA need clearly more seconds than DSPDC, and a line for each race."""
    good, cases = [], []
    for race in races:
        pairs = [("DSPDC" + kind, other + kind) for other in ("SPDC", "SDCA")]
        ratios = {
            other.removesuffix(kind): Ratio(race, (other,), (own,), "seconds", CLEARLY)
            for own, other in pairs if {own, other} <= set(labels(race))
        }  # fmt: skip
        good += beyond(*ratios.values())
        if ratios:
            cases.append(f"{race.title}: " + ", ".join(f"{other} {ratio}" for other, ratio in ratios.items()))
    return good, cases


def figure_1(found: Found) -> Verdict:
    """P1."""
    good, cases = comparisons(found["dspdc-figure-1"].races)
    return decided(
        good,
        f"DSPDC is more than {CLEARLY} times as fast in {count(good)} cases. Seconds of the others over those of "
        f"DSPDC. {ERRORS}", cases,
    )  # fmt: skip


def figure_2(found: Found) -> Verdict:
    """P2: against SDCA both are to be clearly faster; against SPDC DSPDC on two sets, and level on the third."""
    good, cases = [], []
    for race in found["dspdc-figure-2"].races:
        parts = []
        for label in ("DSPDC", "SPDC"):
            ratio = Ratio(race, ("SDCA",), (label,), "seconds", CLEARLY)
            good += beyond(ratio)
            parts.append(f"SDCA needs {ratio.times(f'the seconds of {label}')}")
        if race.title == "real-sim":
            ratio, less = (Ratio(race, ("SPDC",), ("DSPDC",), "seconds", limit) for limit in (SAME, 1 / SAME))
            if ratio.beyond or less.held:
                good.append(False)
            elif ratio.held and less.beyond:
                good.append(True)
        else:
            ratio = Ratio(race, ("SPDC",), ("DSPDC",), "seconds", LEVEL)
            good += beyond(ratio)
        cases.append(f"{race.title}: {', '.join(parts)}; SPDC needs {ratio.times('the seconds of DSPDC')}")
    return decided(
        good,
        f"{count(good)} comparisons are as in the paper: SDCA needs more than {CLEARLY} times the seconds of either; "
        f"SPDC more than {LEVEL} times those of DSPDC, on real-sim {1 / SAME:g} to {SAME:g} times. {ERRORS}", cases,
    )  # fmt: skip


def over_matrices(found: Found, study: str) -> Verdict:
    """With tuned steps and with those of the theorems."""
    kinds = {kind: comparisons(found[study].races, f", {kind}") for kind in ("tuned", "theory")}
    tuned, theory = (kinds[kind][0] for kind in ("tuned", "theory"))
    return decided(
        tuned + theory,
        f"DSPDC is more than {CLEARLY} times as fast in {count(tuned)} cases with tuned steps, and in {count(theory)} "
        "with those of the theorems; undecided cases do not count. Seconds of the others over those of DSPDC. "
        f"{ERRORS}",
        [f"{kind} steps, {case}" for kind, (_, cases) in kinds.items() for case in cases],
    )  # fmt: skip


def matrix_risks(found: Found) -> Verdict:
    """P3."""
    return over_matrices(found, "dspdc-figure-3")


def many_tasks(found: Found) -> Verdict:
    """P4."""
    return over_matrices(found, "dspdc-figure-4")


def usual_scale(found: Found) -> Verdict:
    """P5: with the usual Lambda it converges, and not later than with a bound."""
    rows: list[Any] = found["dspdc-lambda"].numbers["scales"]
    good, below, cases = [], 0, []
    for row in rows:
        usual, safe = row["epochs, usual"], row["epochs, safe"]
        converges = np.isfinite(usual) or row["error, usual"] <= 2 * row["error, safe"]
        good.append(bool(converges and (usual <= 1.1 * safe or not np.isfinite(safe))))
        below += row["usual"] < row["found"]
        cases.append(f"{row['data']}, m = {row['m']}, q = {row['q']}: {_after(usual, row, 'usual')}, with the bound "
                     f"{_after(safe, row, 'safe')}")  # fmt: skip
    return decided(
        good,
        "With Lambda = m q R^2 / p DSPDC reaches an error of 1e-6 in at most 1.1 times the epochs that it needs with a "
        "proven bound, or at most twice the error of the bound in as many epochs where neither arrives, in "
        f"{count(good)} cases; in {below} of them this Lambda is below the squared norm of a block, so that no theorem "
        "covers it.", cases,
    )  # fmt: skip


def _after(epochs: float, row: Mapping[str, Any], kind: str) -> str:
    if np.isfinite(epochs):
        return f"after {epochs:.3g} epochs"
    return f"an error of {row[f'error, {kind}']:.2g} after {row['epochs']:.3g}"


def cost(found: Found) -> Verdict:
    """P6."""
    numbers = found["dspdc-costs"].numbers
    shape, size = numbers["by shape"], numbers["by size"]
    flat = slope([row["n"] for row in shape], [row["microseconds"] for row in shape])
    steep = slope([row["k (m + q)"] for row in size], [row["microseconds"] for row in size])
    good = (flat <= 0.5, steep <= 1.2)
    return decided(
        good,
        f"{count(good)} powers are as claimed: at most 0.5 for n and p (0 but for the caches), and at most 1.2 for "
        "k (m + q), k being the inner size.",
        [f"the time of an iteration grows as n^{flat:.2f}, p = n / 5: from {shape[0]['microseconds']:.2g} microseconds "
         f"at n = {shape[0]['n']:,} to {shape[-1]['microseconds']:.2g} at n = {shape[-1]['n']:,}",
         f"it grows as (k (m + q))^{steep:.2f}: from {size[0]['microseconds']:.2g} microseconds to "
         f"{max(row['microseconds'] for row in size):.2g}"],
    )  # fmt: skip


def theorems(found: Found) -> Verdict:
    """P7: as printed, with all under the root, and as the remarks and the proof have it."""
    rows: list[Any] = found["dspdc-theorems"].numbers["theorems"]

    def worst(**wanted: object) -> float:
        return max(float(row["ratio"]) for row in rows if all(row[key] == value for key, value in wanted.items()))

    draws, means = (worst(theorem=1, form="outside", how=how) for how in ("all draws", "averages"))
    printed, statement, proof = (worst(form=form) for form in ("under the root", "statement", "proof"))
    good = (draws <= 1 + 1e-9 and means <= 1.05, printed <= 1.05, statement <= 1.05 and proof <= 1.05)
    return decided(
        good,
        f"{count(good)} forms hold: the left side is at most the bound (averages over runs: 1.05 of it).",
        [f"theorem 1 with n p / (m q) outside of the root of (14): at most {draws:.2f} of the bound over all draws, "
         f"{means:.2f} in averages",
         f"theorem 1 with n p / (m q) under the root, as (14) is printed: {printed:.3g}",
         f"theorem 2: {statement:.2g} of its bound, {proof:.2g} of the bound in its proof"],
    )  # fmt: skip


CLAIMS = (
    Claim(
        "P1", PAPER, "section 6.1, figure 1",
        "On random factorised data DSPDC is significantly faster than SPDC and SDCA.",
        ("dspdc-figure-1",), figure_1,
    ),
    Claim(
        "P2", PAPER, "section 6.1, figure 2",
        "On factorised Covtype, RCV1 and Real-sim SPDC and DSPDC outperform SDCA significantly; DSPDC is ahead of "
        "SPDC on the first two and level on the third.",
        ("dspdc-figure-2",), figure_2, "The paper does not print m and q, on which the ratio to SPDC depends.",
    ),
    Claim(
        "P3", PAPER, "section 6.2, figure 3",
        "On matrix risks DSPDC converges much faster than SPDC and SDCA in running time.",
        ("dspdc-figure-3",), matrix_risks, "The paper does not say how steps were chosen.",
    ),
    Claim(
        "P4", PAPER, "section 6.3, figure 4",
        "On multi-task metric learning DSPDC converges much faster than SPDC and SDCA in running time, for all "
        "sampling sizes.",
        ("dspdc-figure-4",), many_tasks, "The paper does not say how steps were chosen.",
    ),
    Claim(
        "P5", PAPER, "section 4.1, remark 1",
        "Lambda = m q R^2 / p, which need not be a bound, performs reasonably well.",
        ("dspdc-lambda",), usual_scale, "The paper has no experiment with another Lambda.",
    ),
    Claim(
        "P6", PAPER, "section 4.2, algorithm 2",
        "On A = U V with inner size d an iteration costs O(d (m + q)).",
        ("dspdc-costs",), cost, "The paper has no experiment.",
    ),
    Claim(
        "P7", PAPER, "theorems 1 and 2",
        "The expected distance to the saddle point, and the expected gap, fall by a constant factor in every "
        "iteration.",
        ("dspdc-theorems",), theorems,
    ),
)  # fmt: skip

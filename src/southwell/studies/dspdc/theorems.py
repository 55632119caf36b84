"""Yu, Lin, Yang 2015: theorems 1 and 2 on small problems."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import reference
from ...methods import DSPDC
from ..findings import Findings, Table
from ..rates import LOSSES, Points, Small, all_draws

if TYPE_CHECKING:
    from ..bench import Bench

STRENGTHS = (1.0, 0.1, 0.001)


def largest_norm(A: np.ndarray, m: int, q: int) -> float:
    """Lambda_{q,m}, equation (8), by trying all blocks."""
    rows, columns = combinations(range(A.shape[0]), m), list(combinations(range(A.shape[1]), q))
    return max(float(np.linalg.norm(A[np.ix_(I, J)], ord=2)) ** 2 for I in rows for J in columns)


def iterations(small: Small, m: int, q: int, scale: float, printed: bool = False) -> float:
    """The iterations in which theorem 1 reduces the error by e. ``printed``: with n p / (m q) under the root."""
    a, b = small.n / m, small.d / q
    inner = scale / (small.l2 * small.gamma * small.n)
    return float(max(a, b) + (np.sqrt(inner * a * b) if printed else a * b * np.sqrt(inner)))


def theorems(bench: Bench) -> Findings:
    """The left sides over the right: at most 1 if the theorems hold."""
    runs = bench.pick(100, 30)
    rows: list[dict[str, Any]] = []
    for loss in LOSSES:
        for l2 in STRENGTHS:
            bench.say(f"theorems 1 and 2 of DSPDC, {loss}, l2 = {l2:g}")
            for m, q in ((1, 1), (2, 1), (4, 3)):
                rows.append(first(loss, l2, m, q, None, bench.pick(3, 2)))
            for m, q in ((1, 1), (1, 7), (3, 2), (13, 1)):
                rows.append(first(loss, l2, m, q, runs))
                rows.append(first(loss, l2, m, q, runs, printed=True))
            for m, q in ((1, 1), (3, 2)):
                rows += second(loss, l2, m, q, runs)
    return Findings(
        tables=(Table("expectation after t iterations / bound, the largest over t", rows),),
        numbers={"theorems": rows},
        notes=(
            "Theorem 1 is taken with n p / (m q) outside of the root, as the remark that it matches SPDC requires, and "
            'as "under the root" with all of it under the root, as the formula is set in (14).',
            "Theorem 2 is tested twice: the statement, whose constant would hide an error, and the sum of distances "
            "and "
            "gaps that its proof bounds, (84) to (85).",
            f"All draws on 4 x 3, by the NumPy reference; averages of {runs} runs of the compiled method on 13 x 7.",
        ),
    )


def first(
    loss: str, l2: float, m: int, q: int, runs: int | None, most: int = 3, printed: bool = False
) -> dict[str, Any]:
    """Theorem 1; ``runs``: None for all draws."""
    small = Small.of(loss, l2, *((4, 3) if runs is None else (13, 7)))
    n, d, gamma, scale = small.n, small.d, small.gamma, largest_norm(small.A, m, q)
    tau, sigma, theta = reference.dspdc_steps(scale, n, d, m, q, l2, gamma)
    K = iterations(small, m, q, scale, printed)
    if printed:
        theta = d / q * (1 - 1 / np.sqrt(scale / (l2 * gamma * n) * n * d / (m * q) + max(n / m, d / q)))
    far_x = d / (2 * q * tau) + d * l2 / q
    start = small.distance(small.zero, far_x, n / (2 * m * sigma) + gamma / m)
    far_y, rate = n / (4 * m * sigma) + gamma / m, 1 - 1 / K
    ratios = []
    for t in range(1, most + 1) if runs is None else (int(np.ceil(k * K)) for k in (1, 4, 10)):
        ends: Points
        if runs is None:
            choices = list(product(combinations(range(n), m), combinations(range(d), q)))
            ends = all_draws(choices, t, lambda drawn: reference.dspdc(*small.parts, drawn, (tau, sigma, theta)))
        else:
            method = DSPDC(rows=m, columns=q, scale=scale, aim="point", theta=float(max(theta, 0.0)))
            ends = small.runs(method, t, range(runs))
        ratios.append(small.distance(ends, far_x, far_y) / (rate**t * start))
    form = "under the root" if printed else "outside"
    return {"theorem": 1, "form": form, "loss": loss, "l2": l2, "m": m, "q": q,
            "how": "all draws" if runs is None else "averages", "ratio": max(ratios)}  # fmt: skip


def second(loss: str, l2: float, m: int, q: int, runs: int) -> list[dict[str, Any]]:
    """Theorem 2: its statement about the gap, and what its proof bounds."""
    small = Small.of(loss, l2, 13, 7)
    n, d, gamma, scale = small.n, small.d, small.gamma, largest_norm(small.A, m, q)
    tau, sigma, _ = reference.dspdc_steps(scale, n, d, m, q, l2, gamma, gap=True)
    K = 2 * iterations(small, m, q, scale)
    A, b, s, lossy, net = small.parts
    best = small.saddle_point

    def saddle(x: np.ndarray, y: np.ndarray) -> float:
        return float(net.value(x).sum() + s @ (y * (A @ x) - lossy.conjugate(y, b)))

    def gap(x: np.ndarray, y: np.ndarray) -> float:
        return float(small.problem.certify(x, y).gap)

    def between(x: np.ndarray, y: np.ndarray, share: float) -> float:
        far = (d / (2 * q * tau) + d * l2 / (2 * q)) * np.sum((x - best[0]) ** 2)
        far += (share * n / (m * sigma) + gamma / (2 * m)) * np.sum((y - best[1]) ** 2)
        at = saddle(*best)
        return float(far + d / q * (saddle(x, best[1]) - at) + n / m * (at - saddle(best[0], y)))

    zero = np.zeros(d), np.zeros(n)
    norm = float(np.linalg.norm(A, ord=2)) ** 2
    constant = 1 / min(d / q, n / m) + max(norm / (n * gamma), norm / (l2 * n**2)) / min(l2 * d / q, gamma / m)
    far = (d / (2 * q * tau) + d * l2 / (2 * q)) * np.sum(best[0] ** 2)
    far += (n / (2 * m * sigma) + gamma / (2 * m)) * np.sum(best[1] ** 2)
    stated = constant * (far + max(d / q, n / m) * gap(*zero))
    proved, ratios = between(*zero, 0.5), {"statement": [0.0], "proof": [0.0]}
    for t in (int(np.ceil(k * K)) for k in (1, 4)):
        ends = list(small.runs(DSPDC(rows=m, columns=q, scale=scale, aim="gap"), t, range(runs)))
        fall = (1 - 1 / K) ** t
        ratios["statement"].append(float(np.mean([gap(*end) for end in ends])) / (fall * stated))
        ratios["proof"].append(float(np.mean([between(*end, 0.25) for end in ends])) / (fall * proved))
    return [{"theorem": 2, "form": form, "loss": loss, "l2": l2, "m": m, "q": q, "how": "averages", "ratio": max(found)}
            for form, found in ratios.items()]  # fmt: skip

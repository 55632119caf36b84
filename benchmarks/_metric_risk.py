"""Yu, Lin, Yang 2015, section 6.2: DSPDC against SPDC and SDCA on random matrices, and against full gradients."""

from __future__ import annotations

from functools import partial

import numpy as np

from _race import shown
from southwell.metric import MatrixRisk

TARGETS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SIZES = ((5, 50), (50, 5), (20, 20))  # m, q


def markdown(rows: list[dict]) -> str:
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join(lines + ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows])


def random_matrices(d: int, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian matrices, made symmetric (this does not change their inner products with symmetric matrices), and
    targets: the signs of sums of traces. float32 if float64 would need more than 2 GB."""
    rng = np.random.default_rng(0)
    D = np.empty((n, p, d, d), dtype=np.float32 if 8 * n * p * d * d > 2e9 else np.float64)
    for own in D:
        G = rng.normal(size=(p, d, d))
        own[:] = (G + G.swapaxes(1, 2)) / 2
    return D, np.where(np.einsum("npii->n", D) > 0, 1.0, -1.0)


def reached(result, target: float, unit: str) -> float:
    there = np.flatnonzero(result.history["gap"] <= target * result.scale)
    return float(result.history[unit][there[0]]) if there.size else np.inf


STRETCHES = [(s * k, s / k) for s in (1, 3) for k in (1, 10, 100)]
"""Factors of the theoretical primal and dual step sizes: 1, 3, and one step longer while the other is shorter."""


def tuned(solve, stretches, sizes: dict, seconds: float) -> dict:
    """For DSPDC, SPDC and SDCA the step sizes that reach the smallest gap in the time, as papers tune them."""
    best = {}
    for method, options in sizes.items():
        tried = stretches if method != "sdca" else [(1, 1), (1, 3), (1, 10)]
        gaps = [solve(method=method, **options, stretch=one, max_seconds=seconds).relative_gap for one in tried]
        best[method] = tried[int(np.argmin(gaps))]
        print(
            f"  {method} {options}: "
            + ", ".join(f"{a:.2g}/{b:.2g} {g:.1e}" for (a, b), g in zip(tried, gaps, strict=True))
        )
    return best


def entries(sizes: dict, best: dict, p: int):
    """The label, the options and the blocks of an iteration, for each solve of a race."""
    for method, options in sizes.items():
        for stretch in dict.fromkeys(((1, 1), best[method])):
            told = "theory" if stretch == (1, 1) else f"{stretch[0]:.2g}, {stretch[1]:.2g}"
            label = f"{method.upper()} {', '.join(f'{k} {v}' for k, v in options.items())}; {told}"
            yield label, {"method": method, **options, "stretch": stretch}, options.get("blocks", p)


def risk(given) -> None:
    n = p = 20 if given.quick else 100
    best = {}
    for d in (20,) if given.quick else (100, 200):
        D, b = random_matrices(d, n, p)
        problem = MatrixRisk(D, b, "smooth_hinge", l2=0.01)
        cases = [("FISTA", {"method": "fista"}, p), ("FISTA on the dual", {"method": "dual_fista"}, p)]
        for m, q in SIZES:
            m, q = max(1, m * n // 100), max(1, q * p // 100)
            sizes = {"dspdc": {"rows": m, "blocks": q}, "spdc": {"rows": m}, "sdca": {"rows": m}}
            if (m, q) not in best:  # tuned once, at the first d
                best[m, q] = tuned(partial(problem.solve, n_threads=given.threads), STRETCHES, sizes, given.seconds / 2)
            cases += entries(sizes, best[m, q], p)
        rows = []
        print(f"\nd = {d}, n = p = {n}, l2 = 0.01, {D.dtype}: seconds (thousands of eigendecompositions) to gap / P(0)")
        for label, options, each in cases:
            r = problem.solve(**options, tol=TARGETS[-1], max_seconds=given.seconds, check_every=1,
                              n_threads=given.threads)  # fmt: skip
            row = {"method": label}
            for target in TARGETS:
                seconds, moves = reached(r, target, "seconds"), reached(r, target, "moves")
                row[f"{target:g}"] = f"{shown(seconds)} ({shown(moves * each / 1000)})"
            rows.append(row | {"gap at the end": f"{r.relative_gap:.1e}"})
            print(f"  {rows[-1]}", flush=True)
        print(markdown(rows), flush=True)
        del D, problem

"""Theorem 4.2 of Lei et al. 2017, step by step on small problems, by the plain NumPy of ``southwell.reference``."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ... import losses, penalties, reference
from ...problem import Problem
from ...solve import solve
from ..bench import Bench
from ..findings import Findings, Table

N, D, L2 = 13, 7, 0.1
SIZES = (0.01, 0.3, 1.0, 3.0)  # of the entries of A


def theorem(bench: Bench) -> Findings:
    """The largest Delta(t + 1) / Delta(t) over the factor that (15) promises, with the constants of (16) and of (27),
    and over the factor of the corrected proof."""
    rows: list[dict[str, Any]] = []
    for name in ("squared", "smooth_hinge", "logistic"):
        for size in SIZES:
            bench.say(f"theorem 4.2, {name}, entries of size {size}")
            for constant in (5, 10):
                rows.append({"loss": name, "size of A": size, "R^2 times": constant}
                            | _worst(name, size, constant, bench.pick(300, 100), bench.seed))  # fmt: skip
    return Findings(tables=(Table("Delta after a step over its bound, at most", rows),), numbers={"steps": rows})


def _worst(name: str, size: float, constant: int, steps: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, int(100 * size)])
    A = size * rng.normal(size=(N, D))
    b = A @ rng.normal(size=D) / size + 0.1 * rng.normal(size=N)
    loss = losses.get(name)
    b = b if name == "squared" else np.where(b > 0, 1.0, -1.0)
    penalty = penalties.ElasticNet(0.02, L2)
    top = solve(Problem(A, b, loss, penalty), tol=1e-14).primal
    net, s, gamma = reference.ElasticNet.of(penalty, D), np.full(N, 1 / N), 1 / float(loss.smoothness)
    R2 = float(np.max(np.sum(A**2, axis=1)))
    x, y, found = np.zeros(D), np.zeros(N), []
    for _ in range(steps):
        wrong = np.count_nonzero(x != net.conjugate_gradient(-A.T @ (s * y)))
        q = max(int(wrong), 1) * (constant * R2 + N * gamma * L2) / (2 * N * L2)
        after, moved, _ = reference.dgpd(A, b, s, loss, net, 1, q=q, x=x, y=y)
        z = A.T @ (s * y)
        dual = -float(np.sum(net.conjugate(-z)) + s @ loss.conjugate(y, b))
        value = float(np.sum(net.value(after)) + z @ after - s @ loss.conjugate(y, b))
        found.append((value - dual + top - dual, q))
        x, y = after, moved
    printed = mended = rose = 0.0
    for (before, q), (now, _) in pairwise(found):
        if before < 1e-9 * found[0][0]:  # beyond this the optimum's own error matters
            break
        rho = q / (q + gamma)
        printed = max(printed, now / before * (1 + gamma / (2 * q)))
        mended = max(mended, now / before * (1 + rho**2 * gamma / (2 * N * q)))
        rose = max(rose, now / before)
    return {"printed": float(printed), "mended": float(mended), "factor": float(rose)}

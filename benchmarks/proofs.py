"""What a proof costs, and how much wider it is than the plain gap: python benchmarks/proofs.py

For each data set a solve to tol = 1e-6, then the time of ``Result.prove`` over that of a plain certificate of the same
point, on one thread; and the width of the proven interval, which includes all rounding errors, against the plain gap.
Data sets whose files are missing are left out.
"""

from __future__ import annotations

import numpy as np

import southwell as sw
from _timing import best, table
from southwell.testing import datasets

CASES = (
    ("20news", "logistic", 0.05, 0.0, True),
    ("20news", "hinge", 0.0, 1e-4, False),
    ("a9a", "logistic", 0.01, 0.0, True),
    ("ijcnn1", "squared", 0.01, 1e-4, True),
    ("leukemia", "logistic", 0.1, 0.0, True),
    ("mnist", "squared_hinge", 0.1, 0.0, False),
    ("sector", "smooth_hinge", 0.05, 1e-5, True),
)


def row(name: str, loss: str, share: float, l2: float, intercept: bool) -> dict[str, object]:
    A, b = datasets.load_binary(name, standardise=name in ("leukemia", "mnist"))
    problem = sw.Problem(A, b, loss, sw.penalties.ElasticNet(), intercept=intercept)
    l1 = share * sw.lambda_max(problem) if share else 0.0
    problem = problem.with_penalty(sw.penalties.ElasticNet(l1, l2))
    result = sw.solve(problem, n_threads=1)
    proof = result.prove()
    plain = best(lambda: problem.certify(result.x, result.y, result.intercept))
    rigorous = best(result.prove)
    return {
        "data": name, "loss": loss, "plain ms": f"{1e3 * plain:.2f}", "proof / plain": f"{rigorous / plain:.2f}",
        "gap / scale": f"{result.relative_gap:.1e}", "proof / scale": f"{proof.gap / result.scale:.1e}",
        "wider by": f"{(proof.gap - result.gap) / result.scale:.1e}",
    }  # fmt: skip


def main() -> None:
    sw.set_num_threads(1)
    np.seterr(all="ignore")
    print(table([row(*case) for case in CASES if datasets.find(case[0])]))


if __name__ == "__main__":
    main()

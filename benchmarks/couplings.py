"""The couplings "mirror" and "gram", and which of them "auto" chooses: python benchmarks/couplings.py

Lasso with an intercept on sets with n >> d, to a relative gap of 1e-8, seconds including that of the Gram matrix.
"""

from __future__ import annotations

import southwell as sw
from _timing import best, table
from southwell.testing import datasets


def main() -> None:
    rows = []
    for name in ("a9a", "w8a", "ijcnn1", "mushrooms", "abalone"):
        A, b = datasets.load(name, standardise=True) if name == "abalone" else datasets.load_binary(name)
        top = sw.lambda_max(A, b, intercept=True)
        for fraction in (0.1, 0.001):
            seconds, results = {}, {}
            for coupling in ("mirror", "gram", "auto"):
                method = sw.methods.CoordinateDescent(side="primal", coupling=coupling)

                def run(coupling=coupling, method=method, A=A, b=b, l1=fraction * top, results=results):
                    problem = sw.Problem(A, b, penalty=sw.penalties.ElasticNet(l1), intercept=True)
                    results[coupling] = sw.solve(problem, method=method, tol=1e-8, max_epochs=5000)

                seconds[coupling] = best(run, 3)
            rows.append(
                {
                    "data": name,
                    "shape": "{} x {}".format(*A.shape),
                    "l1 / max": f"{fraction:g}",
                    "mirror ms": f"{seconds['mirror'] * 1e3:.1f}",
                    "gram ms": f"{seconds['gram'] * 1e3:.1f}",
                    "gram / mirror": f"{seconds['gram'] / seconds['mirror']:.2f}",
                    "auto picks": "gram" if "Gram" in results["auto"].method else "mirror",
                    "status": results["auto"].status.name,
                }
            )
    print(table(rows))


if __name__ == "__main__":
    main()

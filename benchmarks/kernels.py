"""One epoch of ours against one epoch of theirs: python benchmarks/kernels.py

Primal coordinate descent (squared loss, L1) against scikit-learn's Lasso, dual coordinate descent (hinge, L2) against
liblinear through LinearSVC, on 20news tf-idf, w8a and leukemia. An epoch's time is the difference between a long and a
short run, so set-up and certificates cancel. liblinear shrinks its problem, scikit-learn screens features, and ours
skips coordinates that do not move (shrinking). `all` is ours with every coordinate visited; `early` compares the first
epochs, when liblinear has not shrunk yet.
"""

from __future__ import annotations

import scipy.sparse as sp
from sklearn.linear_model import Lasso
from sklearn.svm import LinearSVC

import southwell as sw
from _timing import per_epoch, streaming_limit, table
from southwell.testing.datasets import load_binary

LONG = (2, 22)
EARLY = (1, 4)


def runner(problem: sw.Problem, side: str, shrinking: bool):
    method = sw.methods.CoordinateDescent(side=side, coupling="mirror", shrinking=shrinking)
    return lambda epochs: sw.solve(problem, method=method, tol=0, max_epochs=epochs, check_every=10**6)


def row(name: str, task: str, problem: sw.Problem, side: str, theirs) -> dict[str, object]:
    stored = problem.data.stored
    ours, visit_all = runner(problem, side, True), runner(problem, side, False)
    mine, every, peer = per_epoch(ours, *LONG), per_epoch(visit_all, *LONG), per_epoch(theirs, *LONG)
    early = per_epoch(visit_all, *EARLY) / per_epoch(theirs, *EARLY)
    entry_bytes = 12 if problem.data.sparse else 8
    limit = streaming_limit(stored * entry_bytes) * entry_bytes
    return {
        "data": name,
        "task": task,
        "ours us": f"{mine * 1e6:.0f}",
        "all us": f"{every * 1e6:.0f}",
        "peer us": f"{peer * 1e6:.0f}",
        "ratio": f"{mine / peer:.2f}",
        "all ratio": f"{every / peer:.2f}",
        "early ratio": f"{early:.2f}",
        "ns/entry": f"{mine / stored * 1e9:.2f}",
        "all ns/entry": f"{every / stored * 1e9:.2f}",
        "stream ns/entry": f"{limit * 1e9:.2f}",
    }


def main() -> None:
    rows = []
    for name in ("20news", "w8a", "leukemia"):
        A, b = load_binary(name, standardise=name == "leukemia")
        sparse = sp.issparse(A)
        columns, rows_ = (sp.csc_array(A), sp.csr_array(A)) if sparse else (A.copy(order="F"), A.copy(order="C"))
        top = sw.lambda_max(columns, b)
        for fraction in (0.1, 0.001):
            alpha = fraction * top
            problem = sw.Problem(columns, b, penalty=sw.penalties.ElasticNet(l1=alpha))

            def lasso(epochs, alpha=alpha, columns=columns, b=b):
                Lasso(alpha, fit_intercept=False, max_iter=epochs, tol=0, copy_X=False).fit(columns, b)

            rows.append(row(name, f"lasso {fraction:g} max", problem, "primal", lasso))
        problem = sw.Problem(rows_, b, "hinge", sw.penalties.ElasticNet(l2=1 / b.size))

        def svm(epochs, rows_=rows_, b=b):
            LinearSVC(loss="hinge", dual=True, fit_intercept=False, max_iter=epochs, tol=1e-300, random_state=0).fit(
                sp.csr_matrix(rows_) if sp.issparse(rows_) else rows_, b
            )

        rows.append(row(name, "svm C=1", problem, "dual", svm))
    print(table(rows))
    print("\nratio: an epoch of ours over the peer's; target <= 1. stream: reading the data once, in order.")


if __name__ == "__main__":
    main()

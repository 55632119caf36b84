"""Small jobs of every kind, each a function without arguments whose answer is a list of arrays and numbers."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import southwell as sw
from southwell.features import RandomBinning
from southwell.penalties import ElasticNet

M = sw.methods


def data(n=30, d=12, seed=0, loss="squared"):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    m = A @ (rng.standard_normal(d) * (rng.random(d) < 0.5)) + 0.3 * rng.standard_normal(n)
    return A, m if loss == "squared" else np.where(m > 0, 1.0, -1.0)


def answer(r):
    return [r.x, r.y, r.intercept, r.primal, r.dual, r.gap, r.status.name]


def dense(x):
    return x.toarray() if sp.issparse(x) else x


def solving(form=np.asarray, size=(30, 12), loss="squared", **options):
    A, b = data(*size, loss=loss)
    A = form(A)
    given = {"l1": 0.01, "l2": 0.01, "loss": loss, "n_threads": 1, **options}
    return lambda: answer(sw.solve(A, b, **given))


def on_one_problem(**options):
    """The problem stays, and with it whatever was built before an allocation failed."""
    A, b = data(loss="hinge")
    problem = sw.Problem(sp.csc_array(A), b, "hinge", ElasticNet(0.01, 0.01), intercept=True)
    return lambda: answer(sw.solve(problem, n_threads=1, **options))


def on_blocks(loss, method="auto", **options):
    A, _ = data()
    b = np.arange(30) % 3 if loss == "softmax" else np.c_[A[:, 0], A[:, 1] - A[:, 2]]
    penalty = sw.penalties.Groups(0.01, 0.01)
    given = {"method": method, "n_threads": 1, "max_epochs": 20}
    return lambda: answer(sw.solve(sw.BlockProblem(A, b, loss, penalty, **options), **given))


def certifying():
    A, b = data()
    problem = sw.Problem(A, b, penalty=ElasticNet(0.1, 0.1), intercept=True)
    x = np.linspace(-1, 1, 12)
    return lambda: [*problem.certify(x, intercept=0.1)]


def following_a_path():
    A, b = data()
    problem = sw.Problem(A, b, penalty=ElasticNet(0.01, 0.01), intercept=True)
    return lambda: [dense(sw.path(problem, n_points=6, n_threads=1).x)]


def solving_many(threads):
    A, _ = data()
    Y = np.c_[A[:, 0], A[:, 1] - A[:, 2], A[:, 3]]
    return lambda: [dense(sw.solve_many(A, Y, l1=0.01, n_threads=threads).x)]


def binning(threads):
    A, _ = data(3000)
    return lambda: [RandomBinning(n_grids=8, random_state=0, n_jobs=threads).fit_transform(A).toarray()]


def fitting(estimator, loss="squared"):
    A, b = data(loss=loss)

    def fit():
        model = estimator().fit(A, b)
        return [model.coef_, model.intercept_]

    return fit


def over_matrices():
    """Driven from outside the core. Not through the estimator: scikit-learn's neighbours crash without memory."""
    u = np.random.default_rng(0).standard_normal((30, 3))
    risk = sw.metric.MatrixRisk(sw.metric.LowRank(u), (u @ [1.0, 0.0, 2.0]) ** 2, l2=0.1)
    return lambda: [risk.solve(n_threads=1).x]


def called_back():
    seen = []
    return solving(callback=lambda progress: seen.append(progress.gap))


CD = M.CoordinateDescent
# Without MaxInnerProduct: hnswlib ends the process where it has no memory for its index.
OPERATIONS = {
    "auto dense": lambda: solving(),
    "auto sparse rows": lambda: solving(sp.csr_array, loss="logistic", intercept=True),
    "auto sparse columns": lambda: solving(sp.csc_array, loss="hinge"),
    "auto factorised": lambda: solving(lambda A: sw.Factorised(A[:, :5], A[:5]), intercept=True),
    "one problem, auto": lambda: on_one_problem(),
    "one problem, coordinate descent": lambda: on_one_problem(method=CD(side="dual", rule="greedy")),
    "coordinate descent primal": lambda: solving(method=CD(side="primal", coupling="mirror")),
    "coordinate descent gram": lambda: solving(method=CD(side="primal", coupling="gram")),
    "coordinate descent dual": lambda: solving(loss="hinge", method=CD(side="dual")),
    "rule adaptive": lambda: solving(sp.csr_array, loss="smooth_hinge", method=CD(side="dual", rule="adaptive")),
    "rule hybrid": lambda: solving(method=CD(side="primal", rule="hybrid")),
    "accelerated": lambda: solving(method=M.AcceleratedCD()),
    "spdc": lambda: solving(loss="smooth_hinge", method=M.SPDC()),
    "spdc batches on threads": lambda: solving(size=(60, 40), loss="smooth_hinge",
                                               max_epochs=1,
                                               method=M.SPDC(batch=8, n_threads=2)),
    "dspdc": lambda: solving(loss="smooth_hinge", method=M.DSPDC(), max_epochs=20),
    "dgpd": lambda: solving(loss="smooth_hinge", method=M.DGPD(active_sets=False), max_epochs=20),
    "active sets": lambda: solving(loss="smooth_hinge", method=M.DGPD()),
    "fista": lambda: solving(method=M.FISTA()),
    "lbfgs": lambda: solving(l1=0.0, method=M.LBFGS()),
    "saga": lambda: solving(method=M.SAGA()),
    "svrg": lambda: solving(method=M.SVRG()),
    "softmax": lambda: on_blocks("softmax"),
    "softmax dspdc": lambda: on_blocks("softmax", "dspdc"),
    "groups of tasks": lambda: on_blocks("squared", intercept=True),
    "certify": certifying,
    "path": following_a_path,
    "solve_many": lambda: solving_many(1),
    "solve_many on threads": lambda: solving_many(2),
    "binning": lambda: binning(1),
    "binning on threads": lambda: binning(3),
    "callback": called_back,
    "helpers": lambda: solving(size=(2000, 60), n_threads=2),
    "helpers on sparse rows": lambda: solving(sp.csr_array, (2000, 60), "logistic", n_threads=2),
    "helpers on sparse columns": lambda: solving(sp.csc_array, (2000, 60), "logistic", n_threads=2),
    "lasso": lambda: fitting(sw.Lasso),
    "matrices": over_matrices,
}  # fmt: skip

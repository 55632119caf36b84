"""
Why a proof: what a tolerance means
===================================

Solvers of the same problem stop for different reasons: lbfgs when the gradient is small, saga when the coefficients
change little, liblinear when the gradient is small relative to its first value. ``tol`` is a different quantity in each
of them. This example measures how far their answers are from the optimum.
"""

# %%
# The problem is logistic regression with an L2 penalty on the breast cancer data, with features scaled or raw, and
# without an intercept, which liblinear would penalise. scikit-learn's solvers may use up to 1,000 iterations.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

import southwell as sw

X, labels = load_breast_cancer(return_X_y=True)
b, C = np.where(labels == 1, 1.0, -1.0), 1.0
tolerances = 10.0 ** -np.arange(1, 7)
solvers = ("liblinear", "lbfgs", "saga")


def stopped(A, solver: str, tol: float) -> tuple[np.ndarray, bool]:
    """The coefficients at which a solver of scikit-learn stops, and whether it warned."""
    model = LogisticRegression(C=C, solver=solver, tol=tol, fit_intercept=False, max_iter=1000, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(A, labels)
    return model.coef_[0], bool(caught)


# %%
# The optimum comes from a solve to a gap of 1e-12, so the true error of every other answer is known up to that.
# Filled markers are answers without a warning; hollow ones came with a warning that the iterations ran out.

figure, panels = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
for panel, (name, A) in zip(panels, {"scaled features": scale(X), "raw features": X}.items(), strict=True):
    problem = sw.Problem(A, b, "logistic", sw.penalties.ElasticNet(l2=1 / (C * b.size)))
    best = sw.solve(problem, tol=1e-12)
    print(f"{name}: relative suboptimality (P - P*) / P(0); a star marks a warning")
    for solver in solvers:
        answers = [stopped(A, solver, tol) for tol in tolerances]
        errors = [(problem.certify(x).primal - best.dual) / best.scale for x, _ in answers]
        (line,) = panel.plot(tolerances, errors, alpha=0.6, label=solver)
        for tol, error, (_, warned) in zip(tolerances, errors, answers, strict=True):
            face = "white" if warned else line.get_color()
            panel.plot(tol, error, "o", color=line.get_color(), markerfacecolor=face)
        marks = ["*" if warned else " " for _, warned in answers]
        print(f"  {solver:10s}", *(f"{error:.0e}{mark}" for error, mark in zip(errors, marks, strict=True)))
    ours = [sw.solve(problem, tol=tol) for tol in tolerances]
    panel.plot(tolerances, [r.relative_gap for r in ours], "k^-", label="southwell, proven")
    panel.plot(tolerances, [(r.primal - best.dual) / best.scale for r in ours], "k.:", label="southwell, true")
    panel.plot(tolerances, tolerances, color="0.6", zorder=0, label="as asked")
    print("  southwell ", *(f"{r.relative_gap:.0e} " for r in ours), "(proven)")
    panel.set(xscale="log", yscale="log", xlabel="tol", title=name, ylim=(1e-13, 2))
    panel.invert_xaxis()
panels[0].set_ylabel("distance from the optimum\nrelative to the zero model")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
plt.show()

# %%
# Above the grey line an answer is worse than its tolerance suggests. On raw features, saga with ``tol=1e-3`` stops
# without a warning at an error more than a hundred times as large. On scaled features, liblinear is far better than
# asked. ``tol`` tells neither. The duality gap means the same on every data set: the triangles (the proven error) are
# always below the grey line, and the true error is always below the triangles.

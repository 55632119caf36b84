"""How far a fitted model of any library is from the optimum of the problem that it was fitted for.

>>> import southwell as sw
>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.linear_model import SGDClassifier
>>> X, y = load_breast_cancer(return_X_y=True)
>>> report = sw.audit(SGDClassifier(random_state=0).fit(X / X.max(axis=0), y), X / X.max(axis=0), y)
>>> report.relative_gap > 1e-4, report.n_samples
(True, 569)
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .. import _tables
from .._data import names_of, readable
from .._names import positive
from .._typing import Given
from ..losses import Loss
from ..solve import solve, stated
from ._statements import Stated, statements, table_of

__all__ = ["Audit", "audit"]


@dataclass(frozen=True)
class Audit:
    """What an audit found. Objectives are those of southwell: a mean loss over samples plus the penalty.

    Attributes
    ----------
    model : str
        The class of the model.
    problem : str
        What it was fitted for, as far as it is the same for all problems of the model.
    objective, bound, gap : float
        The objective of the model, a proven lower bound of the optimum, and their difference; sums over the problems of
        a model of several classes or targets that were fitted one by one.
    relative_gap : float
        The largest gap of a problem in units of its zero model's objective.
    best : float
        The objective of the solution that the audit compares with: the optimum is between ``bound`` and ``best``.
    largest_change : tuple of str, float and float
        The coefficient that differs most from that solution: its name, its value, and the value in the solution.
    predictions : str
        "labels" or "numbers".
    changed : float
        How many labels are other ones with the solution; of numbers, the largest change of a prediction.
    nonzeros, best_nonzeros : int
        Coefficients that are not zero, of the model and of the solution.
    n_samples, n_features, n_problems : int
    """

    model: str
    problem: str
    objective: float
    bound: float
    gap: float
    relative_gap: float
    best: float
    largest_change: tuple[str, float, float]
    predictions: str
    changed: float
    nonzeros: int
    best_nonzeros: int
    n_samples: int
    n_features: int
    n_problems: int
    coefficients: np.ndarray = field(repr=False, compare=False)
    intercepts: np.ndarray = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and names, ready for JSON; without the coefficients of the solution."""
        kept = {name: value for name, value in asdict(self).items() if name not in ("coefficients", "intercepts")}
        return kept | {"largest_change": list(self.largest_change)}

    def _told(self) -> tuple[str, dict[str, str]]:
        name, own, other = self.largest_change
        if self.predictions == "labels":
            changed = f"{self.changed:.0f} of {self.n_samples} labels of the given data"
        else:
            changed = f"by at most {self.changed:.3g}, on the given data"
        return f"Audit of {self.model}: {self.relative_gap:.2g} from the optimum", {
            "problem": self.problem + (f", {self.n_problems} times" if self.n_problems > 1 else ""),
            "objective": f"{self.objective:.9g}   (optimum is at least {self.bound:.9g}, at most {self.best:.9g})",
            "gap": f"{self.gap:.3g}, at most {self.relative_gap:.3g} of the zero model's objective",
            "change": f"{name}: {own:.6g} would be {other:.6g}",
            "nonzeros": f"{self.nonzeros} would be {self.best_nonzeros}",
            "predictions that change": changed,
        }

    def __str__(self) -> str:
        return _tables.text(*self._told())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _tables.html(*self._told())


def audit(
    model: Given,
    X: Given,
    y: Given,
    *,
    sample_weight: Given = None,
    offset: Given = None,
    intercept: Given = None,
    loss: str | Loss | None = None,
    l1: float = 0.0,
    l2: float = 0.0,
    penalty: Given = None,
    tol: float = 1e-8,
    max_seconds: float | None = None,
) -> Audit:
    """Tell how far a fitted model is from the optimum of its problem, and what the optimum would change.

    The lower bound is the dual value of a solve that starts at the model's coefficients, so it means something for
    losses with kinks too, where a dual point made of the coefficients alone is useless. Whatever ends that solve, the
    bound holds.

    Parameters
    ----------
    model : fitted estimator, pipeline that ends with one, or array of coefficients
        Of southwell or of scikit-learn: Lasso, ElasticNet, Ridge, LinearRegression, QuantileRegressor,
        PoissonRegressor, GammaRegressor, TweedieRegressor, MultiTaskLasso, MultiTaskElasticNet and their forms with CV,
        LinearSVR, LogisticRegression, LinearSVC, SGDClassifier and SGDRegressor; Lasso, ElasticNet, MultiTaskLasso and
        LogisticRegression of celer; Lasso, ElasticNet, SparseLogisticRegression and LinearSVC of skglm;
        GeneralizedLinearRegressor of glum (normal, poisson, gamma, binomial).
        Coefficients have the shape of ``Result.x``.
    X, y : the data of the fit
        For a pipeline those of its first step.
    sample_weight : array of shape (n_samples,), optional
        As given to ``fit``.
    offset : array of shape (n_samples,), optional
        The same.
    intercept : float or array, optional
        With coefficients as an array; None: a problem without intercept.
    loss, l1, l2, penalty
        With coefficients as an array: what they were fitted for, as for ``solve``.
    tol : float
        The accuracy of the solution to compare with, in units of the zero model's objective.
    max_seconds : float, optional
        A limit for each problem; the bound may then be lower than it could be.

    Returns
    -------
    Audit
        Prints as text, shows as HTML in notebooks, and has ``to_dict()``.

    Examples
    --------
    >>> import southwell as sw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> report = sw.audit(Lasso(alpha=0.1).fit(X, y), X, y)
    >>> 0 < report.relative_gap < 1e-3, report.problem
    (True, 'squared loss, l1=0.1, l2=0, with intercept')
    """
    tol = positive("tol", tol)
    found: list[Stated]
    if hasattr(model, "fit"):
        if loss is not None or penalty is not None or intercept is not None or l1 != 0 or l2 != 0:
            raise TypeError("loss, l1, l2, penalty and intercept belong to coefficients; a model has its own.")
        if hasattr(model, "steps"):
            X, model = (model[:-1].transform(X) if len(model.steps) > 1 else X), model.steps[-1][1]
        names = names_of(X, X.shape[1])
        title = f"{type(model).__module__.split('.')[0]}'s {type(model).__name__}"
        found = statements(model, readable(X, "X"), readable(y, "y"), sample_weight, offset)
    else:
        if loss is None:
            raise TypeError(
                "Coefficients say nothing of their objective: give loss=, and l1=, l2= or penalty=, for which they "
                "were fitted; or give the fitted estimator."
            )
        names, title, with_intercept = names_of(X, np.shape(X)[1]), "coefficients", intercept is not None
        problem = stated(X, y, loss, l1, l2, penalty, with_intercept, sample_weight, offset, "audit")
        found = [Stated(problem, np.asarray(model), 0.0 if intercept is None else intercept)]
    first = found[0]
    known = _tables.feature_names(names, first.problem.n_features - first.penalised_intercept)
    known += ["the intercept, which is penalised"] * first.penalised_intercept
    return _audited(title, found, known, tol, max_seconds)


def _audited(title: str, found: list[Stated], names: list[str], tol: float, max_seconds: float | None) -> Audit:
    primal, bound, best, worst = 0.0, 0.0, 0.0, 0.0
    tables, intercepts = [], []
    own_margins: list[np.ndarray] = []
    margins: list[np.ndarray] = []
    for problem, x, intercept, *_ in found:
        own = problem.certify(x, intercept=intercept)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the bound holds, however close it is
            start = (x, intercept) if np.isfinite(own.primal) else None
            result = solve(problem, tol=tol, warm_start=start, max_epochs=100_000, max_seconds=max_seconds)
        dual = max(result.dual, own.dual)
        primal, bound, best = primal + own.primal, bound + dual, best + min(result.primal, own.primal)
        worst = max(worst, max(own.primal - dual, 0.0) / (result.scale or 1.0))
        tables.append((table_of(x, problem), table_of(result.x, problem)))
        intercepts.append((np.atleast_1d(intercept), np.atleast_1d(result.intercept)))
        for kept, point, c in ((own_margins, x, intercept), (margins, result.x, result.intercept)):
            kept.append(_margins(problem, point, c))
    before, after = (np.concatenate([pair[k] for pair in tables], axis=1) for k in (0, 1))
    j, k = np.unravel_index(np.argmax(np.abs(before - after)), before.shape)
    change = names[j]
    if before.shape[1] > 1:
        change = f"{change} ({found[0].classes[k] if found[0].classes else f'target {k}'})"
    kind, changed = _changed(found, np.column_stack(own_margins), np.column_stack(margins))
    problem = found[0].problem
    return Audit(
        model=title, problem=_stated_as(found), objective=primal, bound=bound, gap=max(primal - bound, 0.0),
        relative_gap=worst, best=best, largest_change=(change, float(before[j, k]), float(after[j, k])),
        predictions=kind, changed=changed, nonzeros=int(np.count_nonzero(before)),
        best_nonzeros=int(np.count_nonzero(after)), n_samples=problem.n_samples,
        n_features=problem.n_features - found[0].penalised_intercept,
        n_problems=len(found), coefficients=after, intercepts=np.concatenate([pair[1] for pair in intercepts]),
    )  # fmt: skip


def _margins(problem: Any, x: Given, intercept: Given) -> np.ndarray:
    inner = problem.to_inner(problem.coefficients(np.asarray(x), "x"), intercept)
    margins: np.ndarray = problem.total_margins(inner).reshape(problem.n_samples, -1)
    return margins


def _changed(found: list[Stated], before: np.ndarray, after: np.ndarray) -> tuple[str, float]:
    kind = found[0].problem.loss.targets
    if kind not in ("signs", "classes"):
        with np.errstate(over="ignore", invalid="ignore"):
            link = np.exp if found[0].problem.loss.log_link else np.asarray
            return "numbers", float(np.abs(link(after) - link(before)).max())
    one_by_one = before.shape[1] == 1 or found[0].several_labels
    labels = [m > 0 if one_by_one else m.argmax(axis=1) for m in (before, after)]
    return "labels", float(np.count_nonzero(labels[0] != labels[1]))


def _stated_as(found: list[Stated]) -> str:
    problem, penalty = found[0].problem, found[0].problem.penalty
    parts = [name for name in ("strength", "l1", "l2") if hasattr(penalty, name)]
    strengths = [f"{name}={getattr(penalty, name):.6g}" for name in parts]
    ending = "with intercept" if problem.intercept else "without intercept"
    if found[0].penalised_intercept:
        ending = "with a penalised intercept"
    return ", ".join([f"{problem.loss.name} loss", *strengths, ending])

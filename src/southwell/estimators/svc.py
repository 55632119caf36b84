"""Support vector machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import losses, methods
from .._names import positive
from .._typing import AnyMatrix
from ..block_problem import BlockProblem
from ..methods import Method
from ..problem import Problem
from ..result import Result
from ..solve import CallbackOfMany
from ..solve_many import solve_each
from ._base import FitData
from ._crammer_singer import without_corners
from ._parameters import l1_share, one_of
from ._together import Together
from .conventions import Strengths, from_C

# scikit-learn's losses in terms of ours: its squared hinge has no factor 1/2.
LOSSES = {
    "hinge": (losses.Hinge, 1.0),
    "squared_hinge": (losses.SquaredHinge, 2.0),
    "smooth_hinge": (losses.SmoothHinge, 1.0),
}


class LinearSVC(Together):
    """Linear support vector machines with an L1, L2 or elastic penalty, with a certificate.

    Minimises ``penalty(w) + C sum_i loss(y_i (x_i'w + c))``, with a penalty of ``||w||_1``, ``||w||^2 / 2`` or a
    mixture of both. Several classes are fitted one against the rest; with ``multi_class="crammer_singer"`` all
    together, with ``max(0, max_k (1 + m_ik) - m_ic)`` over the classes k other than that of the sample, c. The
    intercept is never penalised, unlike liblinear's.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}
        Any penalty can be combined with any loss. "elasticnet" needs ``l1_ratio``.
    loss : {"squared_hinge", "hinge", "smooth_hinge"}
        ``max(0, 1 - m)^2``, ``max(0, 1 - m)``, or the latter with a rounded corner.
    C : float
    l1_ratio : float
        The share of L1 of ``penalty="elasticnet"``.
    multi_class : {"ovr", "crammer_singer"}
        The latter has a loss of its own, and ``loss`` is ignored, as in scikit-learn.
    class_weight : dict, "balanced" or None
    sparse_coef : bool
        Store ``coef_`` as a sparse matrix: for thousands of classes.
    fit_intercept, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.
    dual, intercept_scaling
        Ignored; for compatibility with scikit-learn.

    Attributes
    ----------
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from southwell import LinearSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LinearSVC(C=0.01).fit(X / 16, y)
    >>> model.score(X / 16, y) > 0.9, model.gap_ <= 1e-6
    (True, True)
    """

    def __init__(self, penalty: str = "l2", loss: str = "squared_hinge", *, dual: bool | str = "auto",
                 tol: float = 1e-6, C: float = 1.0, l1_ratio: float | None = 0.0, multi_class: str = "ovr",
                 fit_intercept: bool = True, intercept_scaling: float = 1,
                 class_weight: dict[Any, float] | str | None = None, verbose: bool | int = 0,
                 random_state: int | np.random.RandomState | None = None, max_iter: int = 10_000,
                 warm_start: bool = False, n_jobs: int | None = None, method: str | Method = "auto",
                 sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.l1_ratio = l1_ratio
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.method = method
        self.sparse_coef = sparse_coef
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize

    def _loss(self) -> losses.Loss:
        one_of("loss", self.loss, tuple(LOSSES))
        return LOSSES[self.loss][0]()

    def _joins(self, classes: int) -> bool:
        one_of("multi_class", self.multi_class, ("ovr", "crammer_singer"))
        return self.multi_class == "crammer_singer"

    def _joint_loss(self) -> losses.ClassLoss:
        return losses.MulticlassHinge()

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        one_of("penalty", self.penalty, ("l2", "l1", "elasticnet"))
        one_of("loss", self.loss, tuple(LOSSES))
        ratio = l1_share(self.penalty, self.l1_ratio)
        factor = 1.0 if self.multi_class == "crammer_singer" else LOSSES[self.loss][1]
        return from_C(positive("C", self.C), total, ratio, factor)

    def _solve_each(
        self, problem: Callable[[int], Problem], number: int, starts: list[Any], begun: float,
        told: CallbackOfMany | None, keep: Callable[[Result], Result],
    ) -> tuple[list[Result], BaseException | None]:  # fmt: skip
        own = problem(0)
        if not isinstance(own, BlockProblem):
            return super()._solve_each(problem, number, starts, begun, told, keep)
        method, settings = methods.get(self.method), self._settings()
        half = replace(settings, tol=0.5 * settings.tol)

        def solve(rounded: BlockProblem, start: Any) -> tuple[Result, BaseException | None]:
            results, error = solve_each(lambda _: rounded, 1, method, [start], half, begun, told)
            return results[0], error

        result, error = without_corners(own, solve, starts[0], settings.tol)
        return [keep(result)], error

    def _shaped(self, coef: AnyMatrix, intercepts: np.ndarray, data: FitData) -> dict[str, Any]:
        if data.together and intercepts.size == 2:  # two classes have one row, as in scikit-learn
            coef, intercepts = coef[[1]] - coef[[0]], intercepts[[1]] - intercepts[[0]]
        shaped = super()._shaped(coef, intercepts, data)
        return shaped if self.fit_intercept or intercepts.any() else shaped | {"intercept_": 0.0}  # as scikit-learn

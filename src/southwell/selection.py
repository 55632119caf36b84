"""Stability selection: which features are selected again and again on random parts of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from . import losses, plots
from ._keywords import AnswersKeywords
from ._names import count, flag, positive, shown
from ._tables import feature_names
from ._typing import AnyMatrix, Given
from .estimators._base import FitData
from .estimators._callbacks import Hooks
from .estimators._coefficients import NAMES
from .estimators._cross_validated import Line
from .estimators._folds import Judge, Scores
from .estimators._parameters import drawn_seed
from .estimators.general_cv import ChoosesOwnUnits, SparseLinearClassifierCV, SparseLinearRegressorCV
from .losses import Loss
from .methods import Method

__all__ = ["StabilitySelection"]


class _Subsampled(ChoosesOwnUnits):
    """A mixin: the paths of cross-validation on given rows, without scores."""

    def _judge(self, data: FitData, lines: Sequence[Line], splits: Sequence[tuple[np.ndarray, np.ndarray]],
               params: dict[str, Any]) -> Judge:  # fmt: skip
        return lambda at, rows, coef, intercepts, margins: 0.0


class _Numbers(_Subsampled, SparseLinearRegressorCV):
    pass


class _Classes(_Subsampled, SparseLinearClassifierCV):
    pass


class StabilitySelection(AnswersKeywords, SelectorMixin, BaseEstimator):
    """Selects the features that are selected on most random halves of the data (Meinshausen and Buehlmann 2010).

    On each half a path of ``SparseLinearRegressor`` or ``SparseLinearClassifier`` is computed, several at a time, each
    point with a proven gap. The probability of a feature at an l1 is the share of halves on which its coefficient is
    not zero, and a feature is selected if the largest of its probabilities reaches the threshold.

    Parameters
    ----------
    loss : str or Loss
        Any of ``southwell.losses`` over numbers, counts or signs. Of several classes, each against the rest, a feature
        is selected if it is for one of them.
    l1s : int or array
        The number of values, evenly spaced on a log scale, the largest being the smallest l1 with all coefficients
        zero on all data; or the values.
    eps : float
        The smallest l1, relative to the largest. The weaker the penalties, the more features are selected by chance.
    l2 : float
    threshold : float
        Between 1/2 and 1.
    n_pairs : int
        Twice as many halves are drawn.
    complementary : bool
        Draw pairs of halves that have no row in common (Shah and Samworth 2013); else each half by itself.
    fit_intercept, positive, max_iter, tol, random_state, method, n_jobs, max_seconds, penalty_weights, lower, upper, \
standardize
        As for ``ElasticNet``.

    Attributes
    ----------
    probabilities_ : array of shape (n_features, n_l1s)
    scores_ : array of shape (n_features,)
        The largest probability of each feature.
    l1s_ : array
    mean_selected_ : float
        q, the mean number of features that a half selects at one l1 or another.
    false_bound_ : float
        ``q^2 / ((2 threshold - 1) n_features)``, which under the assumptions of Meinshausen and Buehlmann (irrelevant
        features are exchangeable, and selection is better than guessing) bounds the expected number of irrelevant
        features that are selected.
    gap_ : float
        The largest gap of a point, in units of the zero model's objective.
    n_iter_ : int
        The largest number of rounds of a point.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from southwell.selection import StabilitySelection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 50))
    >>> y = X[:, 3] - X[:, 7] + rng.normal(size=100)
    >>> model = StabilitySelection(eps=0.3, random_state=0).fit(X, y)
    >>> np.flatnonzero(model.get_support()).tolist(), model.transform(X).shape
    ([3, 7], (100, 2))
    """

    def __init__(self, loss: str | Loss = "squared", *, l1s: int | ArrayLike = 20, eps: float = 0.2, l2: float = 0.0,
                 threshold: float = 0.75, n_pairs: int = 50, complementary: bool = True, fit_intercept: bool = True,
                 positive: bool = False, max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, max_seconds: float | None = None,
                 penalty_weights: ArrayLike | None = None, lower: ArrayLike | None = None,
                 upper: ArrayLike | None = None, standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.l1s = l1s
        self.eps = eps
        self.l2 = l2
        self.threshold = threshold
        self.n_pairs = n_pairs
        self.complementary = complementary
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.method = method
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize

    def fit(self, X: Given, y: Given, sample_weight: Given = None, *, offset: Given = None) -> Self:
        """Compute the probabilities.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Weights in the loss; halves are made of rows.
        offset : array of shape (n_samples,), optional
            Known parts of the margins.

        Returns
        -------
        self
        """
        threshold = positive("threshold", self.threshold)
        if not 0.5 < threshold <= 1:
            raise ValueError(f"threshold must be above 1/2 and at most 1; got {shown(self.threshold)}.")
        number, pairs = count("n_pairs", self.n_pairs, 1, bits=24), flag("complementary", self.complementary)
        l2 = positive("l2", self.l2, zero=True)
        kind = _Classes if losses.get(self.loss).targets == "signs" else _Numbers
        own = {name: getattr(self, name) for name in ("loss", "l1s", "eps", "fit_intercept", "positive", "max_iter",
                                                      "tol", "method", "n_jobs", "max_seconds", *NAMES)}  # fmt: skip
        seed = 0 if self.random_state is None else drawn_seed(self.random_state)
        engine: Any = kind(**own, l2s=l2, random_state=seed)
        data = engine._data(X, y, sample_weight, {})
        data = replace(data, offset=data.checked_offset(offset))
        if data.X.shape[0] < 4:
            raise ValueError(f"Halves of {data.X.shape[0]} samples tell nothing: at least 4 are needed.")
        codes = None if kind is _Numbers else np.unique(data.y, return_inverse=True)[1].reshape(len(data.y), -1)[:, 0]
        engine.cv = list(halves(data.X.shape[0], number, pairs, codes, np.random.default_rng(seed)))
        lines = engine._lines(data)
        if len(lines) != 1 or len(lines[0]) != len({l1 for l1, _ in lines[0]}):
            raise ValueError(f"l1s must be different numbers; got {shown(self.l1s)}.")
        found = engine._scores(data, lines, Hooks(engine, data, data.targets.count, True))
        chosen = selected(found, data.X.shape[1])
        whole = np.isfinite(found.values[:, 0]).all(axis=1)  # paths that the time allowed
        if not whole.any():
            raise ValueError("The time ran out before a path was done. Raise max_seconds.")
        self.probabilities_ = chosen[whole].mean(axis=0).T
        self.scores_ = self.probabilities_.max(axis=1)
        self.l1s_ = np.array([l1 for l1, _ in lines[0]])
        self.mean_selected_ = float(chosen[whole].any(axis=1).sum(axis=1).mean())
        self.false_bound_ = self.mean_selected_**2 / ((2 * threshold - 1) * data.X.shape[1])
        self.gap_ = float(max(walk.gaps.max() for walk in found.walks))
        self.n_iter_ = max(1, int(found.epochs.max()))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(engine, name):
                setattr(self, name, getattr(engine, name))
        return self

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(self.scores_ >= self.threshold)

    def plot(self, names: Given = None, top: int = 10, ax: Any = None) -> Any:
        """The probabilities against l1, those of the most stable features in colour, and the threshold.

        Parameters
        ----------
        names : sequence of str, optional
            One for each feature. Default: ``feature_names_in_``.
        top : int
            How many features are in colour.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if names is None else names
        told, ax = feature_names(names, self.scores_.size), plots._axes(ax)
        for rank, j in enumerate(np.argsort(-self.scores_, kind="stable")):
            if self.scores_[j] > 0:
                look = {"label": told[j]} if rank < top else {"color": "lightgrey", "linewidth": 0.5, "zorder": 0}
                ax.plot(self.l1s_, self.probabilities_[j], **look)
        ax.axhline(self.threshold, linestyle=":", color="grey", label="threshold")
        plots._strong_to_weak(ax, self.l1s_, "l1")
        ax.set_ylabel("probability of being selected")
        ax.legend(fontsize="small")
        return ax

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def halves(n: int, number: int, complementary: bool, codes: np.ndarray | None,
           random: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
    """Pairs of training rows, half of all, and one other row; with ``codes`` each class is halved."""
    found = []
    for k in range(2 * number):
        if k % 2 == 0 or not complementary:
            order = random.permutation(n)
            if codes is not None:
                order = order[np.argsort(codes[order], kind="stable")]
            first, second = np.sort(order[::2]), np.sort(order[1::2])
        own, other = (first, second) if k % 2 == 0 or not complementary else (second, first)
        found.append((own, other[:1]))
    return found


def selected(found: Scores, features: int) -> np.ndarray:
    """Whether a feature has a coefficient that is not zero, for each half, point and feature."""
    folds, _, points = found.values.shape
    problems = len(found.walks) // folds
    chosen = np.zeros((folds, points, features), bool)
    for k, walk in enumerate(found.walks):
        entries: AnyMatrix = sp.coo_array(walk.rows)
        used = entries.data != 0
        width = walk.rows.shape[0] // points
        chosen[k // problems, entries.row[used] // width, entries.col[used]] = True
    return chosen

"""Large margin nearest neighbours for many tasks (Parameswaran and Weinberger 2010), with a certificate."""

from __future__ import annotations

import numbers
from itertools import pairwise
from typing import Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from .._names import positive
from .._typing import AnyMatrix, Given
from ._estimator import LargeMargin, factor, told
from ._lmnn import Distance


class MultiTaskLargeMarginNearestNeighbor(ClassNamePrefixFeaturesOutMixin, LargeMargin):
    """Metrics of several tasks that share a part, with a certificate.

    The metric of task t is ``X_0 + X_t``. Minimises over positive semi-definite X_0, ..., X_T::

        (l2/2) ||X_0 - I||^2 + sum_t (task_l2/2) ||X_t||^2
            + (1/n) sum over (u, v) of d2(u, v) + (1/n) sum over (u, v, w) of phi(d2(u, w) - d2(u, v))

    with neighbours v, impostors w, triplets and phi as in ``LargeMarginNearestNeighbor``, all within a task: eq. (33)
    of Yu, Lin and Yang (2015). With one task there is nothing to share: X_1 is left out, and this is
    ``LargeMarginNearestNeighbor``.

    Parameters
    ----------
    n_neighbors, n_impostors, corner, scale, refresh
        As for ``LargeMarginNearestNeighbor``.
    l2 : float
        Strength of the penalty on the distance of the shared part from the Euclidean metric.
    task_l2 : float
        Strength of the penalty on the parts of single tasks.
    method, rows, blocks, stretch, tol, max_iter, max_seconds, random_state, n_jobs, dtype, memory_limit, verbose
        As for ``LargeMarginNearestNeighbor``.

    Attributes
    ----------
    tasks_ : array of shape (n_tasks,)
    metrics_ : array of shape (n_tasks, n_features, n_features)
        X_0 + X_t.
    shared_metric_ : array of shape (n_features, n_features)
        X_0.
    components_ : array of shape (n_tasks, rank, n_features)
        ``components_[t].T @ components_[t]`` is the metric of task t; rows are zero where its rank is less.
    classes_ : array
        Of all tasks.
    scale_, gap_, status_, result_, n_iter_, n_triplets_, n_features_in_, feature_names_in_
        As for ``LargeMarginNearestNeighbor``.

    References
    ----------
    S. Parameswaran, K. Weinberger, "Large Margin Multi-Task Metric Learning", NIPS 2010.
    A. W. Yu, Q. Lin, T. Yang, "Doubly Stochastic Primal-Dual Coordinate Method for Bilinear Saddle-Point Problem",
    arXiv:1508.03390, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from southwell.metric import MultiTaskLargeMarginNearestNeighbor
    >>> X, y = load_digits(return_X_y=True)
    >>> X, y = X[:600] / 16, y[:600]
    >>> tasks = np.where(y < 5, "low", "high")
    >>> model = MultiTaskLargeMarginNearestNeighbor(tol=1e-3).fit(X[::2], y[::2], tasks[::2])
    >>> model.metrics_.shape, model.tasks_.tolist()
    ((2, 64, 64), ['high', 'low'])
    >>> model.score(X[1::2], y[1::2], tasks=tasks[1::2]) > 0.9
    True
    """

    def __init__(self, n_neighbors: int = 3, *, n_impostors: int = 10, l2: float = 0.01,
                 task_l2: float = 0.1, corner: float = 1.0, scale: float | str = "auto", refresh: int = 0,
                 method: str = "auto", rows: int | None = None, blocks: int | None = None,
                 stretch: float | tuple[float, float] = 1.0, tol: float = 1e-6, max_iter: int = 10_000,
                 max_seconds: float | None = None, random_state: int | np.random.RandomState | None = None,
                 n_jobs: int | None = None, dtype: str | None = None, memory_limit: float | None = None,
                 verbose: bool | int = 0) -> None:  # fmt: skip
        super().__init__(
            n_neighbors, n_impostors=n_impostors, l2=l2, corner=corner, scale=scale, refresh=refresh, method=method,
            rows=rows, blocks=blocks, stretch=stretch, tol=tol, max_iter=max_iter, max_seconds=max_seconds,
            random_state=random_state, n_jobs=n_jobs, dtype=dtype, memory_limit=memory_limit, verbose=verbose,
        )  # fmt: skip
        self.task_l2 = task_l2

    def fit(self, X: Given, y: Given, tasks: Given = None) -> Self:
        """Learn the metrics.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels; tasks may share classes or not.
        tasks : array of shape (n_samples,), optional
            The task of each point. Default: all belong to one task.

        Returns
        -------
        self
        """
        self._fit(lambda: self._fit_all(X, y, tasks))
        return self

    def _fit_all(self, X: Given, y: Given, tasks: Given) -> None:
        settings = self._checked_parameters()
        positive("task_l2", self.task_l2)
        X, codes = self._read(X, y)
        names, places = self._places(tasks, len(X))
        order = np.argsort(places, kind="stable")
        X, codes, places = X[order], codes[order], places[order]
        starts = np.searchsorted(places, np.arange(names.size + 1))
        for t in range(names.size):
            place = "The data" if tasks is None else f"Task {told(names, t)}"
            self._refuse_few(codes[starts[t] : starts[t + 1]], place)
        l2 = np.array([self.l2] if names.size == 1 else [self.l2] + [self.task_l2] * names.size)
        self.metrics_, self.shared_metric_ = self._learn(X, codes, starts, l2, settings)
        self.tasks_ = names
        self.components_ = _stacked([factor(M) for M in self.metrics_])
        self._n_features_out = self.components_.shape[1]
        self._neighbours = [
            self._voters(self._moved(X[first:last], t), codes[first:last])
            for t, (first, last) in enumerate(pairwise(starts))
        ]

    @staticmethod
    def _places(tasks: Given, size: int) -> tuple[np.ndarray, np.ndarray]:
        if tasks is None:
            return np.array([0]), np.zeros(size, dtype=np.int64)
        return np.unique(task_names(tasks, size), return_inverse=True)

    def _moved(self, points: np.ndarray, t: int) -> np.ndarray:
        return np.asarray(points @ self.components_[t].T.astype(points.dtype))

    def _by_task(self, X: Given, tasks: Given) -> tuple[np.ndarray, list[tuple[int, np.ndarray]]]:
        """Checked points, and the rows of each task that occurs."""
        check_is_fitted(self)
        X = self._points(X)
        if tasks is None:
            if self.tasks_.size > 1:
                raise ValueError(f"There are {self.tasks_.size} tasks: give tasks=, one for each row of X.")
            return X, [(0, np.arange(len(X)))]
        tasks = task_names(tasks, len(X))
        alike = (tasks.dtype.kind in "US") == (self.tasks_.dtype.kind in "US")
        strange = np.setdiff1d(tasks, self.tasks_) if alike else tasks
        if strange.size:
            known = ", ".join(map(repr, self.tasks_[:10].tolist())) + (", ..." if self.tasks_.size > 10 else "")
            raise ValueError(f"Task {told(strange, 0)} was not there when the model was fitted. Known: {known}.")
        return X, [(t, np.flatnonzero(tasks == name)) for t, name in enumerate(self.tasks_)]

    def transform(self, X: Given, tasks: Given = None) -> AnyMatrix:
        """Transformed points, whose Euclidean distances are those of their task's metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        tasks : array of shape (n_samples,), optional
            Needed if there are several tasks.

        Returns
        -------
        array of shape (n_samples, rank)
        """
        X, parts = self._by_task(X, tasks)
        moved = np.zeros((len(X), self.components_.shape[1]), dtype=X.dtype)
        for t, where in parts:
            moved[where] = self._moved(X[where], t)
        return moved

    def fit_transform(self, X: Given, y: Given = None, tasks: Given = None) -> AnyMatrix:
        """``fit`` and then ``transform``.

        Parameters
        ----------
        X, y, tasks
            As for ``fit``.

        Returns
        -------
        array of shape (n_samples, rank)
        """
        return self.fit(X, y, tasks).transform(X, tasks)

    def predict_proba(self, X: Given, tasks: Given = None) -> np.ndarray:
        """The share of each class among the nearest training points of the task, under its metric.

        Parameters
        ----------
        X, tasks
            As for ``transform``.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        X, parts = self._by_task(X, tasks)
        shares = np.zeros((len(X), self.classes_.size))
        for t, where in parts:
            if where.size:
                shares[where] = self._votes(self._neighbours[t], self._moved(X[where], t))
        return shares

    def predict(self, X: Given, tasks: Given = None) -> np.ndarray:
        """The most frequent class among the nearest training points of the task.

        Parameters
        ----------
        X, tasks
            As for ``transform``.

        Returns
        -------
        array of shape (n_samples,)
        """
        shares = self.predict_proba(X, tasks)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def score(self, X: Given, y: Given, sample_weight: Given = None, tasks: Given = None) -> float:
        """The share of points whose class is predicted correctly.

        Parameters
        ----------
        X, tasks
            As for ``transform``.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return float(accuracy_score(y, self.predict(X, tasks), sample_weight=sample_weight))

    def get_metric(self, task: Given = None) -> Distance:
        """A function of two points that returns their distance in a task; ``task`` is required if there are several."""
        check_is_fitted(self)
        if task is None and self.tasks_.size > 1:
            raise ValueError(f"There are {self.tasks_.size} tasks: name one of tasks_.")
        where = np.flatnonzero(self.tasks_ == task) if task is not None else np.array([0])
        if not where.size:
            raise ValueError(f"Task {task!r} was not there when the model was fitted.")
        return Distance(self.components_[where[0]])


def task_names(given: Given, size: int) -> np.ndarray:
    """The task of each row of X: all strings or all numbers, and none missing."""
    try:
        each = np.array(given, dtype=object)
    except ValueError:
        each = np.array(0)
    if each.ndim != 1:
        raise ValueError(f"tasks must be of shape ({size},), one for each row of X; got shape {np.shape(each)}.")
    if each.size != size:
        raise ValueError(f"tasks must have {size} entries, one for each row of X; got {each.size}.")
    for i, name in enumerate(each):
        if name is None or (str(name) in ("nan", "NaT", "<NA>") and not isinstance(name, str)):
            raise ValueError(f"tasks must name a task for each row of X; entry {i} is missing: {name!r}.")
        if not isinstance(name, str | numbers.Real | np.bool_ | np.datetime64):
            raise TypeError(f"tasks must be text or numbers; entry {i} is {name!r}, a {type(name).__name__}.")
    kinds = {"text" if isinstance(name, str) else "numbers" for name in each}
    if len(kinds) > 1:
        raise TypeError("tasks must be all text or all numbers; got both.")
    return np.array(each.tolist())


def _stacked(factors: list[np.ndarray]) -> np.ndarray:
    """The factors as one array; those of lower rank get rows of zeros."""
    stack = np.zeros((len(factors), max(map(len, factors)), factors[0].shape[1]))
    for own, L in zip(stack, factors, strict=True):
        own[: len(L)] = L
    return stack

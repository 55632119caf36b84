"""Label propagation as a scikit-learn estimator."""

from __future__ import annotations

import time
import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import methods
from .._data import readable
from .._names import count, integral, one_name, positive, shown
from .._typing import Given
from ..estimators._parameters import drawn_seed, refuse_no_classes, threads
from ..methods import Method
from ..result import Result
from ..rules import Rule
from ..solve import ConvergenceWarning, solve
from ..status import Status
from . import _affinity
from ._harmonic import Harmonic, classes_met


class LabelPropagation(ClassifierMixin, BaseEstimator):
    """Spreads labels over a graph, from labelled to unlabelled nodes, with a certificate.

    Labelled nodes keep their label. For each class the rest minimise ``1/2 sum_{i<j} w_ij (f_i - f_j)^2``, so that each
    is the weighted mean of its neighbours: ``f_i`` is the probability that a random walk from i meets that class first.
    Each class is a least-squares problem with bounds [0, 1], solved until its duality gap is within ``tol``.

    Parameters
    ----------
    affinity : {"knn", "precomputed"}
        "knn" joins two points if either is among the ``n_neighbors`` nearest of the other. "precomputed" takes ``X``
        as the symmetric matrix of weights ``w_ij >= 0``, dense or sparse; self loops change nothing.
    n_neighbors : int
    gamma : float, optional
        Edges of "knn" weigh ``exp(-gamma * distance**2)``. Default: all weigh 1.
    unlabelled : int, float, str or None
        The mark of unlabelled nodes in ``y``. If labels are strings, its string form, because NumPy converts -1 to
        '-1'.
    rule : str or Rule
        Which node moves next: a name known to ``southwell.rules`` or a rule.
    method : str or Method, optional
        Any method of ``southwell.methods``, used instead of coordinate descent with ``rule``.
    tol : float
        Duality gap to reach, relative to the objective at zero for every unlabelled node.
    max_epochs, max_seconds : int, float
        Limits: epochs for each class, seconds for all classes. The time for the graph and for the error bound is not
        counted; the bound takes at most 1000 steps more than the solves took epochs.
    random_state : int, RandomState or None
        For rules that use random numbers.
    n_jobs : int, optional
        For the search for neighbours.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    label_distributions_ : array of shape (n_nodes, n_classes)
        The probabilities above. Rows sum to one; they are zero for nodes that are not connected to a label.
    transduction_ : array of shape (n_nodes,)
        The likeliest class of each node; ``unlabelled`` for nodes that are not connected to a label.
    error_bound_ : float
        A proven bound on the error of every entry of ``label_distributions_``, rounding included.
    node_error_bound_ : array of shape (n_nodes,)
        The same for each node, over its classes; 0 if there was nothing to solve. A label is proven if the likeliest
        class leads by more than twice this bound.
    gap_ : float
        The largest relative duality gap of the solves.
    n_iter_ : int
        The largest number of epochs of a solve.
    results_ : list of Result
        One for each class; for two classes a single one, of ``classes_[1]``. Only nodes that are connected to several
        classes are solved for; if there are none, the list is empty.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Warns
    -----
    UserWarning
        If unlabelled nodes are not connected to any label; lists them.
    ConvergenceWarning
        If epochs or seconds ran out; gives the error bound.

    References
    ----------
    X. Zhu, Z. Ghahramani and J. Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, 2003.
    Y. Bengio, O. Delalleau and N. Le Roux, Label propagation and quadratic criterion, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from southwell.graph import LabelPropagation
    >>> X, digits = load_digits(return_X_y=True)
    >>> y = np.where(np.arange(digits.size) % 10 == 0, digits, -1)  # one in ten keeps its label
    >>> model = LabelPropagation(tol=1e-8).fit(X, y)
    >>> bool(np.mean(model.transduction_ == digits) > 0.95)
    True
    >>> model.error_bound_ < 1e-4
    True
    """

    def __init__(self, affinity: Given = "knn", *, n_neighbors: int = 7, gamma: float | None = None,
                 unlabelled: Given = -1, rule: str | Rule = "cyclic", method: str | Method | None = None,
                 tol: float = 1e-6, max_epochs: int = 10_000, max_seconds: float | None = None,
                 random_state: int | np.random.RandomState | None = 0, n_jobs: int | None = None) -> None:  # fmt: skip
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.unlabelled = unlabelled
        self.rule = rule
        self.method = method
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Given, y: Given) -> Self:
        """Spread the labels of ``y`` over the graph of ``X``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_nodes, n_features), or (n_nodes, n_nodes) if precomputed
        y : array of shape (n_nodes,)
            Labels, and ``unlabelled`` for nodes without.

        Returns
        -------
        self
        """
        method = self._checked_method()
        X = self._checked(X, reset=True)
        y = self._checked_labels(y, X.shape[0])
        labelled = ~self._marked(y)
        self.classes_, codes = np.unique(y[labelled], return_inverse=True)
        W = self._graph(X)

        nodes, free = np.flatnonzero(labelled), np.flatnonzero(~labelled)
        held = sp.csr_array((np.ones(nodes.size), (nodes, codes)), shape=(y.size, self.classes_.size))
        component, met = classes_met(W, free, held)
        choices = np.diff(met.indptr)
        alone, several = (np.flatnonzero(many[component]) for many in (choices == 1, choices > 1))
        self.label_distributions_ = held.toarray()
        self.label_distributions_[free[alone], met.indices[met.indptr[component[alone]]]] = 1.0
        self.node_error_bound_ = np.zeros(y.size)
        self.results_ = []
        if several.size:
            harmonic = Harmonic(W, free[several], held)
            self.results_ = self._solve(harmonic, method)
            F = _distributions([result.x for result in self.results_])
            epochs = sum(result.epochs for result in self.results_)
            self.label_distributions_[free[several]] = F
            self.node_error_bound_[free[several]] = harmonic.error_bounds(F, patience=1000 + epochs)
        self.error_bound_ = float(self.node_error_bound_.max())
        self.gap_ = max((result.relative_gap for result in self.results_), default=0.0)
        self.n_iter_ = max((result.epochs for result in self.results_), default=0)
        self.transduction_ = self._likeliest(self.label_distributions_)
        self._warn(free[choices[component] == 0], int(np.count_nonzero(choices == 0)))
        return self

    def predict_proba(self, X: Given) -> np.ndarray:
        """Class probabilities of new points: the weighted mean over their neighbours among the nodes of the fit.

        That is the harmonic value at a new point while the nodes keep theirs (Bengio, Delalleau and Le Roux 2006).

        Parameters
        ----------
        X : array or sparse matrix of shape (n_points, n_features), or (n_points, n_nodes) if precomputed: the
            affinities of the new points to the nodes

        Returns
        -------
        array of shape (n_points, n_classes)
            Rows sum to one; a row is zero if no neighbour has a class.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self.affinity == "precomputed":
            _affinity.refuse_negative(X)
            mass = _affinity.rows_to_one(X) @ self.label_distributions_
        else:
            distances, near = self._neighbours.kneighbors(X)
            if self.gamma is not None:  # only ratios matter: far from all nodes, the nearest still counts
                distances = np.sqrt(distances**2 - distances[:, :1] ** 2)
            weights = _affinity.closeness(distances, self.gamma)
            mass = np.einsum("pk,pkc->pc", weights, self.label_distributions_[near])
        total = mass.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(mass, total, out=np.zeros_like(mass), where=total > 0))

    def predict(self, X: Given) -> np.ndarray:
        """The likeliest class of each new point; ``unlabelled`` if no neighbour has a class.

        Parameters
        ----------
        X : as for ``predict_proba``

        Returns
        -------
        array of shape (n_points,)
        """
        return self._likeliest(self.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags

    def _checked_method(self) -> methods.Method:
        """Checks the parameters that do not depend on the data, and returns the method."""
        one_name("affinity", self.affinity, ("knn", "precomputed"))
        if self.gamma is not None:
            positive("gamma", self.gamma)
        if self.max_seconds is not None:
            positive("max_seconds", self.max_seconds)
        positive("tol", self.tol, zero=True)
        count("max_epochs", self.max_epochs, 0)
        threads(self.n_jobs)
        if integral(self.random_state):
            count("random_state", self.random_state, 0)
        if self.method is not None:
            return methods.get(self.method)
        return methods.CoordinateDescent(side="primal", rule=self.rule)

    def _checked(self, X: Given, *, reset: bool) -> Any:
        least = 2 if reset and self.affinity == "knn" else 1  # one point has no neighbour
        floats = [np.float64, np.float32]
        X = readable(X, "X")
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=floats, ensure_min_samples=least)

    def _checked_labels(self, y: Given, size: int) -> np.ndarray:
        if y is None:
            raise ValueError(
                "LabelPropagation requires y to be passed, but the target y is None. Give labels, and "
                f"{self.unlabelled!r} for nodes without."
            )
        y = column_or_1d(readable(y, "y"), warn=True)
        if y.dtype.kind == "V":
            raise TypeError(f"y must hold one label, a number or a text, for each row of X; got {shown(y.dtype)}.")
        if y.size != size:
            raise ValueError(
                f"y must have {size} entries, one for each row of X; got {y.size}. "
                f"Mark nodes without a label by {self.unlabelled!r}."
            )
        assert_all_finite(y, input_name="y")
        labels = y[~self._marked(y)]
        if not labels.size:
            raise ValueError(
                f"y marks all {y.size} nodes as unlabelled ({self.unlabelled!r}). Give at least one node its label, "
                "or set unlabelled= to the mark that y uses."
            )
        refuse_no_classes(labels)
        return np.asarray(y)

    def _marked(self, y: np.ndarray) -> np.ndarray:
        mark = self.unlabelled
        try:
            several = not isinstance(mark, str | bytes) and (
                np.ndim(mark) > 0 or sp.issparse(mark) or np.asarray(mark).dtype.kind == "V"
            )
        except (TypeError, ValueError):  # lists of mixed lengths
            several = True
        if several:
            raise TypeError(f"unlabelled must be one label; got {shown(mark)}.")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels that cannot be compared with the mark are not marked
            marked = np.asarray(y == (str(mark) if y.dtype.kind == "U" else mark))
        return marked if marked.shape == y.shape else np.zeros(y.shape, bool)

    def _graph(self, X: Given) -> sp.csr_array:
        if self.affinity == "precomputed":
            return _affinity.precomputed(X)
        if count("n_neighbors", self.n_neighbors, 1) >= X.shape[0]:
            raise ValueError(
                f"n_neighbors must be less than the number of samples, {X.shape[0]}; got {self.n_neighbors}. "
                "Lower it or bring more samples, labelled or not."
            )
        self._neighbours = NearestNeighbors(n_neighbors=self.n_neighbors, n_jobs=self.n_jobs).fit(X)
        return _affinity.nearest(self._neighbours, self.gamma)

    def _solve(self, harmonic: Harmonic, method: methods.Method) -> list[Result]:
        """One solve for each class; for two classes a single one, as the other is its complement."""
        given = self.random_state
        seed = given if integral(given) else drawn_seed(given)
        limit = None if self.max_seconds is None else positive("max_seconds", self.max_seconds)
        begun, results = time.perf_counter(), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a single warning for all classes follows
            for label in [1] if harmonic.n_classes == 2 else range(harmonic.n_classes):
                left = None if limit is None else max(limit - (time.perf_counter() - begun), 1e-9)
                results.append(
                    solve(
                        harmonic.problem(label), method=method, tol=self.tol, max_epochs=self.max_epochs,
                        max_seconds=left, seed=seed,
                    )
                )  # fmt: skip
        return results

    def _likeliest(self, distributions: np.ndarray) -> np.ndarray:
        best = distributions.argmax(axis=1)
        nowhere = ~distributions.any(axis=1)
        if not nowhere.any():
            return np.asarray(self.classes_[best])
        marker, kind = self.unlabelled, self.classes_.dtype
        if kind.kind in "iu" and isinstance(marker, int | float | np.number) and int(marker) == marker:
            limits = np.iinfo(kind)
            if limits.min <= int(marker) <= limits.max:  # the dtype of the labels can hold it: large labels stay exact
                return np.asarray(np.where(nowhere, kind.type(int(marker)), self.classes_[best]))
        return np.append(self.classes_, marker)[np.where(nowhere, -1, best)]

    def _warn(self, undecided: np.ndarray, islands: int) -> None:
        if undecided.size:
            more = f" and {undecided.size - 10} more" if undecided.size > 10 else ""
            advice = "add edges" if self.affinity == "precomputed" else "raise n_neighbors"
            warnings.warn(
                f"{undecided.size} of {self.node_error_bound_.size} nodes are not joined to any label and stay marked "
                f"{self.unlabelled!r}: {', '.join(map(str, undecided[:10]))}{more}. Components without a label: "
                f"{islands}. Label a node in each, or {advice}.",
                UserWarning,
                stacklevel=3,
            )
        short = sum(result.status is not Status.CONVERGED for result in self.results_)
        if short:
            warnings.warn(
                f"{short} of {len(self.results_)} solves did not reach the tolerance: the largest relative gap is "
                f"{self.gap_:.3g}, tol is {self.results_[0].tol:.3g}, and probabilities may be off by "
                f"{self.error_bound_:.3g}. To go on, raise max_epochs or max_seconds, or loosen tol.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _distributions(values: list[np.ndarray]) -> np.ndarray:
    """Rows that sum to one, from one function for each class, or from that of the second of two classes."""
    if len(values) == 1:
        return np.column_stack([1.0 - values[0], values[0]])
    F = np.column_stack(values)
    total = F.sum(axis=1, keepdims=True)
    unknown = np.full_like(F, 1.0 / len(values))  # equal probabilities
    return np.asarray(np.divide(F, total, out=unknown, where=total > 0))

"""The results of a solve."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core, _prediction, _sparse, _tables, plots
from ._names import count, one_name
from ._scipy import sparse as sp
from ._typing import AnyMatrix, Given
from .status import Status

if TYPE_CHECKING:
    from ._question import Question
    from .proof import Proof


class Progress(NamedTuple):
    """The argument of a callback at each certificate: a row of the history, the best point, and the unit of the gap."""

    epoch: int
    seconds: float
    primal: float
    dual: float
    gap: float
    nonzeros: int
    moves: int
    entries: int
    latest_primal: float
    latest_dual: float
    x: np.ndarray
    intercept: Any
    scale: float

    @property
    def relative_gap(self) -> float:
        """The gap in units of the scale, as ``tol`` is."""
        return self.gap / self.scale if self.scale > 0 else self.gap


_WHOLE = _core.history_fields()  # which of them are integers
HISTORY_FIELDS = tuple(_WHOLE)

NOT_PROVABLE = (
    "Only results of solve, solve_many and path over numbers and blocks can be proved: this one keeps no such problem, "
    "or no dual point."
)


class Effort(NamedTuple):
    """The work of one mover (algorithm) of the default method."""

    rounds: int
    entries: int
    seconds: float
    fall: float


@dataclass(frozen=True, eq=False)
class Screened:
    """Screening: what the gap has proved about single coordinates.

    Attributes
    ----------
    features : array of bool
        Features whose coefficients are zero in every solution.
    samples : array of bool
        Samples whose optimal dual value is known, such as those far from the kink of a hinge.
    """

    features: np.ndarray
    samples: np.ndarray

    @property
    def n_features(self) -> int:
        return int(np.count_nonzero(self.features))

    @property
    def n_samples(self) -> int:
        return int(np.count_nonzero(self.samples))

    def __repr__(self) -> str:
        return (
            f"Screened({self.n_features} of {self.features.size} features, "
            f"{self.n_samples} of {self.samples.size} samples)"
        )


@dataclass(frozen=True, eq=False)
class Result:
    """A solution and its certificate: ``primal - optimum <= gap``, whatever the status.

    Attributes
    ----------
    x, intercept : array, float
        The coefficients with the best objective. Estimators with ``sparse_coef`` keep x as a sparse row, and no y.
    y : array of shape (n_samples,)
        The best feasible dual point.
    primal, dual, gap : float
        The objective at ``x``, its lower bound at ``y``, and their difference.
    scale, tol : float
        The unit of the gap, and the tolerance: a solve converges when ``gap <= tol * scale``. The scale is the
        objective of the zero model, with the best intercept if there is one (Poisson: half the null deviance).
    status : Status
    epochs : int
        An epoch is as many coordinate moves as there are coordinates.
    seconds : float
        Wall-clock time, including the construction of layouts.
    history : dict of arrays
        ``epoch, seconds, primal, dual, gap, nonzeros, moves, entries, latest_primal, latest_dual`` at each certificate,
        ready for a DataFrame.
        ``moves`` counts visits to coordinates, skipped ones included; ``entries`` the stored numbers read or written
        (a logistic or Poisson step on the primal side reads its column twice, but counts it once).
        ``primal``, ``dual`` and ``gap`` are those of the best points so far; ``latest_primal`` and ``latest_dual`` are
        the values at the point of the certificate itself, which oscillate if the method does. A point that is not
        feasible has an infinite value, one that has overflowed NaN.
    method : str
        A description of the method.
    setup : dict
        Seconds spent before the first move, by part: "partition" for the blocks of ``Hybrid``, "index" for
        ``MaxInnerProduct``. They are included in ``seconds``.
    movers : dict of Effort
        For the default method, by mover: ``rounds`` (for Newton: steps), stored ``entries`` read or written,
        ``seconds``, and ``fall``, the decrease of log(gap) meanwhile.
    screened : Screened
        Masks of the ``features`` proved to be zero and of the ``samples`` with known dual value, and their numbers
        (``n_features``, ``n_samples``). Only the default method screens.
    """

    x: AnyMatrix
    intercept: Any
    y: np.ndarray | None
    primal: float
    dual: float
    gap: float
    scale: float
    tol: float
    status: Status
    epochs: int
    seconds: float
    method: str
    setup: dict[str, float] = field(repr=False)
    history: dict[str, np.ndarray] = field(repr=False)
    movers: dict[str, Effort] = field(repr=False)
    screened: Screened = field(repr=False)
    problem: Question | None = field(repr=False)

    @property
    def nonzeros(self) -> int:
        """Coefficients that are not zero."""
        return int(
            _sparse.sound_array(self.x, "x").count_nonzero() if sp.issparse(self.x) else np.count_nonzero(self.x)
        )

    @property
    def relative_gap(self) -> float:
        """The gap in units of the zero model's objective."""
        return self.gap / self.scale if self.scale > 0 else self.gap

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns of A, if it was a DataFrame; else "feature 0" and so on."""
        problem = _prediction.stated(self.problem)
        return _tables.feature_names(problem.names, problem.n_features)

    @property
    def classes(self) -> np.ndarray | None:
        """The labels of the classes, if the loss is one over classes."""
        return _prediction.stated(self.problem).classes

    def decision_function(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """A x + c for new data: a number for each sample or, of a table of coefficients, for each of its columns.

        Parameters
        ----------
        A : array, DataFrame, sparse matrix or ``Factorised``
            With the features of the problem. If both have names, they must agree. Data of a problem over ``Centred``
            data are centred here, with the same means.
        offset : array of shape (n_samples,), optional
            Added; for problems that were fitted with one.
        """
        problem = _prediction.stated(self.problem)
        margins = _prediction.margins(problem, self._table().T, np.atleast_1d(self.intercept), A)
        return _prediction.with_offset(margins if np.ndim(self.x) == 2 else margins.ravel(), offset)

    def predict(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """The predictions for new data: labels for losses over classes, means for losses with a log link, else
        ``A x + c``.

        Examples
        --------
        >>> import southwell as sw
        >>> from sklearn.datasets import load_iris
        >>> A, b = load_iris(return_X_y=True, as_frame=True)
        >>> r = sw.solve(A, b.map({0: "setosa", 1: "versicolor", 2: "virginica"}), loss="softmax", l2=0.01)
        >>> r.predict(A[:2])
        array(['setosa', 'setosa'], dtype=object)
        """
        return _prediction.answers(_prediction.stated(self.problem), self.decision_function(A, offset=offset))

    def to_frame(self, what: str = "coefficients") -> Any:
        """A pandas DataFrame of the coefficients, a row for each feature and one for the intercept, or of the history.

        Parameters
        ----------
        what : {"coefficients", "history"}
        """
        if one_name("what", what, ("coefficients", "history")) == "history":
            return _tables.frame(self.history)
        problem = _prediction.stated(self.problem)
        return _tables.coefficient_frame(self.feature_names, self._columns(), self._table(), self._intercepts(problem))

    def summary(self, top: int = 20) -> str:
        """The certificate, and the coefficients by name, the largest first.

        Parameters
        ----------
        top : int
            The largest number of features; those whose coefficients are zero are only counted.

        Examples
        --------
        >>> import southwell as sw
        >>> from sklearn.datasets import load_diabetes
        >>> A, b = load_diabetes(return_X_y=True, as_frame=True)
        >>> print(sw.solve(A, b, l1=0.5, intercept=True).summary().partition("coefficients")[2])
        <BLANKLINE>
          bmi              471.014
          s5               408.022
          bp               136.517
          s3              -58.3401
          (intercept)      152.133
          6 of 10 features are zero
        """
        problem = _prediction.stated(self.problem)
        told = self._told()
        if problem.penalty.least_l2 > 0 and np.isfinite(self.gap):
            error = np.sqrt(2 * max(self.gap, 0.0) / problem.penalty.least_l2)
            told["error"] = f"||x - optimum|| <= {error:.3g}, by strong convexity"
        names, columns = self.feature_names, self._columns()
        largest = _tables.largest(names, columns, self._table(), self._intercepts(problem), count("top", top, 0))
        return f"{_tables.text(self._title(), told)}\ncoefficients\n{largest}"

    def _table(self) -> np.ndarray:
        """The coefficients with a row for each feature."""
        return np.asarray(self.x).reshape(_prediction.stated(self.problem).n_features, -1)

    def _columns(self) -> list[str]:
        return _tables.column_names(_prediction.stated(self.problem), self._table().shape[1])

    def _intercepts(self, problem: Any) -> np.ndarray | None:
        return np.atleast_1d(self.intercept) if problem.intercept else None

    def _title(self) -> str:
        return f"Result: {self.status.name} - {self.status.value}"

    def _told(self) -> dict[str, str]:
        unit = "the zero model's objective"
        return {
            "objective": f"{self.primal:.9g}   (optimum is at least {self.dual:.9g})",
            "gap": f"{self.gap:.3g} = {self.relative_gap:.3g} of {unit} (asked: {self.tol:.3g})",
            "nonzeros": f"{self.nonzeros} of {np.prod(self.x.shape)}",
            "work": f"{self.epochs} epochs, {self.seconds:.3g} s",
            "method": self.method,
        }

    def __repr__(self) -> str:
        return _tables.text(self._title(), self._told())

    def _repr_html_(self) -> str:
        return _tables.html(self._title(), self._told())

    def prove(self) -> Proof:
        """Bounds of the objective and of the optimum that hold in exact arithmetic, including all rounding errors.

        Returns
        -------
        Proof
            Its ``gap`` bounds the error of ``x``. It is larger than that of the result by a bound of the rounding
            errors, usually far less than the tolerance.

        Examples
        --------
        >>> import numpy as np, southwell as sw
        >>> r = sw.solve(np.eye(3), [1.0, 2.0, 3.0], l1=0.1)
        >>> r.prove().gap < 1e-12
        True
        """
        if self.y is None or self.problem is None:
            raise ValueError(NOT_PROVABLE)
        return self.problem.prove(self.x, self.y, self.intercept, feasible=True)

    def save_proof(self, path: str | os.PathLike[str]) -> None:
        """Write ``prove()`` to a file, which ``southwell check`` or ``southwell.check.verify`` can verify without the
        solver.

        Parameters
        ----------
        path : str or path
            An existing file of that name is replaced when the new one is complete.
        """
        self.prove().save(path)

    def plot(self, against: str = "seconds", ax: Any = None, *, latest: bool = False) -> Any:
        """The relative gap over time, on a log scale. Needs ``pip install southwell[plot]``.

        Parameters
        ----------
        against : {"seconds", "epoch", "moves", "entries"}
        ax : matplotlib Axes, optional
        latest : bool
            Also draw the gap of the point at which the method stood at each certificate, which may rise.

        Returns
        -------
        matplotlib Axes
        """
        return plots.convergence(self, against, ax, latest=latest)


def history_arrays(records: list[tuple[Any, ...]], seconds_before: float) -> dict[str, np.ndarray]:
    """Columns by name; ``seconds_before`` were spent before the first epoch."""
    columns = dict(
        zip(HISTORY_FIELDS, zip(*records, strict=True) if records else [()] * len(HISTORY_FIELDS), strict=True)
    )
    history: dict[str, np.ndarray] = {
        k: np.array(v, dtype=np.int64 if _WHOLE[k] else np.float64) for k, v in columns.items()
    }
    history["seconds"] = history["seconds"] + seconds_before
    return history

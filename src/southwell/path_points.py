"""The points of a regularisation path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from . import _prediction, _tables, plots
from ._everywhere import Known, Segment
from ._names import integral, one_name, positive, shown
from ._scipy import sparse as sp
from ._typing import Given
from .penalties import Penalty
from .problem import Problem
from .result import Result, Screened
from .status import Status


class Nearest(NamedTuple):
    """A point of a path whose coefficients answer a strength between two points, and their certificate there."""

    point: int
    primal: float
    dual: float
    gap: float


@dataclass(frozen=True, eq=False)
class Path:
    """The solutions along a path of penalties, each with its own certificate.

    ``path[k]`` is point k as a ``Result``, without dual point and history, which are not kept; a path can be iterated.

    Attributes
    ----------
    strengths : array
        The values the path goes over: l1 for ``ElasticNet``, the strength of the groups for ``Groups``.
    l1s, l2s : array
        The l1 and the l2 of the penalty at each point. For ``ElasticNet``, ``l1s`` are the strengths; for ``Groups``
        they are in proportion to the strengths.
    penalties : list of Penalty
        The whole penalty at each point; its groups are given by a number for each feature.
    x : sparse array of shape (n_points, n_features) or (n_points, n_features * n_columns)
        The coefficients, a row for each point. Where they are a table with a column for each task or class, its rows
        lie one after the other; ``coefficients(k)`` gives the table.
    intercepts : array of shape (n_points,) or (n_points, n_columns)
    shape : tuple
        The shape of the coefficients at one point: (n_features,) or (n_features, n_columns).
    primal, dual, gaps : array
        The objective, its lower bound, and their difference in units of the scale, as ``tol`` is.
    nonzeros, epochs, screened : array of int
        At each point: coefficients that are not zero, rounds of work, features the gap proved to be zero.
    explained : array
        The share of the zero model's loss that is explained: R^2 for the squared loss, else the explained deviance.
    statuses : list of Status
    times : array
        The seconds of each point.
    seconds, tol, scale : float
        The time for all points; the tolerance of each point; the unit of the gaps.
    last : Result
        The full result at the last point, for example for ``warm_start``.
    """

    strengths: np.ndarray
    l2s: np.ndarray
    penalties: list[Penalty] = field(repr=False)
    x: sp.csr_array
    intercepts: np.ndarray
    shape: tuple[int, ...]
    primal: np.ndarray
    dual: np.ndarray
    gaps: np.ndarray
    nonzeros: np.ndarray
    epochs: np.ndarray
    screened: np.ndarray
    explained: np.ndarray
    statuses: list[Status]
    times: np.ndarray
    seconds: float
    tol: float
    scale: float
    last: Result | None = field(repr=False)
    problem: Problem | None = field(repr=False)
    _between: np.ndarray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.strengths)

    @property
    def between(self) -> np.ndarray:
        """For each two neighbours the largest gap, in units of the scale, of the better one's coefficients at any
        strength between them: proven, from the concavity of the optimum in the strength, without a further solve.

        Where l1 and l2 both differ, strengths between are those on the straight line."""
        if self._between is None:
            known = [self._known(k) for k in range(len(self))]
            worst = [Segment.of(*pair).worst() for pair in pairwise(known)]
            object.__setattr__(self, "_between", np.array(worst) / (self.scale or 1.0))
        assert self._between is not None
        return self._between

    def at(self, strength: float) -> Nearest:
        """The point whose coefficients are proven to be best at a strength between the ends, and their certificate.

        Parameters
        ----------
        strength : float
            Between the largest and the smallest of ``strengths``.

        Returns
        -------
        Nearest
            ``point``, its number; ``primal``, the objective of its coefficients at this strength; ``dual``, a lower
            bound of the optimum there; ``gap``, their difference in units of the scale.

        Examples
        --------
        >>> import southwell as sw
        >>> from sklearn.datasets import load_diabetes
        >>> A, b = load_diabetes(return_X_y=True)
        >>> path = sw.path(A, b, n_points=50)
        >>> near, exact = path.at(0.5), sw.solve(A, b, l1=0.5)
        >>> bool(near.dual <= exact.primal <= near.primal)
        True
        """
        strength = positive("strength", strength, zero=True)
        if (np.diff(self.strengths) > 0).any() or np.ptp(self.l2s) > 0:
            raise ValueError(
                "Path.at needs a path from strong to weak penalties, with the same l2 at all points. Compute one with "
                "l1s in decreasing order, or use path[k] for single points."
            )
        if not self.strengths[-1] <= strength <= self.strengths[0]:
            raise ValueError(
                f"strength must be between {self.strengths[-1]:g} and {self.strengths[0]:g}, the ends of this path; "
                f"got {strength:g}."
            )
        k = int(np.clip(np.searchsorted(-self.strengths, -strength, side="right") - 1, 0, max(len(self) - 2, 0)))
        first, second = self._known(k), self._known(min(k + 1, len(self) - 1))
        width = self.strengths[k] - self.strengths[min(k + 1, len(self) - 1)]
        share = float((self.strengths[k] - strength) / width) if width > 0 else 0.0
        gaps = Segment.of(first, second).at(share)
        better = int(gaps[1] < gaps[0])
        primal = (first, second)[better].objective(first.penalty.at(strength, float(self.l2s[k])))
        point = min(k + better, len(self) - 1)
        return Nearest(point, primal, primal - gaps[better], gaps[better] / (self.scale or 1.0))

    def _known(self, k: int) -> Known:
        return Known(self.penalties[k], self.coefficients(k), float(self.primal[k]), float(self.dual[k]))

    def __getitem__(self, k: int) -> Result:
        if not integral(k):
            raise TypeError(f"A path is indexed by the number of a point; got {shown(k)}. For several: [*path][2:5].")
        if not -len(self) <= k < len(self):
            raise IndexError(f"This path has {len(self)} points, numbered from 0; got {k}.")
        nothing = Screened(np.zeros(0, bool), np.zeros(0, bool))
        problem = None if self.problem is None else self.problem.with_penalty(self.penalties[k])
        return Result(
            x=self.coefficients(k), intercept=self.intercepts[k], y=None, primal=self.primal[k], dual=self.dual[k],
            gap=self.primal[k] - self.dual[k], scale=self.scale, tol=self.tol, status=self.statuses[k],
            epochs=int(self.epochs[k]), seconds=self.times[k], setup={}, history={}, movers={}, screened=nothing,
            method=f"point {int(k) % len(self)} of a path", problem=problem,
        )  # fmt: skip

    def __iter__(self) -> Iterator[Result]:
        return (self[k] for k in range(len(self)))

    @property
    def l1s(self) -> np.ndarray:
        return np.array([getattr(penalty, "l1", 0.0) for penalty in self.penalties])

    @property
    def converged(self) -> bool:
        return all(self.statuses)

    def coefficients(self, k: int) -> np.ndarray:
        """Those of point k, as ``solve`` gives them: an array of shape (n_features,) or (n_features, n_columns)."""
        return np.asarray(self.x[[k]].toarray()).reshape(self.shape)

    def rows(self) -> sp.csr_array:
        """The coefficients with a row for each point and, within it, for each column of its table."""
        if len(self.shape) == 1:
            return self.x
        width, entries = self.shape[1], self.x.tocoo()
        places = entries.row * width + entries.col % width, entries.col // width
        return sp.csr_array((entries.data, places), shape=(len(self) * width, self.shape[0]))

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns of A, if it was a DataFrame; else "feature 0" and so on."""
        return _tables.feature_names(_prediction.stated(self.problem).names, self.shape[0])

    @property
    def classes(self) -> np.ndarray | None:
        """The labels of the classes, if the loss is one over classes."""
        return _prediction.stated(self.problem).classes

    def decision_function(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """A x + c of shape (n_samples, n_points); of tables, (n_samples, n_points, n_columns)."""
        problem = _prediction.stated(self.problem)
        margins = _prediction.margins(problem, self.rows(), self.intercepts.ravel(), A)
        return _prediction.with_offset(margins.reshape(-1, *self.intercepts.shape), offset)

    def predict(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """The predictions of all points, a column for each: labels for losses over classes, means for losses with
        a log link, else ``A x + c``; of several targets of shape (n_samples, n_points, n_targets)."""
        return _prediction.answers(_prediction.stated(self.problem), self.decision_function(A, offset=offset))

    def to_frame(self, what: str = "points") -> Any:
        """A pandas DataFrame with a row for each point.

        Parameters
        ----------
        what : {"points", "coefficients"}
            "points": strengths, certificates, numbers of nonzeros and work. "coefficients": a column for each feature,
            or for each feature and column of its table, and the strengths as index.
        """
        leading = self.penalties[0].leading
        if one_name("what", what, ("points", "coefficients")) == "points":
            return _tables.frame({
                leading: self.strengths, "l2": self.l2s, "primal": self.primal, "dual": self.dual, "gap": self.gaps,
                "nonzeros": self.nonzeros, "explained": self.explained, "epochs": self.epochs,
                "seconds": self.times, "status": [status.name for status in self.statuses],
            })  # fmt: skip
        names, width = self.feature_names, int(np.prod(self.shape[1:]))
        if len(self.shape) > 1:
            columns = _tables.column_names(_prediction.stated(self.problem), width)
            names = [f"{name}, {column}" for name in names for column in columns]
        table = _tables.frame(self.x.toarray(), columns=names)
        table.index = _tables.frame({leading: self.strengths}).set_index(leading).index
        return table

    def _told(self) -> tuple[str, dict[str, str]]:
        name, begin, end = self.penalties[0].leading, self.strengths[0], self.strengths[-1]
        return f"Path: {len(self)} points, {name} from {begin:.3g} to {end:.3g}", {
            "gap": f"at most {self.gaps.max():.3g} of the zero model's objective (asked: {self.tol:.3g})",
            "nonzeros": f"{self.nonzeros[0]} to {self.nonzeros[-1]} of {self.x.shape[1]}",
            "explained": f"{self.explained[0]:.1%} to {self.explained[-1]:.1%}",
            "work": f"{self.epochs.sum()} rounds, {self.seconds:.3g} s",
        }

    def __repr__(self) -> str:
        return _tables.text(*self._told())

    def _repr_html_(self) -> str:
        return _tables.html(*self._told())

    def plot(self, names: Given = None, top: int = 10, ax: Any = None) -> Any:
        """The coefficients against the strength, those that come to most in colour; where a feature has several, their
        norm. Needs ``pip install southwell[plot]``.

        Parameters
        ----------
        names : sequence of str, optional
            One for each feature, for the legend.
        top : int
            How many coefficients are in colour.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        return plots.path(self, names, top, ax)

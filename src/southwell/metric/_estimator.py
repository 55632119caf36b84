"""The base of the metric learners: validation, running a fit, and prediction by nearest neighbours."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import validate_data

from .. import losses
from .._data import readable
from .._names import count, positive, shown
from .._typing import Given
from ..estimators._base import warn
from ..estimators._parameters import drawn_seed, one_of, refuse_no_classes, threads
from ..estimators._progress import ProgressLine
from ..result import Result
from ..solve import Settings
from ..status import Status
from ._memory import refuse_beyond
from ._methods import Choice
from ._neighbours import triplets
from ._risk import COPIES, MatrixRisk
from ._triplets import Triplets

if TYPE_CHECKING:
    from ..result import Progress

MOST_REFRESHES = 1000


class LargeMargin(ClassifierMixin, TransformerMixin, BaseEstimator):
    """Learns a metric for each task from the neighbours and impostors of its points; predicts by nearest neighbours."""

    def __init__(self, n_neighbors: int = 3, *, n_impostors: int = 10, l2: float = 0.01, corner: float = 1.0,
                 scale: float | str = "auto", refresh: int = 0, method: str = "auto", rows: int | None = None,
                 blocks: int | None = None, stretch: float | tuple[float, float] = 1.0, tol: float = 1e-6,
                 max_iter: int = 10_000, max_seconds: float | None = None,
                 random_state: int | np.random.RandomState | None = None, n_jobs: int | None = None,
                 dtype: str | None = None, memory_limit: float | None = None,
                 verbose: bool | int = 0) -> None:  # fmt: skip
        self.n_neighbors = n_neighbors
        self.n_impostors = n_impostors
        self.l2 = l2
        self.corner = corner
        self.scale = scale
        self.refresh = refresh
        self.method = method
        self.rows = rows
        self.blocks = blocks
        self.stretch = stretch
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.dtype = dtype
        self.memory_limit = memory_limit
        self.verbose = verbose

    def _fit(self, learn: Callable[[], None]) -> None:
        """What every ``fit`` does. A fit that fails leaves the attributes of the last one unchanged."""
        before = dict(vars(self))
        try:
            learn()
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _checked_parameters(self) -> Settings:
        for name in ("n_neighbors", "n_impostors"):
            count(name, getattr(self, name), 1)
        if count("refresh", self.refresh, 0) > MOST_REFRESHES:
            raise ValueError(f"refresh must be at most {MOST_REFRESHES}; got {shown(self.refresh)}.")
        positive("l2", self.l2)
        if not (isinstance(self.scale, str) and self.scale == "auto"):
            positive("scale", self.scale)
        one_of("dtype", self.dtype, (None, "float32", "float64"))
        seed = 0 if self.random_state is None else drawn_seed(self.random_state)
        count("max_iter", self.max_iter, 1)
        return Settings.checked(self.tol, self.max_iter, self.max_seconds, None, seed, True, threads(self.n_jobs))

    def _read(self, X: Given, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points in the chosen precision, and the position of each label in ``classes_``."""
        X, y = validate_data(self, readable(X, "X"), readable(y, "y"), dtype=self._dtypes(), ensure_min_samples=2)
        refuse_no_classes(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return X, codes

    def _dtypes(self) -> Any:
        return [np.float64, np.float32] if self.dtype is None else np.dtype(self.dtype)

    def _refuse_few(self, codes: np.ndarray, place: str) -> None:
        """A task must have two classes, and each of them enough points."""
        sizes = np.bincount(codes, minlength=self.classes_.size)
        seen = np.flatnonzero(sizes)
        if seen.size < 2:
            raise ValueError(
                f"{place} has one class only, {told(self.classes_, seen[0])}: there are no impostors. Give at "
                "least two classes."
            )
        least = seen[sizes[seen].argmin()]
        if sizes[least] <= self.n_neighbors:
            lower = f"lower n_neighbors to {sizes[least] - 1}, " if sizes[least] > 1 else ""
            raise ValueError(
                f"{place} (n_samples = {codes.size}, n_features = {self.n_features_in_}) has {sizes[least]} of class "
                f"{told(self.classes_, least)}; each needs n_neighbors={self.n_neighbors} others of its class. To go "
                f"on, {lower}leave the class out, or bring more points."
            )

    def _learn(self, points: np.ndarray, codes: np.ndarray, starts: np.ndarray, l2: float | np.ndarray,
               settings: Settings) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """The metrics of all tasks, from X_0, ..., X_T of eq. (33), and X_0; in the units of the points."""
        T, d = len(starts) - 1, points.shape[1]
        blocks = 1 if T == 1 else T + 1
        self._refuse_large(codes, starts, d, blocks)
        points, exponent = _near_one(points)
        begun, result, metrics, epochs = time.perf_counter(), None, [np.eye(d)] * T, 0
        with ProgressLine(type(self).__name__, self.verbose) as line:
            for turn in range(int(self.refresh) + 1):
                maps = [_map(M) for M in metrics]
                data = triplets(points, codes, starts, maps, int(self.n_neighbors), int(self.n_impostors), self.n_jobs)
                if turn == 0:
                    self.scale_ = self._unit(data, exponent)
                data.measured_in(float(np.ldexp(self.scale_, -exponent)))
                centre = np.zeros((blocks, d, d))
                centre[0] = np.eye(d)
                risk = MatrixRisk(
                    data, np.ones(data.n_samples), losses.SmoothHinge(self.corner), l2, centre=centre,
                    linear=data.pull(), memory_limit=self.memory_limit,
                )  # fmt: skip
                left = max(settings.max_seconds - (time.perf_counter() - begun), 1e-9)
                start = None if result is None else result.x
                show = _teller(line, turn) if line.wanted else None
                choice = Choice(self.method, self.rows, self.blocks, self.stretch)
                result = risk.run(replace(settings, max_seconds=left), choice, show, start)
                epochs += result.epochs
                metrics = [result.x[0]] if T == 1 else list(result.x[0] + result.x[1:])
                if result.status is Status.MAX_SECONDS:
                    break
        self.n_iter_ = max(1, epochs)
        self.n_triplets_ = data.n_samples
        assert result is not None  # there is at least one turn
        self._tell(result)
        return np.array(metrics) / self.scale_**2, result.x[0] / self.scale_**2

    def _tell(self, result: Result) -> None:
        self.status_, self.gap_ = result.status, result.relative_gap
        self.result_ = replace(result, problem=None)
        if not result.status:
            advice = "raise max_iter or max_seconds, or loosen tol"
            if result.status is Status.DIVERGED:
                advice = "look for outliers in X, give scale='auto', raise l2, or lower stretch"
            warn(
                f"{result.status.value} The gap is {self.gap_:.3g} of its scale; tol is {result.tol:.3g}. To go on, "
                f"{advice}."
            )

    def _unit(self, data: Triplets, exponent: int) -> float:
        """``scale``, in the units of X; the points are divided by 2^exponent."""
        top = float(np.ldexp(float(np.abs(data.points).max()), exponent))
        if self.scale == "auto":
            scale = float(np.ldexp(data.unit(), exponent)) or top or 1.0  # neighbours, or all points, may coincide
            what = f"neighbours are {scale:.3g} apart"
        else:
            scale = float(self.scale)
            what = f"scale is {scale:.3g}"
        far = 1e37 if data.points.dtype == np.float32 else 1e150
        if not 1 / far <= scale <= far:
            raise ValueError(
                f"Points must be between {1 / far:g} and {far:g} apart, or metrics leave the range of floating point "
                f"numbers; {what}. Measure X in other units."
            )
        far = 1e15 if data.points.dtype == np.float32 else 1e60
        if top > 0 and not 1 / far <= top / scale <= far:
            raise ValueError(
                f"Points must lie between {1 / far:g} and {far:g} times scale from their mean; the furthest is "
                f"{top:.3g} away, and scale is {scale:.3g}. Look for outliers, or give scale='auto'."
            )
        return scale

    def _refuse_large(self, codes: np.ndarray, starts: np.ndarray, d: int, blocks: int) -> None:
        n_points, near, pairs, triplets = len(codes), int(self.n_neighbors), 0, 0
        for first, last in pairwise(starts):
            own = int(last - first)
            far = min(int(self.n_impostors), own - int(np.bincount(codes[first:last]).max()))
            pairs += own * (near + far)
            triplets += own * near * far
        needed = 8 * (COPIES * blocks * d * d + 5 * n_points * d + 12 * (triplets + pairs))
        refuse_beyond(
            self.memory_limit, needed, f"Learning {blocks} metrics of {d} features from {triplets} triplets",
            "Reduce the features first, for example with PCA; lower n_impostors; or raise the limit.",
        )  # fmt: skip

    def _voters(self, points: np.ndarray, codes: np.ndarray) -> KNeighborsClassifier:
        return KNeighborsClassifier(self.n_neighbors, n_jobs=self.n_jobs).fit(points, codes)

    def _votes(self, voters: KNeighborsClassifier, points: np.ndarray) -> np.ndarray:
        """Shares of the votes, a column for each of ``classes_``."""
        shares = np.zeros((len(points), self.classes_.size))
        shares[:, voters.classes_] = voters.predict_proba(points)
        return shares

    def _points(self, X: Given) -> np.ndarray:
        return np.asarray(validate_data(self, readable(X, "X"), dtype=self._dtypes(), reset=False))


def factor(M: np.ndarray) -> np.ndarray:
    """L of shape (rank, d) with L'L = M, the largest directions first."""
    values, vectors = np.linalg.eigh(M)
    kept = values > 1e-12 * max(values[-1], 0.0)
    kept[-1] = True  # a zero metric keeps one direction, of length zero
    return np.asarray((np.sqrt(np.maximum(values[kept], 0.0))[:, None] * vectors[:, kept].T)[::-1])


def told(names: np.ndarray, place: int) -> str:
    """A label as the user wrote it."""
    return repr(names[place : place + 1].tolist()[0])


def _near_one(points: np.ndarray) -> tuple[np.ndarray, int]:
    """Points divided by 2^k, so that their squares do not overflow or underflow; and k. Points below 1e-150 are refused
    later (``_unit``), so that k need not be less than -500, and the scale that the user gave can be divided by 2^k."""
    exponent = max(int(np.frexp(float(np.abs(points).max()))[1]), -500)
    return np.ldexp(points, -exponent), exponent


def _map(M: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The map after which Euclidean distances are the distances of M."""
    if np.array_equal(M, np.eye(len(M))):
        return lambda Z: Z
    return lambda Z: Z @ factor(M).T.astype(Z.dtype)


def _teller(line: ProgressLine, turn: int) -> Callable[[Progress], None]:
    which = f"refresh {turn}, " if turn else ""

    def show(progress: Progress) -> None:
        line.show(f"{which}round {progress.epoch}, gap {progress.relative_gap:.1e}, {progress.seconds:.1f} s")

    return show

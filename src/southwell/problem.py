"""The optimisation problem: data, loss and penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from . import _core, _data, _remarks, _shards, _sparse, losses
from ._concave import Concave
from ._dense import plain
from ._names import finite, flag, shown
from ._question import Start
from ._scipy import sparse as sp
from ._targets import HasTargets
from ._typing import Given
from ._words import OF_SOLVE, Words
from .losses import Loss
from .penalties import ElasticNet, GroupPenalty, Penalty, Separable
from .proof import Certificate, Proof
from .result import Result

T = TypeVar("T")


class Problem(HasTargets):
    """min over x of  sum_i s_i phi(a_i'x + c; b_i) + g(x),  with weights s that sum to one.

    Parameters
    ----------
    A : array, DataFrame or sparse matrix of shape (n_samples, n_features), ``Centred``, ``Factorised`` or ``Store``
        NumPy in C or Fortran order, SciPy CSR or CSC; float32 or float64; int32 or int64 indices; read-only and
        memory-mapped arrays too. A method that needs the other layout builds it once, and the problem keeps it.
        The data are not copied: do not change them while the problem is in use, also not from another thread. Changed
        values make solutions and certificates wrong; changed ``indices`` or ``indptr`` of a sparse matrix can crash the
        process, because they are checked only once. Do not truncate the file of a memory-mapped array: the system
        then kills the process (SIGBUS). Replacing or deleting such a file is harmless.
        A ``southwell.data.Store`` is loaded if it fits in its ``memory``; otherwise it is read in parts, again and
        again, by the default method.
    b : array of shape (n_samples,)
        Targets: two labels of any kind for logistic and hinge losses, >= 0 for Poisson. ``classes`` holds the labels:
        the first counts as -1, the second as +1.
    loss : str or Loss
    penalty : ElasticNet, optional
    intercept : bool
        Adds c, which is never penalised.
    sample_weight : array of shape (n_samples,), optional
        Only ratios matter: a weight of 2 equals the row twice.
    offset : array of shape (n_samples,), optional
        Known parts of the margins: the loss is that of a_i'x + c + offset_i. For counts over different exposures, their
        logarithms. Losses of a difference m - b have it in ``targets``, which are then b - offset.
    words : Words
        What messages call A and b; estimators call them X and y.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> problem = sw.Problem(np.eye(3), [1.0, 2.0, 3.0], penalty=sw.penalties.ElasticNet(l1=0.1))
    >>> sw.solve(problem).x.round(2)
    array([0.7, 1.7, 2.7])
    """

    def __init__(self, A: Given, b: Given = None, loss: str | Loss = "squared", penalty: Penalty | None = None, *,
                 intercept: bool = False, sample_weight: Given = None, offset: Given = None,
                 words: Words = OF_SOLVE) -> None:  # fmt: skip
        if not isinstance(words, Words):
            raise TypeError(f"words must be Words, what messages call A and b; got {shown(words)}.")
        self.words = words
        self.loss = losses.get(loss)
        self.penalty = self._checked_penalty(penalty)
        if isinstance(A, _shards.InFiles):
            b = _shards.targets_of(A, b)
            sample_weight = A.part("weights") if sample_weight is None else sample_weight
        elif b is None:
            raise TypeError(f"A problem needs targets {words.targets}; only a Store may hold them itself.")
        centre = A if isinstance(A, _data.Centred) else None
        self.data = self._read(A if centre is None else centre.A, centre is not None, words.data)
        self.n_samples, self.n_features = self.data.shape
        self.intercept = flag("intercept", intercept)
        self.weights = _data.weights(sample_weight, self.n_samples, words.data)
        self.names = _data.names_of(A, self.n_features)
        self.offset = None if offset is None else self._checked_offset(offset)
        self.targets, self.classes = self._targets_less_offset(b)
        self.core_penalty = self._compile_penalty(self.penalty)
        self.means = None if centre is None else self._means(centre.means)
        self.shifts, self._moved = self._frame()
        self._kept: dict[object, Any] = {}
        self._frozen = True

    def _frame(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """What the core adds to each column, and `moved` in: c of the core = c + moved'x.

        Centring changes only the intercept, (a - means)'x + c = a'x + (c - means'x), and makes columns with large means
        well conditioned: with an intercept columns are centred if moves then cost no more."""
        frame = self.means
        if self.intercept and self.data.shifts_are_free:
            frame = self._means(None) if self._centres_dense() else None
        elif self.intercept and not self._centres():
            frame = None
        zero = np.zeros(self.n_features)
        moved = (zero if frame is None else frame) - (zero if self.means is None else self.means)
        return None if frame is None else -frame, moved if self.intercept and moved.any() else None

    def __setattr__(self, name: str, value: Given) -> None:
        if self.__dict__.get("_frozen", False):
            raise AttributeError(f"A Problem cannot be changed; to set {name}, make another (see with_penalty).")
        super().__setattr__(name, value)

    blocks: ClassVar[bool] = False  # this and what follows are overridden by problems of blocks
    penalty: Separable

    @property
    def width(self) -> int:
        """The number of coefficients of a feature."""
        return 1

    def _checked_penalty(self, penalty: Penalty | None) -> ElasticNet:
        if isinstance(self.loss, losses.ClassLoss):
            raise TypeError(f"The {self.loss.name} loss has a margin for each class: state it as a BlockProblem.")
        if penalty is not None and not isinstance(penalty, ElasticNet):
            advice = " Groups make a BlockProblem." if isinstance(penalty, GroupPenalty) else ""
            if isinstance(penalty, Concave):
                advice = (
                    " It is not convex, so no bound tells how good an answer is: southwell.local.solve finds a local "
                    "minimum."
                )
            raise TypeError(
                f"penalty must be a southwell penalty such as ElasticNet; got {type(penalty).__name__}.{advice}"
            )
        return ElasticNet() if penalty is None else penalty

    def _compile_penalty(self, penalty: Given) -> Any:
        return penalty.core(self.n_features)

    def total_margins(self, inner: np.ndarray) -> np.ndarray:
        """What the loss is a function of: margins, and offsets that are not in the targets."""
        layout, added = self.ready_layout(), self.core_offset
        margins: np.ndarray = layout.apply_wide(inner, self.width) if self.blocks else layout.apply(inner)
        return margins + added if added.size else margins

    def _centres(self) -> bool:
        """Whether sparse columns are centred if there is an intercept."""
        return self.loss.quadratic

    def _centres_dense(self) -> bool:
        return True

    @property
    def inner_size(self) -> int:
        """The number of coefficients in the core, intercept included."""
        return self.n_features + self.intercept

    @property
    def dual_size(self) -> int:
        return self.n_samples

    @property
    def n_blocks(self) -> int:
        """The number of blocks that move together: coefficients or groups, and an intercept."""
        return self.inner_size

    def features_in(self, blocks: int) -> int:
        """An upper bound of the number of features in so many blocks."""
        return blocks

    def loss_at(self, inner: np.ndarray) -> float:
        """The loss over all samples of positive weight."""
        margins, used = self.total_margins(inner), self.weights > 0
        return float(self.loss.value(margins[used], self.targets[used]) @ self.weights[used])

    def least_loss(self) -> float:
        """The least loss any margins could have, ``-sum_i s_i phi*(0; b_i)``."""
        nothing = self.dual_shape(np.zeros(self.dual_size))
        conjugates = self.loss.conjugate(nothing, self.targets)
        return -float(conjugates.reshape(self.n_samples, -1).sum(axis=1) @ self.weights)

    def loss_slopes(self, inner: np.ndarray) -> np.ndarray:
        """The derivative of the loss at the margins of these coefficients: a dual point."""
        return np.asarray(self.loss.derivative(self.total_margins(inner), self.targets))

    def null_model(self) -> np.ndarray:
        """All coefficients zero, and the best intercept."""
        if isinstance(self.data, _shards.Shards):
            return np.asarray(self.data.core(self).certify(np.zeros(self.inner_size))[3])
        return np.append(np.zeros(self.n_features), _core.null_intercept(self.core()))

    def coefficients(self, x: Given, name: str) -> np.ndarray:
        """Checked coefficients, in the shape that users see."""
        return _data.vector(x, name, self.n_features)

    def _from_rows(self, rows: np.ndarray) -> np.ndarray:
        """Coefficients in the shape that users see, from a row for each target or class, as estimators have them."""
        return rows.ravel()

    @staticmethod
    def _warm_intercept(given: Given) -> Any:
        return finite("the intercept of warm_start", given)

    def dual_shape(self, y: np.ndarray) -> np.ndarray:
        """A dual point in the shape that users see."""
        return y

    def start(self, given: Given) -> Start:
        """The starting point; zero, if the zero model has a smaller loss than the given point."""
        zero = Start(np.zeros(self.inner_size))
        if given is None:
            return zero
        start = self._given_start(given)
        return start if self.loss_at(start.x) <= self.loss_at(zero.x) else zero

    def _given_start(self, given: Given) -> Start:
        if isinstance(given, Result):
            x = given.x
            if sp.issparse(x):  # from estimators with sparse_coef, which keep rows and no y
                x = self._from_rows(_sparse.sound_array(x, "warm_start.x").toarray())
            y = np.ravel(given.y) if given.y is not None and np.size(given.y) == self.dual_size else None
            return Start(self.to_inner(self.coefficients(x, "warm_start.x"), given.intercept), y)
        pair = isinstance(given, tuple) and len(given) == 2 and plain("warm_start", given[0]).ndim > 0
        x, intercept = given if pair else (given, 0.0)
        intercept = self._warm_intercept(intercept)
        return Start(self.to_inner(self.coefficients(x, "warm_start"), intercept))

    def remarks(self, result: Result) -> list[str]:
        return _remarks.of_problem(self, result)

    def separates(self, result: Result) -> bool:
        """Whether these margins tell all classes apart, so that larger ones have a smaller loss."""
        if not self.loss.log_odds:
            return False
        margins = self.total_margins(self.to_inner(result.x, result.intercept))
        return bool((margins * self.targets)[self.weights > 0].min() > 0)

    @staticmethod
    def _read(A: Given, centred: bool, name: str) -> _data.Matrix | _data.Product | _shards.Shards:
        if isinstance(A, _shards.InFiles):
            return _data.Matrix(A.matrix(), name) if A.fits else _shards.Shards(A, name)
        if not isinstance(A, _data.Factorised):
            return _data.Matrix(A, name)
        if centred:
            raise TypeError("Centred takes a matrix, not Factorised. Centre the columns of V, or use intercept=True.")
        return _data.Product(A)

    @property
    def matrix(self) -> _data.Matrix:
        """A itself, with rows and columns."""
        if isinstance(self.data, _data.Matrix):
            return self.data
        raise TypeError(
            "Data in files are read in parts." if self.in_parts else "Factorised data have neither rows nor columns."
        )

    @property
    def factors(self) -> _data.Product:
        """U and V of A = U V."""
        if isinstance(self.data, _data.Product):
            return self.data
        raise TypeError("These data have no factors.")

    @property
    def factorised(self) -> bool:
        """Whether A is given by factors."""
        return isinstance(self.data, _data.Product)

    @property
    def in_parts(self) -> bool:
        """Whether A stays in files and is read in parts."""
        return isinstance(self.data, _shards.Shards)

    def _means(self, given: Given) -> np.ndarray:
        if given is not None:
            return _data.vector(given, "means", self.n_features).copy()
        means = self.data.ready_layout(None, False).adjoint(self.weights)
        return means if isinstance(self.data, _data.Product) else self.data.exact_means(means)

    def with_penalty(self, penalty: Penalty) -> Self:
        """The same data and loss with another penalty. Layouts are shared and the data are not checked again.

        Examples
        --------
        >>> import numpy as np, southwell as sw
        >>> problem, result = sw.Problem(np.eye(3), [1.0, 2.0, 3.0]), None
        >>> for l1 in (0.5, 0.1):
        ...     result = sw.solve(problem.with_penalty(sw.penalties.ElasticNet(l1)), warm_start=result)
        >>> result.x.round(2)
        array([0.7, 1.7, 2.7])
        """
        checked = self._checked_penalty(penalty)
        return self._alike(penalty=checked, core_penalty=self._compile_penalty(checked))

    def layout(self, by_columns: bool) -> _core.Layout:
        """The compiled design along one axis; kept."""
        return self.keep(by_columns, lambda: self.data.layout(by_columns, self.shifts, self.intercept))

    def keep(self, key: object, make: Callable[[], T]) -> T:
        """The value of ``make()``, computed once and shared by all problems that differ in penalty or targets only."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: T = self._kept[key]
        return kept

    def ready_layout(self) -> _core.Layout:
        """The compiled design along the axis it was given in, which needs no copy."""
        return self.layout(self.data.given_by_columns)

    def core(self, by_columns: bool | None = None) -> _core.Question:
        """The compiled problem, with products along the given axis."""
        if isinstance(self.data, _shards.Shards):
            return self.data.core(self)
        layout = self.ready_layout() if by_columns is None else self.layout(by_columns)
        return _core.Problem(layout, self.loss.core, self.targets, self.weights, self.core_penalty, self.core_offset)

    def formed_rows(self) -> _core.Layout:
        """The rows of A = U V, each formed when it is read, at O(k d); a layout for one algorithm."""
        return _core.formed_layout(*self.keep("rows of factors", self.factors.row_layouts), self.intercept)

    def formed(self, most: int) -> Self | None:
        """The same problem with the product A = U V, if it is finite and has at most ``most`` entries, or at most a few
        times as many as the factors. Coefficients and intercept are the same."""
        if self.factors.product_size > max(most, 4 * self.data.stored):
            return None
        matrix = self.keep("formed", self.factors.formed)
        return None if matrix is None else self._alike(data=matrix, _kept=self.keep("of the formed", dict))

    def certify(self, x: Given, y: Given = None, intercept: Given = 0.0, *, rigorous: bool = False) -> Certificate:
        """Primal value, dual value and gap of any point.

        Parameters
        ----------
        x : array
            Coefficients.
        y : array, optional
            A dual point, which is made feasible. Default: the derivative of the loss at the margins of ``x``.
        intercept : float, or one for each column of x
        rigorous : bool
            Include all rounding errors: ``primal`` is then an upper bound and ``dual`` a lower bound, so that the gap
            bounds the error of ``x`` in exact arithmetic. It takes two more products with the data.

        Returns
        -------
        Certificate
            ``primal``, ``dual``, ``gap``.
        """
        if flag("rigorous", rigorous):
            proof = self.prove(x, y, intercept)
            return Certificate(proof.primal, proof.dual, proof.gap)
        if isinstance(self.data, _shards.Shards):
            if y is not None:
                raise ValueError("A problem in files is certified at the derivatives of its loss: do not give y.")
            return Certificate(*self.data.core(self).certify(self._inner_point(x, None, intercept)[0])[:3])
        return Certificate(*_core.certify(self.core(), *self._inner_point(x, y, intercept)))

    def prove(self, x: Given, y: Given = None, intercept: Given = 0.0, *, feasible: bool = False) -> Proof:
        """Bounds of P(x) and of the optimum that hold in exact arithmetic, with the dual point that shows them.

        ``feasible`` says that ``y`` is feasible up to rounding, as that of a result is; else it is made feasible.
        """
        self.refuse_bounds()
        inner, dual = self._inner_point(x, y, intercept)
        primal, bound, point = _core.prove(self.core(), inner, dual, feasible, self._intercept_rounding(x, intercept))
        return Proof(self, np.asarray(x), intercept, self.dual_shape(point), primal, bound)

    def refuse_bounds(self) -> None:
        """An error if the rounding errors of the loss are not known, or if rows are in files."""
        if self.in_parts:
            raise ValueError(
                "Bounds in exact arithmetic need all rows in memory, and these stay in files. The gap is certified as "
                "usual."
            )
        if self.loss.own:
            raise ValueError(
                f"{self.loss.name} is a loss of your own, and its rounding errors are not known: there are no bounds "
                "in exact arithmetic. The gap is that of its values and derivatives as computed."
            )

    def examine_at(self, inner: np.ndarray) -> None:
        """Refuse a loss of one's own that is wrong at the margins of these coefficients."""
        if self.loss.own:
            self.loss.examine(self.targets.ravel(), self.total_margins(inner))

    def _inner_point(self, x: Given, y: Given, intercept: Given) -> tuple[np.ndarray, np.ndarray | None]:
        """A checked point in the coordinates of the core."""
        inner = self.to_inner(self.coefficients(x, "x"), intercept)
        return inner, None if y is None else self._checked_dual(y)

    def _checked_dual(self, y: Given) -> np.ndarray:
        return _data.vector(y, "y", self.n_samples)

    def _intercept_rounding(self, x: Given, intercept: Given) -> float:
        """A bound of the rounding error of the core's intercept: it is c + moved'x, a sum of d + 1 terms."""
        if self._moved is None:
            return 0.0
        table = np.abs(np.asarray(x, dtype=float)).reshape(self.n_features, -1)
        sizes = np.abs(np.asarray(intercept, dtype=float)) + np.abs(self._moved) @ table
        return float(1.01 * (self.n_features + 8) * 2.0**-53 * sizes.max())

    def to_inner(self, x: np.ndarray, intercept: float) -> np.ndarray:
        """Coefficients in the coordinates of the core: the intercept is last, and belongs to its centred columns."""
        intercept = finite("intercept", intercept)
        if not self.intercept:
            if intercept != 0:
                raise ValueError(f"This problem has no intercept; got {intercept}. State it with intercept=True.")
            return x
        return np.append(x, intercept + (0.0 if self._moved is None else float(self._moved @ x)))

    def from_inner(self, inner: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients and intercept as users see them."""
        if not self.intercept:
            return inner, 0.0
        x = inner[:-1].copy()
        return x, float(inner[-1] - (0.0 if self._moved is None else self._moved @ x))

    def __getstate__(self) -> dict[str, Any]:  # compiled parts are not pickled; they are made again
        state = {k: v for k, v in self.__dict__.items() if k not in ("core_penalty", "_make_targets")}
        return state | {"targets": self.targets, "classes": self.classes, "_kept": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, core_penalty=state["penalty"].core(state["n_features"]))

    def __repr__(self) -> str:
        kind = "factorised" if isinstance(self.data, _data.Product) else "sparse" if self.data.sparse else "dense"
        kind += ", in files" * self.in_parts
        return (
            f"Problem({self.n_samples} x {self.n_features} {kind}, {self.data.stored} entries, "
            f"loss={self.loss!r}, penalty={self.penalty!r}, intercept={self.intercept})"
        )

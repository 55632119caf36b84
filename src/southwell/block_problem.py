"""Problems whose coordinates are blocks: groups of features, tasks, classes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from . import _core, _labels, losses
from ._dense import numbers, refuse_unreadable
from ._names import shown
from ._question import Start
from ._scipy import sparse as sp
from ._typing import Given
from ._words import OF_SOLVE, Words
from .losses import ClassLoss, Loss
from .penalties import ElasticNet, GroupPenalty, Penalty
from .problem import Problem
from .result import Result


class BlockProblem(Problem):
    """min over X of  sum_i s_i phi(a_i'X + c; b_i) + g(X),  X with a row for each feature.

    Three kinds of problems have blocks of coordinates: a loss over classes (``Softmax``, ``MulticlassHinge``), where X
    has a column for each class; several targets with one loss, a column for each; and a penalty of ``Groups``.

    Parameters
    ----------
    A : as for ``Problem``
    b : array of shape (n_samples,) or (n_samples, n_tasks)
        Labels of any kind for losses over classes; else targets of the loss, a column for each task. ``classes`` holds
        the labels, in the order of the columns of X.
    loss : str or Loss
    penalty : Groups or ElasticNet, optional
        Weights of zero leave features or groups unpenalised. Default: no penalty.
    intercept : bool
        Adds c, a number for each column of X, never penalised.
    sample_weight : array of shape (n_samples,), optional
    offset : array of shape (n_samples,) or (n_samples, n_tasks), optional
        As for ``Problem``. For losses over classes of shape (n_samples, n_classes), in the order of ``classes``: a
        number for all margins of a sample would change nothing.
    words : as for ``Problem``

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> from sklearn.datasets import load_iris
    >>> A, b = load_iris(return_X_y=True)
    >>> problem = sw.BlockProblem(A, b, "softmax", sw.penalties.ElasticNet(l2=0.01), intercept=True)
    >>> r = sw.solve(problem)
    >>> r.x.shape, r.status
    ((4, 3), Status.CONVERGED)
    """

    blocks: ClassVar[bool] = True
    penalty: GroupPenalty | ElasticNet  # type: ignore[assignment]  # methods of blocks ask for what both have

    def __init__(self, A: Given, b: Given = None, loss: str | Loss = "squared", penalty: Penalty | None = None, *,
                 intercept: bool = False, sample_weight: Given = None, offset: Given = None,
                 words: Words = OF_SOLVE) -> None:  # fmt: skip
        super().__init__(
            A, b, loss, penalty, intercept=intercept, sample_weight=sample_weight, offset=offset, words=words
        )
        if self.in_parts:
            raise ValueError(
                f"Several targets, competing classes and groups need all rows of {words.data} in memory, and these "
                "stay in files. Open the store with more memory, if the machine has it, or fit one target or class at "
                "a time."
            )

    def _checked_penalty(self, penalty: Penalty | None) -> Any:
        if penalty is not None and not isinstance(penalty, ElasticNet | GroupPenalty):
            raise TypeError(f"penalty must be a southwell penalty, Groups or ElasticNet; got {type(penalty).__name__}.")
        return ElasticNet() if penalty is None else penalty

    def _compile_penalty(self, penalty: Given) -> Any:
        return penalty.over_blocks(self.n_features, self.width)

    def with_penalty(self, penalty: Penalty) -> Self:
        other = super().with_penalty(penalty)
        if not other.intercept or other.shifts is not None or not other.data.shifts_are_free:
            return other
        if not (other.penalty.kinked or other.penalty.bounded):
            return other
        shifts, moved = other._frame()  # stated without such a penalty, its columns were not centred
        return other._alike(shifts=shifts, _moved=moved, _kept=other.keep("centred", dict))

    def with_targets(self, b: Given) -> Self:
        other = super().with_targets(b)
        # The number of targets, and so of coefficients, may differ.
        return other._alike(core_penalty=other._compile_penalty(other.penalty))

    def _checked_targets(self, b: Given) -> tuple[np.ndarray, np.ndarray | None]:
        name = self.words.targets
        if isinstance(self.loss, ClassLoss):
            return _labels.class_numbers(b, self.words, self.n_samples, self.weights, self.loss.name)
        if sp.issparse(b):
            raise TypeError(f"{name} is a sparse matrix; give an array, {name}.toarray().")
        refuse_unreadable(b, name)
        try:
            table = np.asarray(b)
        except (TypeError, ValueError):
            table = np.empty(0)  # mixed shapes: refused below, with the usual message
        if table.ndim > 2:
            raise ValueError(
                f"{name} must have shape (n_samples,) or (n_samples, n_tasks), {self.n_samples} rows; got "
                f"{table.shape}."
            )
        if table.ndim != 2:
            return super()._checked_targets(b)
        if table.shape[0] != self.n_samples or table.shape[1] == 0:
            raise ValueError(
                f"{name} must have a row for each of the {self.n_samples} samples and a column for each task; got "
                f"shape {table.shape}."
            )
        columns = [super(BlockProblem, self)._checked_targets(column) for column in table.T]
        classes = columns[0][1]
        labels = {shown(own.tolist()) for _, own in columns if own is not None}
        if len(labels) > 1:
            raise ValueError(
                f"All columns of {name} must have the same two labels, such as -1 and +1 or 0 and 1; got "
                f"{' and '.join(sorted(labels)[:3])}."
            )
        return np.ascontiguousarray(np.stack([values for values, _ in columns], axis=1)), classes

    def _checked_offset(self, given: Given) -> np.ndarray:
        table = numbers("offset", given)
        if table.ndim != 2 and not isinstance(self.loss, ClassLoss):
            return super()._checked_offset(given)
        if table.ndim != 2:
            raise ValueError(
                f"The {self.loss.name} loss takes an offset with a column for each class; got shape {table.shape}. A "
                "number for all margins of a sample would change nothing."
            )
        if table.shape[0] != self.n_samples or not np.isfinite(table).all():
            raise ValueError(
                f"offset must be finite, with a row for each of the {self.n_samples} samples; got shape {table.shape}."
            )
        return np.ascontiguousarray(table)

    def _refuse_offset(self, targets: np.ndarray) -> None:
        if not isinstance(self.loss, ClassLoss):
            super()._refuse_offset(targets)
        elif self.offset is not None and self.offset.shape[1] != (classes := int(targets.max()) + 1):
            raise ValueError(
                f"offset must have a column for each of the {classes} classes; got shape {self.offset.shape}."
            )

    def _centres(self) -> bool:
        return self.data.shifts_are_free or super()._centres()

    def _centres_dense(self) -> bool:
        """Conjugate gradients on all coefficients do not need centring, and without it they read A in place. But
        columns with means far larger than their spread are centred, because rounding errors would dominate."""
        if self.penalty.kinked or self.penalty.bounded:
            return True
        layout = self.data.ready_layout(None, False)
        means = layout.adjoint(self.weights)
        with np.errstate(over="ignore", invalid="ignore"):  # then they are centred
            spread = layout.column_squared_norms(self.weights) - means**2
            return not bool((means**2 <= 1e4 * spread).all())

    @property
    def width(self) -> int:
        """The number of coefficients of a feature."""
        if isinstance(self.loss, ClassLoss):
            return int(self.targets.max()) + 1
        return 1 if self.targets.ndim == 1 else self.targets.shape[1]

    @property
    def table(self) -> bool:
        """Whether X is a matrix."""
        return isinstance(self.loss, ClassLoss) or self.targets.ndim == 2

    def wide_loss(self) -> _core.LossSum:
        if isinstance(self.loss, ClassLoss):
            return self.loss.over(self.targets, self.width, self.weights, self.core_offset)
        return _core.task_loss(self.loss.core, self.width, self.targets.ravel(), self.weights, self.core_offset)

    def core(self, by_columns: bool | None = None) -> _core.Question:
        layout = self.ready_layout() if by_columns is None else self.layout(by_columns)
        return _core.BlockProblem(layout, self.wide_loss(), self.core_penalty)

    @property
    def inner_size(self) -> int:
        return (self.n_features + self.intercept) * self.width

    @property
    def dual_size(self) -> int:
        return self.n_samples * self.width

    @property
    def n_blocks(self) -> int:
        return self.group_sizes.size + self.intercept

    @property
    def group_sizes(self) -> np.ndarray:
        if isinstance(self.penalty, GroupPenalty):
            return np.bincount(self.penalty.group_of(self.n_features))
        return np.ones(self.n_features, dtype=int)

    def features_in(self, blocks: int) -> int:
        largest = np.sort(self.group_sizes)[::-1]
        return int(min(largest[:blocks].sum() + max(blocks - largest.size, 0), self.n_features + self.intercept))

    def loss_at(self, inner: np.ndarray) -> float:
        margins: np.ndarray = self.ready_layout().apply_wide(inner, self.width)  # the loss adds the offsets
        return self.wide_loss().value(margins)

    def loss_slopes(self, inner: np.ndarray) -> np.ndarray:
        return self.wide_loss().derivative(self.ready_layout().apply_wide(inner, self.width))

    def separates(self, result: Result) -> bool:
        if not self.loss.log_odds:
            return False
        inner = self.to_inner(self.coefficients(result.x, "x"), result.intercept)
        margins = self.total_margins(inner).reshape(self.n_samples, self.width)
        margins = margins[self.weights > 0]
        if not isinstance(self.loss, ClassLoss):  # one of the targets is enough
            targets = self.targets.reshape(self.n_samples, self.width)[self.weights > 0]
            return bool((margins * targets > 0).all(axis=0).any())
        own = np.arange(self.width) == self.targets[self.weights > 0, None]
        return bool((margins[own] > np.where(own, -np.inf, margins).max(axis=1)).all())

    def null_model(self) -> np.ndarray:
        return np.asarray(_core.null_model(self.core())[1])

    def _from_rows(self, rows: np.ndarray) -> np.ndarray:
        return rows.T if self.table else rows.ravel()

    @staticmethod
    def _warm_intercept(given: Given) -> Any:
        return given  # checked with its shape, by to_inner

    def _given_start(self, given: Given) -> Start:
        start = super()._given_start(given)
        if self.penalty.bounded:
            own = start.x[: self.n_features * self.width].reshape(-1, self.width)
            lower, upper = self.penalty.bounds(self.n_features)
            np.clip(own, lower[:, None], upper[:, None], out=own)
        return start

    def _checked_dual(self, y: Given) -> np.ndarray:
        return _numbers(y, "y", (self.n_samples, self.width), self.table).ravel()

    def coefficients(self, x: Given, name: str) -> np.ndarray:
        return _numbers(x, name, (self.n_features, self.width), self.table)

    def dual_shape(self, y: np.ndarray) -> np.ndarray:
        return y.reshape(self.n_samples, self.width) if self.table else y

    def to_inner(self, x: np.ndarray, intercept: Given) -> np.ndarray:
        table = x.reshape(self.n_features, self.width)
        if not self.intercept:
            if self._intercepts(intercept).any():
                raise ValueError(
                    f"This problem has no intercept; got {shown(intercept)}. State it with intercept=True."
                )
            return np.ascontiguousarray(table).ravel()
        own = self._intercepts(intercept)
        own = own if self._moved is None else own + self._moved @ table
        return np.concatenate([table.ravel(), own])

    def _intercepts(self, given: Given) -> np.ndarray:
        try:
            own = np.asarray(given)
        except (TypeError, ValueError):
            own = np.empty((0, 0))
        if own.dtype.kind not in "iufb" or own.shape not in ((), (self.width,)):
            raise ValueError(f"intercept must be one number or {self.width}, one a column of X; got {shown(given)}.")
        own = np.broadcast_to(own.astype(np.float64), (self.width,))
        if not np.isfinite(own).all():
            raise ValueError(f"intercept must be finite; got {shown(given)}.")
        return own

    def from_inner(self, inner: np.ndarray) -> tuple[np.ndarray, Any]:
        size = self.n_features * self.width
        table = inner[:size].reshape(self.n_features, self.width).copy()
        own = inner[size:].copy() if self.intercept else np.zeros(self.width)
        if self._moved is not None:
            own -= self._moved @ table
        if isinstance(self.loss, ClassLoss):  # adding a constant to all intercepts does not change the loss
            own -= own.mean()
        if self.table:
            return table, own
        return table.ravel(), float(own[0])

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__["core_penalty"] = self._compile_penalty(self.penalty)


def is_block_problem(b: Given, loss: str | Loss, penalty: Given) -> bool:
    """Whether these arguments state a problem of blocks."""
    if sp.issparse(b):
        raise TypeError("b must be an array of targets; got a sparse matrix. Give b.toarray().")
    try:
        shape = np.shape(b)
    except (TypeError, ValueError):  # mixed shapes, refused by the check of b
        shape = ()
    several = len(shape) > 1 and sorted(shape)[-2] > 1  # a single row or column is a vector
    return isinstance(losses.get(loss), ClassLoss) or isinstance(penalty, GroupPenalty) or several


def _numbers(given: Given, name: str, shape: tuple[int, int], table: bool) -> np.ndarray:
    wanted = shape if table else shape[:1]
    values = numbers(name, given)
    if values.shape != wanted:
        raise ValueError(f"{name} must have shape {wanted}; got {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return np.ascontiguousarray(values)

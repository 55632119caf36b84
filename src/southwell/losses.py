"""Losses phi(m; b) of a margin ``m`` and a target ``b``.

Every loss has the same functions over arrays: ``value``, ``derivative``, ``second_derivative``, ``conjugate`` and
``prox_conjugate``, all computed by the compiled core. A loss of your own derives from ``Custom``.

>>> import numpy as np, southwell as sw
>>> sw.losses.Hinge().value([0.5, 2.0], [1.0, 1.0])
array([0.5, 0. ])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._dense import numbers, refuse_unreadable
from ._names import listed, positive, resolve, shown
from ._typing import Given, Numbers

_TRAITS = {loss.name: loss for loss in (*_core.losses(), *_core.class_losses())}  # what the core says about each


def _default(name: str) -> float:
    """The default of the loss's parameter."""
    parameter = _TRAITS[name].parameter
    assert parameter is not None
    return parameter.default


@dataclass(frozen=True)
class Loss:
    """Base of all losses: a frozen dataclass whose ``name`` is that of the loss in the core.

    It has one field if the loss has a parameter. Everything else is asked of the core."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        allowed = self.traits.parameter
        if allowed is not None:
            below = allowed.below if np.isfinite(allowed.below) else None
            value = positive(
                allowed.name, getattr(self, allowed.name), zero=allowed.zero, above=allowed.above, below=below
            )
            object.__setattr__(self, allowed.name, value)

    @property
    def traits(self) -> _core.LossTraits:
        """What the core says about losses of this name, whatever their parameter."""
        return _TRAITS[self.name]

    @property
    def parameter(self) -> float:
        """The loss's number, 0 if it has none."""
        return 0.0 if self.traits.parameter is None else getattr(self, self.traits.parameter.name)

    @cached_property
    def core(self) -> _core.Loss:
        """The compiled loss."""
        return _core.Loss(self.name, self.parameter)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def targets(self) -> str:
        """The kind of targets: "real", "signs" (-1 and +1), "counts" (>= 0), "positive" or "classes" (0, 1, ...)."""
        return self.traits.targets

    @property
    def smooth(self) -> bool:
        """Whether the derivative is continuous, as coordinate descent on the primal needs."""
        return self.traits.smooth

    @property
    def quadratic(self) -> bool:
        """Whether it is (m - b)^2 / 2."""
        return self.traits.quadratic

    @property
    def piecewise(self) -> bool:
        """Whether the second derivative is constant on each of a few intervals."""
        return self.traits.piecewise

    @property
    def self_concordance(self) -> float:
        """M with ``|phi'''| <= M phi''``; 0 if there is none."""
        return self.traits.self_concordance

    @property
    def log_odds(self) -> bool:
        """Whether the margin is the logarithm of the odds of b = 1; over classes, whether the difference of two margins
        is that of the odds of two classes. Such losses have no minimiser where classes are separable."""
        return self.traits.log_odds

    @property
    def log_link(self) -> bool:
        """Whether the margin is the logarithm of the mean of b."""
        return self.traits.log_link

    @property
    def smoothness(self) -> float:
        """A bound on the second derivative, 1/gamma; infinity if there is none."""
        return self.core.smoothness

    def value(self, m: Numbers, b: Numbers) -> Numbers:
        """phi(m; b)."""
        return self._map(self.core.value, m=m, b=b)

    def derivative(self, m: Numbers, b: Numbers) -> Numbers:
        """phi'(m; b); at a kink, one of the subgradients."""
        return self._map(self.core.derivative, m=m, b=b)

    def second_derivative(self, m: Numbers, b: Numbers) -> Numbers:
        """phi''(m; b), 0 where the loss is linear."""
        return self._map(self.core.second_derivative, m=m, b=b)

    def conjugate(self, y: Numbers, b: Numbers) -> Numbers:
        """phi*(y; b) = sup over m of y m - phi(m; b); infinity outside its domain."""
        return self._map(self.core.conjugate, y=y, b=b)

    def prox_conjugate(self, v: Numbers, step: Numbers, b: Numbers) -> Numbers:
        """argmin over y of phi*(y; b) + (y - v)^2 / (2 step)."""
        return self._map(self.core.maximise, m=0.0, v=v, step=_inverse(step), b=b)

    def maximise(self, m: Numbers, y0: Numbers, q: Numbers, b: Numbers) -> Numbers:
        """argmax over y of y m - phi*(y; b) - (q/2) (y - y0)^2: one dual coordinate step."""
        return self._map(self.core.maximise, m=m, y0=y0, q=_curvature(q), b=b)

    own: ClassVar[bool] = False
    """Whether it is a loss of one's own: known by values and derivatives alone, and to be examined."""

    def examine(self, b: np.ndarray, margins: np.ndarray | None = None) -> None:
        """Refuse a loss of one's own that is wrong for these targets; at these margins, if they are given."""

    @staticmethod
    def _map(function: Callable[..., Any], **arguments: Numbers) -> Numbers:
        given = [numbers(name, argument) for name, argument in arguments.items()]
        try:
            arrays = np.broadcast_arrays(*given)
        except ValueError:
            shapes = ", ".join(f"{name} {a.shape}" for name, a in zip(arguments, given, strict=True))
            raise ValueError(f"{', '.join(arguments)} must have shapes that broadcast; got {shapes}.") from None
        return function(*(np.require(a, requirements=["C", "A"]).ravel() for a in arrays)).reshape(arrays[0].shape)


def _curvature(q: Numbers) -> np.ndarray:
    values = numbers("q", q)
    if (values < 0).any():
        raise ValueError(f"q must be >= 0, or there may be no maximum; got {shown(q)}.")
    return values


def _inverse(step: Numbers) -> np.ndarray:
    """1 / step, which must be finite, because the core would return NaN for an infinite curvature."""
    steps = numbers("step", step)
    if (steps < np.finfo(np.float64).tiny).any():
        raise ValueError(f"step must be > 0, and at least {np.finfo(np.float64).tiny:.3g}; got {shown(step)}.")
    return 1.0 / steps


@dataclass(frozen=True)
class Squared(Loss):
    """(m - b)^2 / 2."""

    name: ClassVar[str] = "squared"


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-b m)), b = -1 or +1."""

    name: ClassVar[str] = "logistic"


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - b m), b = -1 or +1. Not smooth: use the dual side."""

    name: ClassVar[str] = "hinge"


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, 1 - b m)^2 / 2, b = -1 or +1."""

    name: ClassVar[str] = "squared_hinge"


@dataclass(frozen=True)
class SmoothHinge(Loss):
    """The hinge with a corner rounded over a width ``corner``: 0, (1 - bm)^2 / (2 corner), or 1 - bm - corner/2."""

    corner: float = _default("smooth_hinge")
    name: ClassVar[str] = "smooth_hinge"


@dataclass(frozen=True)
class Huber(Loss):
    """``r^2 / 2`` for ``|r| <= delta``, else ``delta |r| - delta^2 / 2``, with ``r = m - b``."""

    delta: float = _default("huber")
    name: ClassVar[str] = "huber"


@dataclass(frozen=True)
class Quantile(Loss):
    """q max(b - m, 0) + (1 - q) max(m - b, 0); q = 0.5 is half the absolute error. Not smooth."""

    q: float = _default("quantile")
    name: ClassVar[str] = "quantile"


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """``max(0, |m - b| - epsilon)``. Not smooth."""

    epsilon: float = _default("epsilon_insensitive")
    name: ClassVar[str] = "epsilon_insensitive"


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """``max(0, |m - b| - epsilon)^2 / 2``."""

    epsilon: float = _default("squared_epsilon_insensitive")
    name: ClassVar[str] = "squared_epsilon_insensitive"


@dataclass(frozen=True)
class Poisson(Loss):
    """exp(m) - b m, b >= 0: counts with a log link."""

    name: ClassVar[str] = "poisson"


@dataclass(frozen=True)
class ModifiedHuber(Loss):
    """``max(0, 1 - b m)^2`` where ``b m >= -1``, else ``-4 b m``, b = -1 or +1; scikit-learn's SGDClassifier has it."""

    name: ClassVar[str] = "modified_huber"


@dataclass(frozen=True)
class Gamma(Loss):
    """m + b exp(-m), b > 0: positive numbers with a log link, whose standard deviation is in proportion to their
    mean."""

    name: ClassVar[str] = "gamma"


@dataclass(frozen=True)
class Tweedie(Loss):
    """``exp((2 - power) m) / (2 - power) + b exp((1 - power) m) / (power - 1)``, b >= 0, 1 < power < 2: amounts that
    may be zero, with a log link and a variance in proportion to ``mean ** power``.

    Examples
    --------
    >>> import southwell as sw
    >>> sw.losses.Tweedie(1.5).derivative(0.0, [0.0, 1.0, 3.0])
    array([ 1.,  0., -2.])
    """

    power: float = _default("tweedie")
    name: ClassVar[str] = "tweedie"


@dataclass(frozen=True)
class NegativeBinomial(Loss):
    """``(b + theta) log(1 + exp(m) / theta) - b m``, b >= 0: counts with a log link and a known ``theta > 0``; the
    variance is ``mean + mean ** 2 / theta``."""

    theta: float = _default("negative_binomial")
    name: ClassVar[str] = "negative_binomial"


NOTHING = np.empty(0)


class ClassLoss(Loss):
    """Base of losses over several classes: a sample has a margin for each class, and its target is a class number.

    Tables of margins have shape (n_samples, n_classes)."""

    core = None  # type: ignore[assignment]

    def over(self, labels: np.ndarray, width: int, weights: np.ndarray, offset: np.ndarray = NOTHING) -> _core.LossSum:
        """The compiled loss over all samples; ``offset`` is a number for each of their margins, or empty."""
        return _core.class_loss(self.name, self.parameter, width, labels, weights, offset)

    @property
    def smoothness(self) -> float:
        """A bound on the second derivative, 1/gamma."""
        return self.over(np.zeros(1, np.int64), 2, np.ones(1)).smoothness

    def value(self, m: Numbers, b: Numbers) -> Numbers:
        """phi(m; b), a number for each sample."""
        table, labels = self._table("m", m, b)
        return _core.over_classes(self.name, self.parameter, table.shape[1], labels, table.ravel(), False)

    def derivative(self, m: Numbers, b: Numbers) -> Numbers:
        """phi'(m; b), a row for each sample."""
        table, labels = self._table("m", m, b)
        return self.over(labels, table.shape[1], np.ones(labels.size)).derivative(table.ravel()).reshape(table.shape)

    def second_derivative(self, m: Numbers, b: Numbers) -> Numbers:
        """phi''(m; b), a matrix for each sample."""
        table, labels = self._table("m", m, b)
        loss, k = self.over(labels, table.shape[1], np.ones(labels.size)), table.shape[1]
        y = loss.derivative(table.ravel())
        columns = [loss.bend(y, np.tile(unit, labels.size)).reshape(table.shape) for unit in np.eye(k)]
        return np.stack(columns, axis=2)

    def conjugate(self, y: Numbers, b: Numbers) -> Numbers:
        """phi*(y; b), a number for each sample; infinity outside its domain."""
        table, labels = self._table("y", y, b)
        return _core.over_classes(self.name, self.parameter, table.shape[1], labels, table.ravel(), True)

    def prox_conjugate(self, v: Numbers, step: Numbers, b: Numbers) -> Numbers:
        """argmin over y of phi*(y; b) + ||y - v||^2 / (2 step), a row for each sample."""
        (centre, labels), q = self._table("v", v, b), _inverse(_one("step", step))
        return self._step(np.zeros_like(centre), centre, q, labels)

    def maximise(self, m: Numbers, y0: Numbers, q: Numbers, b: Numbers) -> Numbers:
        """argmax over y of <y, m> - phi*(y; b) - (q/2) ||y - y0||^2: one dual block step for each sample."""
        (table, labels), centre = self._table("m", m, b), _rows("y0", y0)
        if centre.shape != table.shape:
            raise ValueError(f"m and y0 must have one shape; got {table.shape} and {centre.shape}.")
        return self._step(table, centre, _one("q", _curvature(q)), labels)

    def _step(self, table: np.ndarray, centre: np.ndarray, q: np.ndarray, labels: np.ndarray) -> np.ndarray:
        loss = self.over(labels, table.shape[1], np.ones(labels.size))
        return loss.maximise(table.ravel(), centre.ravel(), q.item()).reshape(table.shape)

    @staticmethod
    def _table(name: str, given: Given, b: Numbers) -> tuple[np.ndarray, np.ndarray]:
        table, labels = _rows(name, given), _class_numbers(b)
        if table.ndim != 2 or labels.shape != (table.shape[0],):
            raise ValueError(f"{name} needs a row for each class number in b; got {table.shape} and {labels.shape}.")
        if labels.size and (labels.min() < 0 or labels.max() >= table.shape[1]):
            raise ValueError(
                f"Class numbers b must go from 0 to {table.shape[1] - 1} here; got {labels.min()} to {labels.max()}."
            )
        return table, labels


def _rows(name: str, given: Given) -> np.ndarray:
    return np.require(np.atleast_2d(numbers(name, given)), requirements=["C", "A"])


def _one(name: str, given: Given) -> np.ndarray:
    number = numbers(name, given)
    if number.size != 1:
        raise ValueError(f"{name} must be one number, the same for all samples; got shape {number.shape}.")
    return number


def _class_numbers(b: Numbers) -> np.ndarray:
    given = b if isinstance(b, np.ndarray) and b.dtype.kind in "iub" else numbers("b", b)
    refuse_unreadable(given, "b")
    small = given.dtype.kind in "iub" or (np.abs(given) < 2**31).all()  # False for NaN
    if not small or not (given % 1 == 0).all():
        raise ValueError(f"b must be class numbers 0, 1, ...; got {shown(b)}.")
    return np.require(np.atleast_1d(np.asarray(given)), np.int64, ["C", "A"])


@dataclass(frozen=True)
class Softmax(ClassLoss):
    """log sum_c exp(m_c) - m_b: the multinomial logistic loss, b = 0, ..., n_classes - 1.

    For two classes it is the logistic loss of the difference of their margins.

    Examples
    --------
    >>> import southwell as sw
    >>> sw.losses.Softmax().value([[0.0, 0.0, 0.0]], [1]).round(4)
    array([1.0986])
    """

    name: ClassVar[str] = "softmax"


@dataclass(frozen=True)
class MulticlassHinge(ClassLoss):
    """The multi-class hinge of Crammer and Singer with rounded corners: zero if the margin of the sample's class
    exceeds all others by 1.

    With p a probability vector, max over p of ``<p - e_b, m + 1 - e_b> - (corner/2) ||p - e_b||^2``. For two
    classes it is the smooth hinge of the difference of their margins with twice the corner.
    """

    corner: float = _default("multiclass_hinge")
    name: ClassVar[str] = "multiclass_hinge"


ALL: dict[str, type[Loss]] = listed(Loss, [loss.name for loss in _core.losses()])
"""The losses of one margin, by name."""

OF_CLASSES: dict[str, type[ClassLoss]] = listed(ClassLoss, [loss.name for loss in _core.class_losses()])


from . import _own_checks  # noqa: E402
from ._own_losses import Compiled, Custom  # noqa: E402  # derived from Loss

__all__ = ["ALL", "OF_CLASSES", "ClassLoss", "Compiled", "Custom", "Loss", "get"]
__all__ += [loss.__name__ for loss in (*ALL.values(), *OF_CLASSES.values())]


def get(given: str | Loss) -> Loss:
    """The loss with this name; a Loss is returned as it is."""
    loss = resolve("loss", given, ALL | OF_CLASSES, Loss)
    if isinstance(loss, Custom):
        _own_checks.examine_form(loss)
    return loss

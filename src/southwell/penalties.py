"""Penalties on the coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from . import _core
from ._dense import numbers, plain
from ._names import positive, shown
from ._penalty import Penalty as Penalty
from ._penalty import Separable as Separable
from ._typing import Given


@dataclass(frozen=True, eq=False)
class ElasticNet(Separable):
    """``sum_j w_j (l1 |x_j| + (l2/2) x_j^2)`` with ``lower_j <= x_j <= upper_j``.

    Parameters
    ----------
    l1, l2 : float
        Strengths, >= 0; the loss is a (weighted) mean over samples.
    weights : array of shape (n_features,), optional
        Factor of each coefficient's penalty; 0 leaves it unpenalised. Default: all 1.
    lower, upper : float or array, optional
        Bounds. ``lower=0`` gives non-negative coefficients.

    Examples
    --------
    >>> import southwell as sw
    >>> sw.penalties.ElasticNet(l1=0.1, lower=0)
    ElasticNet(l1=0.1, l2=0.0, weights=None, lower=0, upper=None)
    """

    l1: float = 0.0
    l2: float = 0.0
    weights: np.ndarray | None = None
    lower: float | np.ndarray | None = None
    upper: float | np.ndarray | None = None
    leading = "l1"

    def __post_init__(self) -> None:
        for name in ("l1", "l2"):
            object.__setattr__(self, name, positive(name, getattr(self, name), zero=True))

    def core(self, n_features: int) -> _core.ElasticNet:
        """The compiled penalty over ``n_features`` coefficients, its arrays checked; an intercept is unpenalised."""
        if self.weights is None and not self.bounded:
            return _core.ElasticNet(self.l1, self.l2, np.empty(0), np.empty(0), np.empty(0), n_features)
        weights = self._array("weights", self.weights, n_features, finite=True)
        if weights.size and weights.min() < 0:
            raise ValueError(f"Penalty weights must be >= 0 (0 leaves a coefficient unpenalised); got {weights.min()}.")
        with np.errstate(over="ignore"):
            overflows = weights.size and not np.isfinite(weights.max() * max(self.l1, self.l2))
        if overflows:
            raise ValueError(
                f"weights times l1 or l2 overflows: the largest weight is {weights.max()}. Scale them down."
            )
        lower = self._array("lower", self.lower, n_features)
        upper = self._array("upper", self.upper, n_features)
        lo = lower if lower.size else np.full(n_features, -np.inf)
        hi = upper if upper.size else np.full(n_features, np.inf)
        if (lo > hi).any() or (lo == np.inf).any() or (hi == -np.inf).any():
            j = int(np.flatnonzero((lo > hi) | (lo == np.inf) | (hi == -np.inf))[0])
            raise ValueError(f"Bounds must leave room: coefficient {j} has lower={lo[j]}, upper={hi[j]}.")
        return _core.ElasticNet(self.l1, self.l2, weights, lower, upper, n_features)

    def by_coefficient(self, n_features: int, intercept: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """l1, l2 and both bounds of each coefficient; an intercept, the last, has no penalty and no bounds."""

        def each(given: Given, default: float, free: float) -> np.ndarray:
            return np.append(np.broadcast_to(default if given is None else given, n_features), [free] * intercept)

        weights = each(self.weights, 1.0, 0.0)
        lower, upper = each(self.lower, -np.inf, -np.inf), each(self.upper, np.inf, np.inf)
        return weights * self.l1, weights * self.l2, lower, upper

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.lower is not None or self.upper is not None

    @property
    def kinked(self) -> bool:
        return self.l1 > 0

    @property
    def ridge(self) -> float:
        return self.l2

    @property
    def quadratic(self) -> bool:
        return self.smooth and self.strongly_convex

    @property
    def excludes_zero(self) -> bool:
        lower, upper = (0.0 if bound is None else bound for bound in (self.lower, self.upper))
        return bool(np.any(np.asarray(lower) > 0) or np.any(np.asarray(upper) < 0))

    @property
    def kinks(self) -> ElasticNet:
        return ElasticNet(l1=1.0, weights=self.weights)

    def unpenalised(self, n_features: int) -> np.ndarray:
        return np.asarray(self.factors(n_features) == 0)

    def ridges(self, n_features: int) -> np.ndarray:
        return self.by_coefficient(n_features, False)[1]

    @property
    def least_l2(self) -> float:
        """The smallest l2 of a coefficient."""
        return self.l2 * (1.0 if self.weights is None else float(np.min(self.weights)))

    def over_blocks(self, n_features: int, width: int) -> _core.Groups:
        """The compiled penalty for ``width`` coefficients per feature."""
        if self.bounded:
            raise ValueError(
                "Bounds are for problems with one coefficient a feature; this one has several, or groups. Leave "
                "lower and upper out."
            )
        weights = self.factors(n_features)
        if weights.min() <= 0:
            raise ValueError(
                f"With several coefficients a feature, penalty weights must be > 0; got {weights.min()}. Every "
                "feature must be penalised: give it a small weight."
            )
        return _compiled(n_features, width, np.arange(n_features), weights, 0.0, self.l1, self.l2)

    def value(self, x: np.ndarray) -> float:
        """What these coefficients, a vector or a table with a row for each feature, cost, the bounds apart."""
        weighed = self.factors(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1)) * x
        # The square may overflow where it does not count.
        square = self.l2 / 2 * (weighed.ravel() @ x.ravel()) if self.l2 > 0 else 0.0
        return float(self.l1 * np.abs(weighed).sum() + square)

    def factors(self, n_features: int) -> np.ndarray:
        """The weight of each feature."""
        weights = self._array("weights", self.weights, n_features, finite=True)
        return weights if weights.size else np.ones(n_features)

    def settled(self, n_features: int) -> ElasticNet:
        """Itself: there are no groups to read."""
        return self

    def at(self, strength: float, l2: float) -> ElasticNet:
        """The same penalty with ``l1=strength`` and another l2."""
        return replace(self, l1=strength, l2=l2)

    def vanishing(self, slopes: np.ndarray) -> float:
        """The smallest l1 at which penalised coefficients are zero, from their slopes at zero (a row a feature)."""
        weights = self.factors(slopes.shape[0])
        held = weights > 0
        with np.errstate(over="ignore"):
            strength = float((np.abs(slopes[held]) / weights[held, None]).max(initial=0.0))
        return _representable(strength, weights[held])

    @staticmethod
    def _array(name: str, given: Given, size: int, finite: bool = False, each: str = "feature") -> np.ndarray:
        if given is None:
            return np.empty(0)
        values = numbers(name, given)
        if values.ndim > 1 or (values.ndim == 1 and values.size != size):
            raise ValueError(f"{name} must be one number or {size} (one a {each}); got shape {values.shape}.")
        if np.isnan(values).any() or (finite and not np.isfinite(values).all()):
            advice = "finite numbers" if finite else "numbers, or infinity for no bound"
            raise ValueError(f"{name} contains NaN{' or infinity' if finite else ''}. Give {advice}.")
        return np.ascontiguousarray(np.broadcast_to(values, (size,)))


@dataclass(frozen=True, eq=False)
class Groups(Penalty):
    """``sum_g w_g strength ||X_g|| + l1 ||X||_1 + (l2/2) ||X||^2`` over groups g of features.

    The group lasso, which makes whole groups zero; with l1 > 0 the sparse group lasso, which has zeros inside groups
    too; l2 adds a ridge penalty. If a feature has several coefficients, one for each task or class, all of them are in
    the group of the feature: with ``groups=None``, a group for each feature, whole rows of the coefficient matrix
    become zero (L2,1 norm).

    Parameters
    ----------
    strength, l1, l2 : float
        Strengths, >= 0; the loss is a (weighted) mean over samples.
    groups : None, array of shape (n_features,) or list of arrays
        A label for each feature; or the features of each group, every feature in exactly one. None: one group each.
    weights : array of shape (n_groups,) or "size", optional
        Factors w_g > 0, in the order of the groups (of sorted labels); "size" takes the square roots of their sizes.
        Default: all 1.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(100, 6))
    >>> b = A[:, 2] + A[:, 3]
    >>> r = sw.solve(A, b, penalty=sw.penalties.Groups(0.5, groups=[[0, 1], [2, 3], [4, 5]]))
    >>> (r.x != 0).tolist()
    [False, False, True, True, False, False]
    """

    strength: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    groups: object = None
    weights: np.ndarray | str | None = None
    bounded = False

    def __post_init__(self) -> None:
        for name in ("strength", "l1", "l2"):
            object.__setattr__(self, name, positive(name, getattr(self, name), zero=True))

    @property
    def leading(self) -> str:  # type: ignore[override]
        return "l1" if self.strength == 0 and self.l1 > 0 else "strength"

    def settled(self, n_features: int) -> Groups:
        """The same penalty with the number of each feature's group as labels: lists of features take long to check."""
        if self.groups is None:
            return self
        group_of = self.group_of(n_features)
        return replace(self, groups=group_of, weights=self.factors(np.bincount(group_of)))

    def at(self, strength: float, l2: float) -> Groups:
        """The same penalty with another strength, l1 in the same proportion to it, and another l2. Where there is an
        l1 alone, ``strength`` is that of l1."""
        if self.leading == "l1":
            return replace(self, l1=strength, l2=l2)
        l1 = self.l1 / self.strength * strength if self.l1 > 0 else 0.0
        return replace(self, strength=strength, l1=l1, l2=l2)

    def vanishing(self, slopes: np.ndarray) -> float:
        """The smallest strength, l1 in proportion, at which all coefficients are zero, from their slopes at zero (a row
        a feature).

        Group g is zero from the root of ``f(s) = ||(|z_g| - s r)_+|| - s w_g`` on, with r the ratio of l1 to the
        strength. f is convex and decreasing, so Newton's method from 0 approaches its root from the left.
        """
        sizes = np.abs(slopes)
        top = float(sizes.max(initial=0.0))
        if top == 0 or self.leading == "l1":
            return top
        sizes, group_of = sizes / top, self.group_of(slopes.shape[0])
        weights = self.factors(np.bincount(group_of))
        ratio = self.l1 / self.strength if self.l1 > 0 else 0.0
        roots = np.zeros(weights.size)
        with np.errstate(over="ignore", invalid="ignore"):  # the result is checked
            for _ in range(100):
                over = np.maximum(sizes - ratio * roots[group_of, None], 0.0)
                norms = np.sqrt(np.bincount(group_of, (over**2).sum(axis=1)))
                sums = np.bincount(group_of, over.sum(axis=1))
                falls = weights + ratio * np.divide(sums, norms, out=np.zeros_like(norms), where=norms > 0)
                further = np.maximum(roots, roots + (norms - weights * roots) / falls)
                if (further == roots).all():
                    break
                roots = further
            strength = float(top * roots.max())
        return _representable(strength, weights)

    @property
    def kinked(self) -> bool:
        return self.strength > 0 or self.l1 > 0

    @property
    def ridge(self) -> float:
        return self.l2

    @property
    def least_l2(self) -> float:
        return self.l2

    def group_of(self, n_features: int) -> np.ndarray:
        """The number of each feature's group."""
        if self.groups is None:
            return np.arange(n_features)
        if isinstance(self.groups, str | bytes) or sp.issparse(self.groups) or not np.iterable(self.groups):
            raise TypeError(
                f"groups must be a label for each of the {n_features} features, or lists of features; got "
                f"{shown(self.groups)}."
            )
        if isinstance(self.groups, np.ndarray) and self.groups.dtype.kind in "iufbU":
            return _from_labels(self.groups, n_features)
        given = list(self.groups)
        listed = [np.iterable(one) and not isinstance(one, str | bytes) for one in given]
        if any(listed) and not listed[0]:
            raise ValueError(f"groups must be labels or lists of features, not both; got {shown(self.groups)}.")
        return _from_lists(given, n_features) if any(listed) else _from_labels(given, n_features)

    def over_blocks(self, n_features: int, width: int) -> _core.Groups:
        """The compiled penalty over ``width`` coefficients a feature, its groups checked."""
        group_of = self.group_of(n_features)
        sizes = np.bincount(group_of)
        weights = self.factors(sizes)
        if self.absent:
            raise ValueError("Groups needs a penalty: strength, l1 or l2 > 0.")
        return _compiled(n_features, width, group_of, weights, self.strength, 0.0, 0.0, self.l1, self.l2)

    def factors(self, sizes: np.ndarray) -> np.ndarray:
        """The weight of each group."""
        if isinstance(self.weights, str):
            if self.weights != "size":
                raise ValueError(
                    f"weights must be 'size' or {sizes.size} numbers, one a group; got {shown(self.weights)}."
                )
            return np.asarray(np.sqrt(sizes))
        weights = ElasticNet._array("weights", self.weights, sizes.size, finite=True, each="group")
        weights = weights if weights.size else np.ones(sizes.size)
        if weights.min() <= 0:
            raise ValueError(
                f"Group weights must be > 0; got {weights.min()}. Every group must be penalised: give it a "
                "small weight."
            )
        return weights

    def value(self, x: np.ndarray) -> float:
        """The penalty at these coefficients."""
        group_of = self.group_of(x.shape[0])
        with np.errstate(over="ignore"):  # infinite then
            squares = np.bincount(group_of, (x**2).reshape(x.shape[0], -1).sum(axis=1))
            by_group = (self.factors(np.bincount(group_of)) * self.strength) @ np.sqrt(squares)
            return float(by_group + self.l1 * np.abs(x).sum() + self.l2 / 2 * (x**2).sum())


def _representable(strength: float, weights: np.ndarray) -> float:
    if not np.isfinite(strength):
        raise ValueError(
            f"No finite strength makes all coefficients zero: the smallest penalty weight is {weights.min():.3g}. Give "
            "larger weights, or 0 where a coefficient is not to be penalised."
        )
    return strength


def _from_labels(given: Given, n_features: int) -> np.ndarray:
    words = [isinstance(label, str) for label in given] if isinstance(given, list) else [False]
    if any(words) and not all(words):
        raise TypeError("groups must be labels of one kind: make them all strings, or all numbers.")
    labels = np.asarray(given)
    if labels.shape != (n_features,):
        raise ValueError(
            f"groups must be a label for each of the {n_features} features, or lists of features; got shape "
            f"{labels.shape}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("groups contains NaN or infinity; every feature needs a label.")
    if labels.dtype.kind == "O" and len({type(label) for label in labels}) > 1:
        raise TypeError("groups must be labels of one kind: make them all strings, or all numbers.")
    if labels.dtype.kind == "O" and labels[0] is None:
        raise TypeError("groups must have a label for every feature; got None.")
    if labels.dtype.kind in "iu" and labels.min() == 0 and labels.max() < n_features:
        numbered = labels.astype(np.int64, copy=False)
        if np.bincount(numbered).all():  # they are numbers of groups already
            return numbered
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def _from_lists(given: Given, n_features: int) -> np.ndarray:
    group_of = np.full(n_features, -1)
    for g, members in enumerate(given):
        features = plain(f"Group {g}", members)
        if features.ndim != 1 or features.dtype.kind not in "iu" or features.size == 0:
            raise ValueError(f"Group {g} must be a list of features, at least one; got {shown(members)}.")
        if features.min() < 0 or features.max() >= n_features:
            raise ValueError(
                f"Group {g} has feature {features[(features < 0) | (features >= n_features)][0]}; there are 0 to "
                f"{n_features - 1}."
            )
        taken = features[group_of[features] >= 0]
        twice = taken if taken.size else np.flatnonzero(np.bincount(features) > 1)
        if twice.size:
            raise ValueError(
                f"Feature {twice[0]} is in more than one group, or twice in group {g}. Groups must not overlap: repeat "
                "the column once for each group it is in (latent overlapping group lasso), or leave it in one."
            )
        group_of[features] = g
    if (group_of < 0).any():
        missing = np.flatnonzero(group_of < 0)
        raise ValueError(
            f"{missing.size} features are in no group, the first is {missing[0]}. Every feature must be in one; a "
            "group of its own is a plain lasso on it."
        )
    return group_of


def _compiled(n_features: int, width: int, group_of: np.ndarray, weights: np.ndarray, *factors: float) -> _core.Groups:
    """The first three factors (strength, l1, l2) are multiplied by the weights; further ones are added to l1 and l2."""
    strength, l1, l2, more_l1, more_l2 = (*factors, 0.0, 0.0)[:5]
    with np.errstate(over="ignore"):
        strengths, l1s, l2s = weights * strength, weights * l1 + more_l1, weights * l2 + more_l2
    if not all(np.isfinite(values).all() for values in (strengths, l1s, l2s)):
        raise ValueError(f"The strength times the weights overflows: the largest weight is {weights.max()}.")
    order = np.argsort(group_of, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(group_of))])
    return _core.Groups(width, order.astype(np.int64), starts.astype(np.int64), strengths, l1s, l2s, n_features)

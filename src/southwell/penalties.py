"""Penalties on the coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from . import _core
from ._dense import numbers
from ._groups import compiled, numbers_of_groups
from ._names import flag, shown
from ._names import positive as at_least_zero
from ._penalty import Penalty as Penalty
from ._penalty import Separable as Separable
from ._penalty import counted, one_each, representable
from ._typing import Given


@dataclass(frozen=True, eq=False)
class ElasticNet(Separable):
    """``sum_j w_j l1 |x_j| + r_j (l2/2) x_j^2`` with ``lower_j <= x_j <= upper_j``.

    Parameters
    ----------
    l1, l2 : float
        Strengths, >= 0; the loss is a (weighted) mean over samples.
    weights : array of shape (n_features,), optional
        Factor of each coefficient's penalty; 0 leaves it unpenalised. Default: all 1.
    lower, upper : float or array, optional
        Bounds; ``lower=0`` gives non-negative coefficients. In problems with several targets or classes the bounds of a
        feature hold for all its coefficients, and must contain zero.
    ridge_weights : array of shape (n_features,), optional
        The factors r_j of the squares. Default: those of ``weights``.

    Examples
    --------
    >>> import southwell as sw
    >>> sw.penalties.ElasticNet(l1=0.1, lower=0)
    ElasticNet(l1=0.1, l2=0.0, weights=None, lower=0, upper=None, ridge_weights=None)
    """

    l1: float = 0.0
    l2: float = 0.0
    weights: np.ndarray | None = None
    lower: float | np.ndarray | None = None
    upper: float | np.ndarray | None = None
    ridge_weights: np.ndarray | None = None
    leading = "l1"

    def __post_init__(self) -> None:
        for name in ("l1", "l2"):
            object.__setattr__(self, name, at_least_zero(name, getattr(self, name), zero=True))

    def core(self, n_features: int) -> _core.ElasticNet:
        """The compiled penalty over ``n_features`` coefficients, its arrays checked; an intercept is unpenalised."""
        none = np.empty(0)
        if self.weights is None and self.ridge_weights is None and not self.bounded:
            return _core.ElasticNet(self.l1, self.l2, none, none, none, none, n_features)
        weights, ridges = self._weights("weights", n_features), self._weights("ridge_weights", n_features)
        for own, strength in ((weights, max(self.l1, self.l2)), (ridges, self.l2)):
            with np.errstate(over="ignore"):
                overflows = own.size and not np.isfinite(own.max() * strength)
            if overflows:
                raise ValueError(
                    f"weights times l1 or l2 overflows: the largest weight is {own.max()}. Scale them down."
                )
        lower, upper = self.bounds(n_features)
        low, high = none if self.lower is None else lower, none if self.upper is None else upper
        return _core.ElasticNet(self.l1, self.l2, weights, ridges, low, high, n_features)

    def bounds(self, n_features: int) -> tuple[np.ndarray, np.ndarray]:
        """Those of each feature, checked."""
        lower, upper = one_each("lower", self.lower, n_features), one_each("upper", self.upper, n_features)
        lower = lower if lower.size else np.full(n_features, -np.inf)
        upper = upper if upper.size else np.full(n_features, np.inf)
        tight = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
        if tight.any():
            j = int(np.flatnonzero(tight)[0])
            raise ValueError(f"Bounds must leave room: coefficient {j} has lower={lower[j]}, upper={upper[j]}.")
        return lower, upper

    def by_coefficient(self, n_features: int, intercept: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """l1, l2 and both bounds of each coefficient; an intercept, the last, has no penalty and no bounds."""

        def each(given: Given, default: float, free: float) -> np.ndarray:
            return np.append(np.broadcast_to(default if given is None else given, n_features), [free] * intercept)

        weights = each(self.weights, 1.0, 0.0)
        ridges = weights if self.ridge_weights is None else each(self.ridge_weights, 1.0, 0.0)
        lower, upper = each(self.lower, -np.inf, -np.inf), each(self.upper, np.inf, np.inf)
        return weights * self.l1, ridges * self.l2, lower, upper

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        below = self.lower is not None and bool(np.any(numbers("lower", self.lower) != -np.inf))
        return below or self._bounded_above

    @property
    def _bounded_above(self) -> bool:
        return self.upper is not None and bool(np.any(numbers("upper", self.upper) != np.inf))

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
        own = self.weights if self.ridge_weights is None else self.ridge_weights
        return self.l2 * (1.0 if own is None else float(np.min(own)))

    def over_blocks(self, n_features: int, width: int) -> _core.Groups:
        """The compiled penalty for ``width`` coefficients per feature."""
        lower, upper = self.bounds(n_features)
        if self.excludes_zero:
            j = int(np.flatnonzero((lower > 0) | (upper < 0))[0])
            raise ValueError(
                "With several coefficients a feature, bounds must contain zero, because a feature is in the model or "
                f"not with all of them; feature {j} has lower={lower[j]}, upper={upper[j]}. Widen them, or solve for "
                "one target at a time."
            )
        with np.errstate(over="ignore"):  # refused with the others
            squares = self._ridge_factors(n_features) * self.l2
        return compiled(
            n_features, width, np.arange(n_features), self.factors(n_features), 0.0, self.l1, 0.0, 0.0, squares,
            lower=lower, upper=upper,
        )  # fmt: skip

    def value(self, x: np.ndarray) -> float:
        """What these coefficients, a vector or a table with a row for each feature, cost, the bounds apart."""
        sizes, squares = (
            own(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1)) * x for own in (self.factors, self._ridge_factors)
        )
        with np.errstate(over="ignore"):
            # The square may overflow where it does not count.
            square = self.l2 / 2 * (squares.ravel() @ x.ravel()) if self.l2 > 0 else 0.0
            return float(self.l1 * np.abs(sizes).sum() + square)

    def factors(self, n_features: int) -> np.ndarray:
        """The weight of each feature."""
        weights = self._weights("weights", n_features)
        return weights if weights.size else np.ones(n_features)

    def _ridge_factors(self, n_features: int) -> np.ndarray:
        weights = self._weights("ridge_weights", n_features)
        return weights if weights.size else self.factors(n_features)

    def _weights(self, name: str, n_features: int) -> np.ndarray:
        weights = one_each(name, getattr(self, name), n_features, finite=True)
        if weights.size and weights.min() < 0:
            raise ValueError(f"Penalty weights must be >= 0 (0 leaves a coefficient unpenalised); got {weights.min()}.")
        return weights

    def over(self, features: np.ndarray) -> Self:
        def part(given: Given) -> Given:
            return given if np.ndim(given) == 0 else np.asarray(given)[features]

        names = ("weights", "lower", "upper", "ridge_weights")
        return replace(self, **{name: part(getattr(self, name)) for name in names})

    def settled(self, n_features: int) -> ElasticNet:
        """Itself: there are no groups to read."""
        return self

    def at(self, strength: float, l2: float) -> ElasticNet:
        """The same penalty with ``l1=strength`` and another l2."""
        return replace(self, l1=strength, l2=l2)

    def vanishing(self, slopes: np.ndarray) -> float:
        """The smallest l1 at which penalised coefficients are zero, from their slopes at zero (a row a feature)."""
        weights, held = self.factors(slopes.shape[0]), ~self.unpenalised(slopes.shape[0])
        with np.errstate(over="ignore"):
            lower, upper = (bound[held, None] for bound in self.bounds(slopes.shape[0]))
            strength = float((counted(slopes[held], lower, upper) / weights[held, None]).max(initial=0.0))
        return representable(strength, weights[held])


@dataclass(frozen=True, eq=False)
class GroupPenalty(Penalty):
    """Base of penalties on groups, ``sum_g w_g strength N(X_g) + l1 ||X||_1 + (l2/2) ||X||^2``; ``positive``: X >= 0.

    A subclass gives the name that its norm N has in the core, and computes norms and dual norms of all groups at once.
    """

    strength: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    groups: object = None
    weights: np.ndarray | str | None = None
    positive: bool = False
    norm: ClassVar[str]

    def __post_init__(self) -> None:
        for name in ("strength", "l1", "l2"):
            object.__setattr__(self, name, at_least_zero(name, getattr(self, name), zero=True))
        object.__setattr__(self, "positive", flag("positive", self.positive))

    @staticmethod
    def norms(x: np.ndarray, group_of: np.ndarray) -> np.ndarray:
        """N of the coefficients of each group; x has a row for each feature."""
        raise NotImplementedError

    @staticmethod
    def dual_norms(w: np.ndarray, group_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The dual norm of each group of w >= 0, and how fast it falls if each number > 0 falls at rate one."""
        raise NotImplementedError

    @property
    def leading(self) -> str:  # type: ignore[override]
        return "l1" if self.strength == 0 and self.l1 > 0 else "strength"

    def settled(self, n_features: int) -> Self:
        """The same penalty with the number of each feature's group as labels: lists of features take long to check."""
        if self.groups is None:
            return self
        group_of = self.group_of(n_features)
        return replace(self, groups=group_of, weights=self.factors(np.bincount(group_of)))

    def at(self, strength: float, l2: float) -> Self:
        """With another strength, l1 in proportion to it, and another l2. Of an l1 alone, ``strength`` is the l1."""
        if self.leading == "l1":
            return replace(self, l1=strength, l2=l2)
        l1 = self.l1 / self.strength * strength if self.l1 > 0 else 0.0
        return replace(self, strength=strength, l1=l1, l2=l2)

    def unpenalised(self, n_features: int) -> np.ndarray:
        if self.l1 > 0:
            return np.zeros(n_features, bool)
        group_of = self.group_of(n_features)
        return np.asarray((self.factors(np.bincount(group_of)) == 0)[group_of])

    def vanishing(self, slopes: np.ndarray) -> float:
        """The smallest strength, l1 in proportion, at which all coefficients that have a kink are zero, from their
        slopes at zero (a row a feature).

        Group g is zero from the root of ``f(s) = N*((|z_g| - s r)_+) - s w_g`` on, with N* the dual norm and r the
        ratio of l1 to the strength; if ``positive``, ``-z_g`` stands for ``|z_g|``. f is convex and decreasing, so
        Newton's method from 0 approaches its root from the left.
        """
        sizes = np.where(self.unpenalised(slopes.shape[0])[:, None], 0.0, counted(slopes, self.lower))
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
                norms, rates = self.dual_norms(over, group_of)
                falls, over = weights + ratio * rates, np.maximum(norms - weights * roots, 0.0)
                further = roots + np.divide(over, falls, out=np.zeros_like(over), where=over > 0)
                if (further == roots).all():
                    break
                roots = further
            strength = float(top * roots.max())
        return representable(strength, weights[weights > 0])

    @property
    def kinked(self) -> bool:
        return self.strength > 0 or self.l1 > 0

    @property
    def ridge(self) -> float:
        return self.l2

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.positive

    @property
    def lower(self) -> float:
        """The bound of every coefficient."""
        return 0.0 if self.positive else -np.inf

    def bounds(self, n_features: int) -> tuple[np.ndarray, np.ndarray]:
        """Those of each feature."""
        return np.full(n_features, self.lower), np.full(n_features, np.inf)

    @property
    def least_l2(self) -> float:
        return self.l2

    def group_of(self, n_features: int) -> np.ndarray:
        """The number of each feature's group."""
        return np.arange(n_features) if self.groups is None else numbers_of_groups(self.groups, n_features)

    def over_blocks(self, n_features: int, width: int) -> _core.Groups:
        """The compiled penalty over ``width`` coefficients a feature, its groups checked."""
        group_of, factors = self.group_of(n_features), (self.strength, 0.0, 0.0, self.l1, self.l2)
        weights = self.factors(np.bincount(group_of))
        return compiled(n_features, width, group_of, weights, *factors, norm=self.norm, lower=self.lower)

    def factors(self, sizes: np.ndarray) -> np.ndarray:
        """The weight of each group."""
        if isinstance(self.weights, str):
            if self.weights != "size":
                raise ValueError(
                    f"weights must be 'size' or {sizes.size} numbers, one a group; got {shown(self.weights)}."
                )
            return np.asarray(np.sqrt(sizes))
        weights = one_each("weights", self.weights, sizes.size, finite=True, each="group")
        weights = weights if weights.size else np.ones(sizes.size)
        if weights.min() < 0:
            raise ValueError(
                f"Group weights must be >= 0 (0 leaves a group without the strength); got {weights.min()}."
            )
        return weights

    def value(self, x: np.ndarray) -> float:
        """The penalty at these coefficients."""
        group_of = self.group_of(x.shape[0])
        with np.errstate(over="ignore"):  # infinite then
            norms = self.norms(x.reshape(x.shape[0], -1), group_of)
            by_group = (self.factors(np.bincount(group_of)) * self.strength) @ norms
            return float(by_group + self.l1 * np.abs(x).sum() + self.l2 / 2 * (x**2).sum())


@dataclass(frozen=True, eq=False)
class Groups(GroupPenalty):
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
        Factors w_g >= 0, in the order of the groups (of sorted labels); "size" takes the square roots of their sizes.
        A group of weight 0 is unpenalised, unless there is an l1 or l2. Default: all 1.
    positive : bool
        Allow only coefficients >= 0.

    See Also
    --------
    MaxGroups : the same with the largest coefficient of a group in the place of the Euclidean norm.

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

    norm = "euclidean"

    @staticmethod
    def norms(x: np.ndarray, group_of: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(np.bincount(group_of, (x**2).sum(axis=1))))

    @staticmethod
    def dual_norms(w: np.ndarray, group_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        norms, sums = Groups.norms(w, group_of), np.bincount(group_of, w.sum(axis=1))
        return norms, np.divide(sums, norms, out=np.zeros_like(norms), where=norms > 0)


@dataclass(frozen=True, eq=False)
class MaxGroups(GroupPenalty):
    """``sum_g w_g strength max |X_g| + l1 ||X||_1 + (l2/2) ||X||^2`` over groups g of features.

    The L1/L-infinity penalty: groups become zero as a whole, as with ``Groups``, and within a group several
    coefficients reach the same largest size, which alone is penalised: the others are free up to it. Choose it where
    the features of a group act together and about equally.

    Parameters
    ----------
    strength, l1, l2, groups, weights, positive
        As for ``Groups``; ``weights="size"`` takes the square roots of the sizes of groups.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(100, 6))
    >>> b = A[:, 2] + 1.2 * A[:, 3]
    >>> r = sw.solve(A, b, penalty=sw.penalties.MaxGroups(0.5, groups=[[0, 1], [2, 3], [4, 5]]))
    >>> bool(r.x[2] == r.x[3]), (r.x != 0).tolist()
    (True, [False, False, True, True, False, False])
    """

    norm = "maximum"

    @staticmethod
    def norms(x: np.ndarray, group_of: np.ndarray) -> np.ndarray:
        most = np.zeros(group_of.max() + 1)
        np.maximum.at(most, group_of, np.abs(x).max(axis=1))
        return most

    @staticmethod
    def dual_norms(w: np.ndarray, group_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.bincount(group_of, w.sum(axis=1)), np.bincount(group_of, (w > 0).sum(axis=1)).astype(float)

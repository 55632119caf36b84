"""A problem as plain arrays: solver and oracles get the same numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

import southwell as sw
from southwell.penalties import Groups, MaxGroups

NORMS = {kind.norm: kind for kind in (Groups, MaxGroups)}
LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "CSR": sp.csr_array, "CSC": sp.csc_array}


@dataclass(frozen=True, eq=False)
class Penalty:
    """An elastic net with arrays; or groups, with ``strength``, a norm and weights for each group, and perhaps a lower
    bound of zero."""

    l1: float = 0.0
    l2: float = 0.0
    weights: np.ndarray | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    strength: float = 0.0
    groups: np.ndarray | None = None
    norm: str = Groups.norm
    ridge_weights: np.ndarray | None = None

    def southwell(self):
        if self.groups is not None:
            sign = self.lower is not None
            return NORMS[self.norm](self.strength, self.l1, self.l2, self.groups, self.weights, sign)
        return sw.penalties.ElasticNet(self.l1, self.l2, self.weights, self.lower, self.upper, self.ridge_weights)

    def columns(self, order: np.ndarray) -> Penalty:
        def taken(values):
            return None if values is None else values[order]

        if self.groups is not None:
            return replace(self, groups=self.groups[order], lower=taken(self.lower))
        own = {name: taken(getattr(self, name)) for name in ("weights", "lower", "upper", "ridge_weights")}
        return replace(self, **own)


@dataclass(frozen=True, eq=False)
class Statement:
    """The data as factors (a single one is the matrix itself), and the other parts of a problem."""

    factors: tuple[np.ndarray, ...]  # dense, of the dtype the solver sees
    b: np.ndarray
    loss: sw.losses.Loss
    penalty: Penalty
    intercept: bool = False
    weights: np.ndarray | None = None
    centred: bool = False
    means: np.ndarray | None = None  # None: the weighted means of the columns
    layout: str = "C"
    wide_indices: bool = False
    words: tuple[str, ...] = ()  # how it was drawn
    offset: np.ndarray | None = None  # a number for each row, or for each of its targets

    @property
    def shape(self) -> tuple[int, int]:
        return self.factors[0].shape[0], self.factors[-1].shape[1]

    @property
    def blocks(self) -> bool:
        return self.width > 1 or self.of_classes or self.penalty.groups is not None

    @property
    def of_classes(self) -> bool:
        return isinstance(self.loss, sw.losses.ClassLoss)

    @property
    def width(self) -> int:
        if self.of_classes:
            return int(self.b.max()) + 1
        return 1 if self.b.ndim == 1 else self.b.shape[1]

    def _laid_out(self, matrix: np.ndarray):
        made = LAYOUTS[self.layout](matrix)
        if self.wide_indices and sp.issparse(made):
            made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
        return made

    def data(self):
        """A as the solver is given it."""
        laid_out = [self._laid_out(factor) for factor in self.factors]
        A = laid_out[0] if len(laid_out) == 1 else sw.Factorised(*laid_out)
        return sw.Centred(A, self.means) if self.centred else A

    def problem(self):
        kind = sw.BlockProblem if self.blocks else sw.Problem
        return kind(self.data(), self.b, self.loss, self.penalty.southwell(), intercept=self.intercept,
                    sample_weight=self.weights, offset=self.offset)  # fmt: skip

    def __str__(self) -> str:
        n, d = self.shape
        kind = {1: "matrix", 2: "factorised"}[len(self.factors)]
        data = f"{n} x {d} {'centred ' if self.centred else ''}{kind} {self.layout} {self.factors[0].dtype}"
        parts = [data, str(self.loss), f"width {self.width}", *self.words]
        p = self.penalty
        parts.append(
            f"l1={p.l1:.3g} l2={p.l2:.3g}" + (f" strength={p.strength:.3g} {p.norm}" if p.groups is not None else "")
        )
        parts += [name for name in ("weights", "ridge_weights", "lower", "upper") if getattr(p, name) is not None]
        parts += ["intercept"] * self.intercept + ["sample weights"] * (self.weights is not None)
        parts += ["offset"] * (self.offset is not None)
        return ", ".join(parts)


# Changes that keep the optimal value exactly: numbers are moved, repeated, or scaled by powers of two.


def rows_permuted(s: Statement, rng) -> Statement:
    return _rows(s, rng.permutation(s.shape[0]))


def columns_permuted(s: Statement, rng) -> Statement:
    order = rng.permutation(s.shape[1])
    means = None if s.means is None else s.means[order]
    return replace(s, factors=(*s.factors[:-1], s.factors[-1][:, order]), means=means, penalty=s.penalty.columns(order))


def rescaled(s: Statement, rng) -> Statement:
    """A 2^k and x / 2^k."""
    factor = 2.0 ** int(rng.integers(-6, 7))
    p, means = s.penalty, None if s.means is None else s.means * factor
    lower, upper = (None if bound is None else bound / factor for bound in (p.lower, p.upper))
    penalty = replace(p, l1=p.l1 * factor, l2=p.l2 * factor**2, strength=p.strength * factor, lower=lower, upper=upper)
    last = (s.factors[-1] * np.asarray(factor, s.factors[-1].dtype),)
    return replace(s, factors=(*s.factors[:-1], *last), means=means, penalty=penalty)


def row_split(s: Statement, rng) -> Statement:
    """A row becomes two of half its weight."""
    n, i = s.shape[0], int(rng.integers(s.shape[0]))
    weights = np.append(np.ones(n) if s.weights is None else s.weights, 0.0)
    weights[[i, n]] = weights[i] / 2
    return replace(_rows(s, np.append(np.arange(n), i)), weights=weights)


def data_doubled(s: Statement, rng) -> Statement:
    return _rows(s, np.tile(np.arange(s.shape[0]), 2))


def zero_columns_added(s: Statement, rng) -> Statement:
    """Two columns of zeros with a penalty, whose optimal coefficients are zero."""
    p, d = s.penalty, s.shape[1]

    def padded(values, by: float):
        return None if values is None else np.append(values, [by, by])

    if p.groups is not None:
        weights = None if p.weights is None else np.append(p.weights, 1.0)
        groups = np.append(p.groups, [p.groups.max() + 1] * 2)
        penalty = replace(p, groups=groups, weights=weights, lower=padded(p.lower, 0.0))
    else:
        own = {"weights": 1.0, "ridge_weights": 1.0, "lower": 0.0, "upper": 1.0}
        penalty = replace(p, **{name: padded(getattr(p, name), by) for name, by in own.items()})
    last = s.factors[-1]
    wider = np.concatenate([last, np.zeros((last.shape[0], 2), last.dtype)], axis=1)
    means = None if s.means is None else np.append(s.means, [0.0, 0.0])
    assert wider.shape[1] == d + 2
    return replace(s, factors=(*s.factors[:-1], wider), penalty=penalty, means=means)


def laid_out_otherwise(s: Statement, rng) -> Statement:
    """Another layout, and float64 instead of float32."""
    others = [name for name in LAYOUTS if name != s.layout]
    factors = tuple(factor.astype(np.float64) for factor in s.factors)
    return replace(s, layout=others[int(rng.integers(len(others)))], factors=factors)


CHANGES = (rows_permuted, columns_permuted, rescaled, row_split, data_doubled, zero_columns_added, laid_out_otherwise)


def _rows(s: Statement, order: np.ndarray) -> Statement:
    weights, offset = (None if given is None else given[order] for given in (s.weights, s.offset))
    return replace(s, factors=(s.factors[0][order], *s.factors[1:]), b=s.b[order], weights=weights, offset=offset)

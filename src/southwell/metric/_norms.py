"""Norms of the rows of a matrix problem, and how much they overlap. Step sizes are computed from them.

Row i is sqrt(n s_i) (D_i^1 / sqrt(l2_1), ..., D_i^p / sqrt(l2_p)): weights go to the rows, and blocks of different l2
become blocks of l2 = 1 (the variables are sqrt(l2_j) X_j).
"""

from __future__ import annotations

import threading
from functools import cached_property

import numpy as np

from ._draws import drawn
from ._workers import ALONE, Workers

TINY = np.finfo(float).tiny ** 0.5


class Norms:
    """Norms of rows, of parts and of the whole; each is computed when first needed, and kept."""

    DRAWS, MARGIN = 4, 1.5

    def __init__(self, data, weights: np.ndarray, l2: np.ndarray):
        self.data, self.l2 = data, l2
        self.roots = np.sqrt(weights.size * weights)
        self._known: dict[object, float] = {}
        self._lock = threading.RLock()

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state, _lock=threading.RLock())

    @cached_property
    def _squares(self):
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self.data.squares
            scaled = squares.multiply(self.roots[:, None] ** 2).multiply(1 / self.l2[None, :]).tocsr()
            total = np.sum(scaled.data)
        if not np.isfinite(np.sum(squares.data)):
            raise ValueError("The squares of D overflow. Scale D down.")
        if not np.isfinite(total):
            raise ValueError(
                f"The squares of D divided by l2 overflow: the least l2 is {self.l2.min():.3g}, and D has norms up to "
                f"{np.sqrt(squares.max()):.3g}. Raise l2, or scale D down."
            )
        return scaled

    def refuse_overflow(self) -> None:
        """Raise if the squares overflow, because step sizes are computed from them."""
        self._squares  # noqa: B018

    @cached_property
    def rows(self) -> np.ndarray:
        """The norm of each row."""
        squares = np.asarray(self._squares.sum(axis=1)).ravel()
        return np.sqrt(squares)

    def _measured(self, rows, blocks, normalised: bool, workers: Workers) -> float:
        """||A||^2 of some rows and blocks (None: all); ``normalised``: of rows divided by their norms."""
        roots = self.roots if rows is None else self.roots[rows]
        scale = 1 / (self.l2 if blocks is None else self.l2[blocks])[:, None, None]
        if normalised:
            norms = self.rows if rows is None else self.rows[rows]
            roots = np.divide(roots, norms, out=np.zeros_like(roots), where=norms > 0)

        # Scaled by a power of two, which is exact, so that fourth powers do not overflow.
        top = 2.0 ** np.frexp(float(self.rows.max()))[1]
        if not normalised:
            roots = roots / top

        def squared(v: np.ndarray) -> np.ndarray:
            stack = self.data.adjoint(roots * v, rows, blocks, workers=workers)
            return roots * self.data.apply(scale * stack, rows, blocks, workers=workers)

        found = top_eigenvalue(squared, roots.size) if roots.size else 0.0
        return found if normalised else found * top**2

    def _kept(self, key, measure) -> float:
        with self._lock:  # computed once, also if several threads solve the problem
            if key not in self._known:
                self._known[key] = measure()
            return self._known[key]

    def coupling(self, m: int, q: int, workers: Workers = ALONE) -> float:
        """||A[I, J]||^2 for m samples and q blocks, Lambda of (27).

        A rigorous bound is a hundred times too large on real data. So the norms of a few random I, with the q blocks of
        the largest norms, are computed; the result is the largest of them with a margin, at least the squared norm of
        the longest row, and at most m times that."""
        return self._kept((m, q), lambda: self._coupling(m, q, workers))

    def _coupling(self, m: int, q: int, workers: Workers) -> float:
        squares, n, p = self._squares, self.roots.size, self.l2.size
        longest = float(np.minimum(self.rows**2, q * squares.max(axis=1).toarray().ravel()).max())
        J = None if q == p else np.sort(np.argsort(np.asarray(squares.sum(axis=0)).ravel(), kind="stable")[-q:])
        rng, draws = np.random.default_rng(0), 1 if m == n else self.DRAWS
        found = [self._measured(drawn(rng, m, n), J, False, workers) for _ in range(draws)]
        return max(min(m * longest, longest + self.MARGIN * max(found)), TINY)

    def overlap(self, m: int, workers: Workers = ALONE) -> float:
        """beta of a mini-batch of m samples that ascends the dual together: between 1, for orthogonal rows, and m,
        for parallel rows (Takac, Bijral, Richtarik and Srebro 2013, with sigma^2 = ||A||^2 / n of rows of length
        one)."""
        n = self.roots.size
        if m == 1 or n == 1:
            return 1.0
        whole = self._kept("whole", lambda: self._measured(None, None, True, workers))
        share = min(max(whole - 1, 0.0) / (n - 1), 1.0)
        return 1 + (m - 1) * share


def top_eigenvalue(product, n: int, steps: int = 16) -> float:
    """The largest eigenvalue of a positive semi-definite operator, by Lanczos, with its residual added, so that in
    practice it is not too small."""
    v = np.random.default_rng(0).normal(size=n)
    v /= np.linalg.norm(v)
    basis, diagonal, beside = [v], [], []
    for _ in range(min(steps, n)):
        w = product(basis[-1])
        diagonal.append(float(w @ basis[-1]))
        for _ in range(2):  # two orthogonalisations are enough
            for u in basis:
                w = w - (w @ u) * u
        rest = float(np.linalg.norm(w))
        T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        values, vectors = np.linalg.eigh(T)
        top, residual = values[-1], rest * abs(vectors[-1, -1])
        if residual <= 0.02 * top or rest <= 1e-12 * abs(top):
            break
        beside.append(rest)
        basis.append(w / rest)
    return float(top + residual)

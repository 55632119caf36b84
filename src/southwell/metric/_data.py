"""What the measurement matrices of a matrix problem answer, however they are stored."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._typing import AnyMatrix
from ._workers import ALONE, Workers


class Data(Protocol):
    """D_i^j for samples i and blocks j, each of shape (size, size). ``stored`` are the numbers a product reads."""

    @property
    def n_samples(self) -> int: ...
    @property
    def n_blocks(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def stored(self) -> int: ...
    @property
    def precision(self) -> float: ...
    @property
    def squares(self) -> AnyMatrix:
        """||D_i^j||^2, samples by blocks, sparse."""

    def apply(
        self, X: np.ndarray, rows: np.ndarray | None = None, blocks: np.ndarray | None = None, *, exact: bool = False,
        workers: Workers = ALONE,
    ) -> np.ndarray:  # fmt: skip
        """sum_j <D_i^j, X_j> for some samples and blocks, or all; ``exact``: in float64 whatever is stored."""

    def adjoint(
        self, c: np.ndarray, rows: np.ndarray | None = None, blocks: np.ndarray | None = None, *, exact: bool = False,
        workers: Workers = ALONE,
    ) -> np.ndarray:  # fmt: skip
        """sum_i c_i D_i^j."""

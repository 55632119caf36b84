"""Problems that the studies of several papers state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import Loss
from ..penalties import ElasticNet
from ..problem import Problem


def unit_rows(A: np.ndarray) -> np.ndarray:
    """A with rows of length one."""
    return np.asarray(A / np.linalg.norm(A, axis=1)[:, None])


def ridge(A: Any, b: np.ndarray, l2: float, loss: str | Loss = "smooth_hinge", l1: float = 0.0) -> Problem:
    """A problem with the penalty ``l1 ||x||_1 + (l2/2) ||x||^2``."""
    return Problem(A, b, loss, ElasticNet(l1, l2))

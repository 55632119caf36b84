"""Random choice of the samples and blocks of an iteration."""

from __future__ import annotations

import numpy as np


def drawn(rng: np.random.Generator, size: int, among: int) -> np.ndarray | None:
    """A uniform subset in order, or None for all."""
    if size == among:
        return None
    return np.sort(rng.choice(among, size, replace=False, shuffle=False))

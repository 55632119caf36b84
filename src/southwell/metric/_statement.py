"""Validation of the parts of a matrix problem."""

from __future__ import annotations

import numpy as np

from .. import _data, losses
from .._dense import plain, refuse_unreadable
from .._names import positive
from .._typing import Given
from ..losses import Loss


def loss_of_one_margin(given: Given) -> Loss:
    loss = losses.get(given)
    if loss.own:
        raise ValueError(f"MatrixRisk takes the losses of southwell; {loss.name} is one of your own.")
    if loss.name not in losses.ALL:
        known = ", ".join(losses.ALL)
        raise ValueError(f"MatrixRisk takes losses of one margin; {loss.name} has one for each class. Known: {known}.")
    return loss


def targets(given: Given, loss: Loss, size: int) -> np.ndarray:
    """Checked targets. Unlike for linear models, all signs may be equal, as they are for triplets."""
    values = _data.vector(given, "b", size).copy()
    if loss.targets == "signs" and not np.isin(values, (-1.0, 1.0)).all():
        strange = values[~np.isin(values, (-1.0, 1.0))][0]
        raise ValueError(
            f"The {loss.name} loss takes targets -1 and +1; got {strange:g}. "
            "Map two classes with b = np.where(labels == positive_class, 1.0, -1.0)."
        )
    return values if loss.targets == "signs" else _data.targets(values, loss.targets, size, loss.name)


def strengths(given: Given, n_blocks: int) -> np.ndarray:
    """l2 of each block."""
    values = np.array([positive("l2", value) for value in plain("l2", given).ravel()])
    if values.size not in (1, n_blocks):
        raise ValueError(f"l2 must be one number or {n_blocks}, one for each block; got {values.size}.")
    return np.broadcast_to(values, (n_blocks,)).copy()


def stack(given: Given, name: str, n_blocks: int, d: int) -> np.ndarray:
    """Symmetric matrices, one for each block; a single one is used for all."""
    shape = n_blocks, d, d
    if given is None:
        return np.broadcast_to(0.0, shape)
    refuse_unreadable(given, name)
    try:
        values = np.asarray(given)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be an array of shape {shape} or {shape[1:]}; got {type(given).__name__}."
        ) from None
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers; got dtype {values.dtype}.")
    values = values.astype(np.float64)
    if values.shape not in (shape, shape[1:]):
        raise ValueError(f"{name} must have shape {shape} or {shape[1:]}; got {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    mirrored = values.swapaxes(-1, -2)
    if np.abs(values - mirrored).max() > 1e-9 * np.abs(values).max():
        raise ValueError(f"{name} must be symmetric; ({name} + {name}.swapaxes(-1, -2)) / 2 is.")
    return np.broadcast_to((values + mirrored) / 2, shape)

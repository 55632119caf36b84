"""Partitions of the features into groups: as users write them, and with their penalties compiled."""

from __future__ import annotations

import numpy as np

from . import _core
from ._dense import plain
from ._names import shown
from ._scipy import sparse as sp
from ._typing import Given


def numbers_of_groups(groups: Given, n_features: int) -> np.ndarray:
    """The number of each feature's group: from a label for each feature, or lists of features."""
    if isinstance(groups, str | bytes) or sp.issparse(groups) or not np.iterable(groups):
        raise TypeError(
            f"groups must be a label for each of the {n_features} features, or lists of features; got {shown(groups)}."
        )
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iufbU":
        return _from_labels(groups, n_features)
    given = list(groups)
    listed = [np.iterable(one) and not isinstance(one, str | bytes) for one in given]
    if any(listed) and not listed[0]:
        raise ValueError(f"groups must be labels or lists of features, not both; got {shown(groups)}.")
    return _from_lists(given, n_features) if any(listed) else _from_labels(given, n_features)


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


def compiled(n_features: int, width: int, group_of: np.ndarray, weights: np.ndarray, *factors: float | np.ndarray,
              norm: str = "euclidean", lower: Given = None, upper: Given = None) -> _core.Groups:  # fmt: skip
    """The first three factors (strength, l1, l2) are multiplied by the weights; further ones are added to l1 and l2.
    Bounds are those of each group's coefficients."""
    strength, l1, l2, more_l1, more_l2 = (*factors, 0.0, 0.0)[:5]
    with np.errstate(over="ignore"):
        strengths, l1s, l2s = weights * strength, weights * l1 + more_l1, weights * l2 + more_l2
    if not all(np.isfinite(values).all() for values in (strengths, l1s, l2s)):
        raise ValueError(f"The strength times the weights overflows: the largest weight is {weights.max()}.")
    order = np.argsort(group_of, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(group_of))])
    indices = order.astype(np.int64), starts.astype(np.int64)
    low = np.full(weights.size, -np.inf if lower is None else lower)
    high = np.full(weights.size, np.inf if upper is None else upper)
    return _core.Groups(norm, width, *indices, strengths, l1s, l2s, low, high, n_features)

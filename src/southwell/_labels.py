"""Labels of classes, of any kind, as the numbers that losses take."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ._data import column
from ._names import shown
from ._typing import Given
from ._words import Words


def signs(given: Given, words: Words, size: int, weights: np.ndarray, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """-1 for the first of two classes, in sorted order, and +1 for the second; and both labels.

    Samples of weight zero may have any label: they do not count."""
    labels = _read(given, words, size, loss)
    if labels.dtype.kind in "fi" and (np.abs(labels) == 1).all():
        classes, values = np.array([-1, 1], labels.dtype), labels.astype(np.float64)
    else:
        classes = _sorted(labels[weights > 0], words, loss)
        values = np.where(labels == classes[-1], 1.0, -1.0)
    used = classes if classes.size != 2 else np.unique(labels[weights > 0])
    if used.size > 2:
        raise ValueError(
            f"The {loss} loss takes two classes; got {used.size}: {_few(used)}. For one problem a class, use "
            "solve_many; for all classes in one, loss='softmax'."
        )
    if used.size < 2:
        raise ValueError(f"The {loss} loss needs both classes; all samples of positive weight are of {_few(used)}.")
    return values, classes


def class_numbers(
    given: Given, words: Words, size: int, weights: np.ndarray, loss: str
) -> tuple[np.ndarray, np.ndarray]:
    """The number of each sample's class, in sorted order; and the labels.

    Samples of weight zero do not make a class; one whose label is no other sample's has the number 0."""
    labels = _read(given, words, size, loss)
    classes = _sorted(labels[weights > 0], words, loss)
    if classes.size < 2:
        raise ValueError(
            f"The {loss} loss takes at least two classes; all samples of positive weight are of class {_few(classes)}."
        )
    counts, known = weights > 0, {label: k for k, label in enumerate(classes.tolist())}
    numbers = np.zeros(size, np.int64)
    numbers[counts] = np.searchsorted(classes, labels[counts])
    rest = labels[~counts].tolist()
    numbers[~counts] = [known.get(label, 0) if isinstance(label, Hashable) else 0 for label in rest]
    return numbers, classes


def _read(given: Given, words: Words, size: int, loss: str) -> np.ndarray:
    labels = column(given, words.targets, size, words.data, "labels")
    kind = labels.dtype.kind
    missing = kind == "O" and any(one is None or one != one for one in labels)
    if missing or (kind == "f" and not np.isfinite(labels).all()):
        raise ValueError(f"{words.targets} contains missing labels, NaN or infinity. Remove those samples.")
    if kind not in "biufUSO" or (kind == "f" and (labels % 1 != 0).any()):
        few = ", ".join(str(one) for one in labels[:3].tolist())
        raise ValueError(
            f"The {loss} loss takes labels of classes: whole numbers, strings or truth values; got {labels.dtype}: "
            f"{few}, ... For real numbers use another loss, such as 'squared'."
        )
    return labels


def _sorted(labels: np.ndarray, words: Words, loss: str) -> np.ndarray:
    try:
        return np.unique(labels)
    except TypeError:
        raise ValueError(
            f"The labels in {words.targets} cannot be compared with each other. Give numbers or strings, not both."
        ) from None


def _few(labels: np.ndarray) -> str:
    return ", ".join(shown(one) for one in labels[:5].tolist()) + (", ..." if labels.size > 5 else "")

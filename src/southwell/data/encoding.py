"""Tables of numbers and texts as matrices: one-hot or hashed columns with names, missing values refused or imputed."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from .._names import integral, shown, unknown
from .._typing import Given
from ..model_files.files import Refused
from .dataset import Again, Batch, csr
from .options import Options

TARGETS = ("target", "label", "y")  # names of the target's column, if the user gives none


@dataclass
class Frame:
    """Rows of a table: an array of all columns, NaN where there is no number, and the columns of text."""

    numbers: np.ndarray
    texts: dict[int, np.ndarray]
    first_row: int = 0

    @property
    def rows(self) -> int:
        return int(self.numbers.shape[0])


class Table(Protocol):
    """Where rows come from. ``frames`` may raise ``Again``; it then knows more about the kinds of its columns."""

    names: list[str]
    text: list[bool]
    why_text: dict[int, str]

    def frames(self, limit: int | None) -> Iterator[tuple[Path, Frame]]: ...


class Encoded:
    """The rows of a table as batches."""

    def __init__(self, table: Table, options: Options) -> None:
        self.table, self.options = table, options
        names = table.names
        self.target = _target(options.target, names)
        self.weight = None if options.weight is None else position(options.weight, names, "weight")
        for j in (position(given, names, "categorical") for given in options.categorical):
            table.text[j] = True
        self.columns = 0
        self.feature_names: list[str] | None = None
        self._learned = False
        self._filled: dict[int, Any] = {}  # by column: what stands in for missing values
        self._encoder: Any = None

    def batches(self, limit: int | None) -> Iterator[tuple[Path, Batch]]:
        """Rows of about ``limit`` bytes at a time; with None, as many as the table gives."""
        if not self._learned and (any(self.table.text) or self.options.missing == "mean"):
            self._learn()
        for path, frame in self.table.frames(limit):
            if not self._learned and frame.texts:
                self._learn()
            yield path, self._encoded(frame)

    # What must be known of the whole table before rows are encoded.

    def _learn(self) -> None:
        while not self._learned:
            with contextlib.suppress(Again):
                self._learn_once()

    def _learn_once(self) -> None:
        width = len(self.table.names)
        sums, counts = np.zeros(width), np.zeros(width, np.int64)
        found: dict[int, Counter[str]] = {}
        for _, frame in self.table.frames(1 << 24):
            held = ~np.isnan(frame.numbers)
            with np.errstate(over="ignore"):  # an infinite mean is refused where it is needed
                sums += np.where(held, frame.numbers, 0.0).sum(axis=0)
            counts += held.sum(axis=0)
            for j, texts in frame.texts.items():
                self._count(j, found.setdefault(j, Counter()), texts)
        self._learned = True
        features = self._features()
        for j in features:
            if self.options.missing == "mean":
                self._filled[j] = self._most_frequent(j, found) if self.table.text[j] else self._mean(j, sums, counts)
        written = [j for j in features if self.table.text[j]]
        if written and self.options.text == "one-hot":
            self._encoder = _one_hot([sorted(found[j]) for j in written])
        elif written:
            self._encoder = _hasher(self.options.n_hashed)
        self._name(written)

    def _count(self, j: int, counter: Counter[str], texts: np.ndarray) -> None:
        counter.update(text for text in texts if text is not None)
        most = self.options.max_categories
        if j in (self.target, self.weight):
            return
        why = self.table.why_text.get(j)
        if why is not None and any(map(is_number, counter)):
            raise Refused(
                f"column {self.table.names[j]!r} holds numbers, but also {why}. Correct that, or name the column in "
                f"categorical=[...] to take all as texts; give header=True if the first row holds names"
            )
        if len(counter) > most:
            if self.options.text == "one-hot":
                raise Refused(
                    f"column {self.table.names[j]!r} has more than {most} different texts, such as {shown(texts[-1])}. "
                    f'Give text="hash", or a larger max_categories, or leave the column out'
                )
            for text, _ in counter.most_common()[most:]:  # hashed columns need the most frequent one at most
                del counter[text]

    def _most_frequent(self, j: int, found: dict[int, Counter[str]]) -> str:
        if not found.get(j):
            raise Refused(f"column {self.table.names[j]!r} has no values to impute from")
        return min(found[j], key=lambda text: (-found[j][text], text))

    def _mean(self, j: int, sums: np.ndarray, counts: np.ndarray) -> float:
        if counts[j] == 0:
            raise Refused(f"column {self.table.names[j]!r} has no values to impute from")
        mean = float(sums[j] / counts[j])
        if not np.isfinite(mean):
            raise Refused(f"column {self.table.names[j]!r} has no mean within the range of numbers of 64 bits")
        return mean

    def _features(self) -> list[int]:
        return [j for j in range(len(self.table.names)) if j not in (self.target, self.weight)]

    def _name(self, texts: list[int]) -> None:
        numbers = [j for j in self._features() if not self.table.text[j]]
        names = [self.table.names[j] for j in numbers]
        if texts and self.options.text == "one-hot":
            names += map(str, self._encoder.get_feature_names_out([self.table.names[j] for j in texts]))
        elif texts:
            names += [f"hashed_{k}" for k in range(self.options.n_hashed)]
        self.feature_names, self.columns = names, len(names)

    # Rows.

    def _encoded(self, frame: Frame) -> Batch:
        texts = [j for j in self._features() if self.table.text[j]]
        numbers = [j for j in self._features() if not self.table.text[j]]
        if not self._learned:
            self._name(texts)
        A: Any = self._numbers(frame, numbers)
        if texts:
            A = sp.hstack([sp.csr_array(A), self._texts(frame, texts)], format="csr")
            A = csr(A.data, A.indices.astype(np.int32, copy=False), A.indptr, self.columns)
        return Batch(A, targets=self._targets(frame), weights=self._weights(frame))

    def _numbers(self, frame: Frame, columns: list[int]) -> np.ndarray:
        if columns == list(range(frame.numbers.shape[1])):
            A = frame.numbers
        else:
            A = np.ascontiguousarray(frame.numbers[:, columns])
        missing = np.isnan(A)
        if not missing.any():
            return A
        i, k = np.argwhere(missing)[0]
        if self.options.missing == "refuse":
            self._refuse_missing(frame, int(i), columns[k])
        fill = [0.0 if self.options.missing == "zero" else self._filled[j] for j in columns]
        return np.where(missing, np.array(fill), A)

    def _texts(self, frame: Frame, columns: list[int]) -> Any:
        filled = []
        for j in columns:
            values = frame.texts[j]
            missing = _missing(values)
            if missing.any():
                if self.options.missing == "refuse":
                    self._refuse_missing(frame, int(np.argmax(missing)), j)
                values = np.where(missing, self._filled.get(j, ""), values)  # no text is ""
            filled.append(values)
        if self.options.text == "hash":
            names = [self.table.names[j] for j in columns]
            rows = ([f"{name}={text}" for name, text in zip(names, row, strict=True) if text]
                    for row in zip(*filled, strict=True))  # fmt: skip
            return sp.csr_array(self._encoder.transform(rows))
        return sp.csr_array(self._encoder.transform(np.column_stack(filled)))

    def _refuse_missing(self, frame: Frame, i: int, j: int) -> None:
        what = "the target" if j == self.target else "the weight" if j == self.weight else "a value"
        how = "" if j in (self.target, self.weight) else ', or give missing="mean" or missing="zero"'
        raise Refused(f"{self._place(frame, i, j)}: {what} is missing. Correct or remove such rows{how}")

    def _place(self, frame: Frame, i: int, j: int) -> str:
        return f"column {self.table.names[j]!r}, row {frame.first_row + i + 1}"

    def _targets(self, frame: Frame) -> np.ndarray | None:
        if self.target is None:
            return None
        if self.table.text[self.target]:
            labels = frame.texts[self.target]
            missing = _missing(labels)
            if missing.any():
                self._refuse_missing(frame, int(np.argmax(missing)), self.target)
            return labels.astype(np.str_)
        return self._whole(frame, self.target)

    def _weights(self, frame: Frame) -> np.ndarray | None:
        if self.weight is None:
            return None
        if self.table.text[self.weight]:
            raise Refused(f"column {self.table.names[self.weight]!r} holds texts; weights must be numbers")
        weights = self._whole(frame, self.weight)
        if (weights < 0).any():
            i = int(np.argmax(weights < 0))
            raise Refused(f"{self._place(frame, i, self.weight)}: the weight is {weights[i]:g}; weights must be >= 0")
        return weights

    def _whole(self, frame: Frame, j: int) -> np.ndarray:
        values = frame.numbers[:, j].copy()
        missing = np.isnan(values)
        if missing.any():
            self._refuse_missing(frame, int(np.argmax(missing)), j)
        return values


def position(given: Given, names: list[str], what: str) -> int:
    """The column with this name or position; positions from the end are negative."""
    if isinstance(given, str):
        if given not in names:
            raise unknown(
                f"column for {what}", given, names, None if len(names) <= 20 else f"{', '.join(names[:20])}, ..."
            )
        return names.index(given)
    if integral(given):
        if not -len(names) <= given < len(names):
            raise ValueError(f"{what} must be a column between {-len(names)} and {len(names) - 1}; got {given}.")
        return int(given) % len(names)
    raise TypeError(f"{what} must be the name or the position of a column; got {shown(given)}.")


def _target(given: Given, names: list[str]) -> int | None:
    """The target's column: as given; else one named target, label or y; else none."""
    if given is False:
        return None
    if given is not None and given is not True:
        return position(given, names, "target")
    likely = [j for j, name in enumerate(names) if name.lower() in TARGETS]
    if len(likely) > 1:
        raise ValueError(f"Several columns could be the target: {[names[j] for j in likely]}. Name one in target=.")
    if not likely and given is True:
        raise ValueError(f"No column is named {', '.join(TARGETS)}. Name the target's column in target=.")
    return likely[0] if likely else None


def _missing(texts: np.ndarray) -> np.ndarray:
    return np.asarray(texts == None)  # noqa: E711 (entry by entry)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _one_hot(categories: list[list[str]]) -> Any:
    from sklearn.preprocessing import OneHotEncoder

    kinds = [np.array(names or [""], dtype=object) for names in categories]
    encoder = OneHotEncoder(categories=kinds, handle_unknown="ignore", sparse_output=True, dtype=np.float64)
    return encoder.fit(np.array([[names[0] for names in kinds]], dtype=object))


def _hasher(columns: int) -> Any:
    from sklearn.feature_extraction import FeatureHasher

    return FeatureHasher(n_features=columns, input_type="string", alternate_sign=False)

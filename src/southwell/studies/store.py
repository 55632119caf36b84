"""Findings and what they came from as JSON files, and back, without loss.

Floats are written by their ``repr``, so they are read back exactly; infinities and nan, arrays, tuples and mappings
with keys other than text are objects with one key that begins with ``$``. Files are written whole or not at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..model_files.files import open_regular, replacing
from .findings import Findings, Race, Source, Table, Trace

FORMAT = 1
CLASSES: Mapping[str, type[Any]] = {c.__name__: c for c in (Findings, Race, Table, Source, Trace)}


class Damaged(ValueError):
    """A trace file that cannot be read; the message says why."""


@dataclass(frozen=True)
class Record:
    """A study that has been run: its findings, and all that is needed to tell whether it must be run again."""

    study: str
    findings: Findings
    sources: Sequence[Source]
    quick: bool
    seed: int
    version: str  # of southwell
    seconds: float
    ended: str  # date and time, UTC
    machine: Mapping[str, Any]
    versions: Mapping[str, str] = field(default_factory=dict)
    processor: float = 0.0  # seconds of it


def save(record: Record, path: Path) -> None:
    """Write a record, atomically."""
    held = {each.name: pack(getattr(record, each.name)) for each in fields(Record)}
    text = json.dumps({"format": FORMAT, **held}, allow_nan=False, indent=1)
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def read(path: Path) -> Record:
    """The record in a file. Raises ``Damaged`` if it is not one."""
    try:
        with open_regular(path) as file:
            held = json.loads(file.read().decode("utf-8"))
        if not isinstance(held, dict) or held.pop("format", None) != FORMAT:
            raise ValueError(f"it is not of format {FORMAT}")
        record = Record(**{name: unpack(value) for name, value in held.items()})
        _check(record)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Damaged(f"The trace file {path} is damaged ({error}).") from error
    return record


def _check(record: Record) -> None:
    shapes = {
        "study": str, "findings": Findings, "sources": tuple, "quick": bool, "seed": int, "version": str,
        "seconds": float, "ended": str, "machine": dict, "versions": dict, "processor": float,
    }  # fmt: skip
    for name, kind in shapes.items():
        if not isinstance(getattr(record, name), kind):
            raise ValueError(f"{name} is not {kind.__name__}")
    for trace in (trace for race in record.findings.races for trace in race.traces):
        if len({len(column) for column in trace.columns.values()}) > 1:
            raise ValueError(f"the columns of {trace.label} have different lengths")


def pack(value: Any) -> Any:
    """``value`` of what JSON can hold."""
    if isinstance(value, Findings | Race | Table | Source | Trace):
        held = {each.name: pack(getattr(value, each.name)) for each in fields(value)}
        return {f"${type(value).__name__}": held}
    if isinstance(value, np.ndarray):
        return {"$array": [value.dtype.str, list(value.shape), [pack(v) for v in value.ravel().tolist()]]}
    if isinstance(value, np.generic):
        return pack(value.item())
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: pack(each) for key, each in value.items()}
        return {"$map": [[pack(key), pack(each)] for key, each in value.items()]}
    if isinstance(value, list | tuple):
        packed = [pack(each) for each in value]
        return packed if isinstance(value, list) else {"$tuple": packed}
    raise TypeError(
        f"Findings hold numbers, text, truth values, arrays, lists, tuples and mappings; got {type(value).__name__}."
    )


def unpack(value: Any) -> Any:
    """The inverse of ``pack``."""
    if isinstance(value, list):
        return [unpack(each) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or not next(iter(value)).startswith("$"):
        return {key: unpack(each) for key, each in value.items()}
    tag, held = next(iter(value.items()))
    if tag == "$float":
        return float(held)
    if tag == "$tuple":
        return tuple(unpack(each) for each in held)
    if tag == "$map":
        return {unpack(key): unpack(each) for key, each in held}
    if tag == "$array":
        kind, shape, flat = held
        return np.array([unpack(each) for each in flat], dtype=np.dtype(kind)).reshape(shape)
    if tag[1:] in CLASSES:
        return CLASSES[tag[1:]](**{name: unpack(each) for name, each in held.items()})
    raise ValueError(f"unknown kind {tag!r}")

"""Damaged model files through ``southwell.load``: it must raise a ValueError or OSError, or return a model that works.

Memory is bounded by the size of the file, so a MemoryError is a finding here; the parent process limits the time.
"""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

import southwell as sw

from .hostile import describe, unclear_because
from .mutations import mutate
from .report import Finding

CORPUS = Path(__file__).parent / "corpus"


@cache
def corpus() -> list[bytes]:
    return [path.read_bytes() for path in sorted(CORPUS.glob("*.southwell"))]


@cache
def _scratch() -> str:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # files are written thousands of times
    folder = tempfile.TemporaryDirectory(prefix="southwell-fuzz-", dir=memory)
    _scratch.kept = folder  # removed when the process ends
    return os.path.join(folder.name, "model.southwell")


class Case:
    """One file."""

    def __init__(self, seed: int, number: int):
        rng = random.Random(seed * 2**40 + number)
        self.content, self.key = mutate(corpus(), rng)

    def run(self) -> tuple[list[Finding], Counter]:
        return check(self.content, self.key)


def check(content: bytes, key: str) -> tuple[list[Finding], Counter]:
    """Load these bytes, and use the model if they are one."""
    path = _scratch()
    with open(path, "wb") as file:
        file.write(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model = sw.load(path)
        except (ValueError, OSError) as error:
            unclear = unclear_because(error)
            return [describe(unclear, f"load: {key}", error)] if unclear else [], Counter({"refused": 1})
        except Exception as error:
            return [describe("unclear error", f"load: {key}", error)], Counter({"refused": 1})
        return use(model, key), Counter({"loaded": 1})


def use(model, key: str) -> list[Finding]:
    """Calls what every loaded model must support; its numbers need not be finite."""
    X = np.zeros((2, min(model.n_features_in_, 1000)))
    uses = {
        "predict": lambda: model.predict(X), "repr": lambda: repr(model),
        "result": lambda: repr(getattr(model, "result_", None)),
        "get_params": model.get_params, "save": lambda: (model.save(_scratch()), sw.load(_scratch())),
        "decision_function": lambda: getattr(model, "decision_function", model.predict)(X),
    }  # fmt: skip
    findings = []
    for name, call in uses.items():
        try:
            with contextlib.suppress(RuntimeWarning):
                call()
        except Exception as error:
            findings.append(describe("loads but fails", f"{name}: {key}", error))
    return findings


def make(seed: int, number: int) -> Case:
    return Case(seed, number)

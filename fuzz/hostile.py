"""Hostile calls: any entry point with one to three arguments replaced by unsuitable values.

A call may succeed, or raise a ValueError, TypeError or similar with a message written for the caller. Everything else
is a finding: a crash, a hang, another error, a warning of NumPy, or an error that Python or NumPy raised in the
middle of the library because the argument had not been checked.
"""

from __future__ import annotations

import dis
import os
import random
import re
import traceback
import warnings
from collections import Counter
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np

import southwell as sw

from .broken_sparse import broken
from .entries import LIMITS, entries
from .nasty import CONTAINERS, HUGE, PARTS, SCALARS, Raised, array, named
from .report import Finding

ALLOWED = (ValueError, TypeError, MemoryError, OSError, ImportError)  # OverflowError tells a caller too little
LIBRARY, HERE = Path(sw.__file__).parent, Path(__file__).parent
RAISES = {dis.opmap[name] for name in ("RAISE_VARARGS", "RERAISE") if name in dis.opmap}
TRUSTED = ("sklearn", "pathlib.py")  # their errors about X, y and paths are known to their users
KNOWN = (ValueError, TypeError, OverflowError, ZeroDivisionError)


def value(rng: random.Random, *, huge: bool) -> tuple[str, object]:
    """A random value of any kind, and its name."""
    kind = rng.random()
    if kind < 0.40:
        return named(SCALARS | HUGE if huge else SCALARS, rng)
    if kind < 0.55:
        return named(CONTAINERS, rng)
    if kind < 0.85:
        return array(rng)
    return named(PARTS, rng) if kind < 0.90 else broken(rng)


@cache
def _weights() -> list[float]:
    """How often each entry is called: rarely, if calls are long or there are many similar entries."""
    seldom = ("CV.", "LabelPropagation", "NearestNeighbor", "set_params", ".maximise", "prox_conjugate", "derivative")
    return list(accumulate(0.25 if any(word in entry.name for word in seldom) else 1.0 for entry in entries()))


class Case:
    """One call."""

    def __init__(self, seed: int, number: int):
        rng = random.Random(seed * 2**40 + number)
        self.entry = rng.choices(entries(), cum_weights=_weights())[0]
        names = list(self.entry.arguments)
        size = min(len(names), rng.choice([1, 1, 1, 2, 3]))
        made = {name: value(rng, huge=name not in LIMITS) for name in rng.sample(names, size)}
        self.words = {name: words for name, (words, _) in made.items()}
        self.arguments = self.entry.arguments | {name: given for name, (_, given) in made.items()}
        told = ", ".join(f"{name}={words}" for name, words in self.words.items())
        self.call = f"{self.entry.name}({told})"
        # The key that is muted after crashes. Broken matrices share one, because they are many and fail alike.
        self.key = f"{self.entry.name}({re.sub(r'[a-z]{3}_(array|matrix), [a-z ]+', 'broken sparse', told)})"

    def run(self) -> tuple[list[Finding], Counter]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", RuntimeWarning)
                answer = self.entry.call(**self.arguments)
        except Raised:
            return [], Counter({"the caller's own error": 1})
        except Warning as warning:
            if _callers_own(warning):
                return [], Counter({"the caller's own error": 1})
            return [self._found("warning", warning)], Counter({"refused": 1})
        except ALLOWED as error:
            unclear = unclear_because(error)
            return [self._found(unclear, error)] if unclear else [], Counter({"refused": 1})
        except Exception as error:
            if _callers_own(error):
                return [], Counter({"the caller's own error": 1})
            return [self._found("unclear error", error)], Counter({"refused": 1})
        wrong = _unsound(answer)
        return [Finding("wrong", f"{self.entry.name}: {wrong}", self.call)] if wrong else [], Counter({"accepted": 1})

    def _found(self, kind: str, error: BaseException) -> Finding:
        return describe(kind, self.call, error)


def describe(kind: str, words: str, error: BaseException) -> Finding:
    """A finding whose key is the place where the error arose."""
    lines = traceback.format_exception(error, limit=-3)
    return Finding(kind, f"{type(error).__name__} at {_place(error)}", f"{words}\n{''.join(lines)[-900:]}")


def _frames(error: BaseException) -> traceback.StackSummary:
    return traceback.extract_tb(error.__traceback__, limit=-30)  # of a deep recursion, the end is enough


def _callers_own(error: BaseException) -> bool:
    """Whether the error was raised by an object of the caller (a hostile one, or the repr of a broken matrix), or by a
    trusted library."""
    frames = _frames(error)
    if Path(frames[-1].filename).name == "nasty.py" or "callback(" in (frames[-1].line or ""):
        return True
    own = max((k for k, f in enumerate(frames) if str(LIBRARY) in f.filename), default=-1)
    beyond = {part for f in frames[own + 1 :] for part in Path(f.filename).parts}
    if isinstance(error, KNOWN) and beyond.intersection(TRUSTED):
        return True
    if own < 0 and beyond.intersection(TRUSTED):  # a scorer, which calls the caller's objects directly
        return True
    return any(f.name in ("__repr__", "__str__") and f"scipy{os.sep}sparse" in f.filename for f in frames)


def unclear_because(error: BaseException) -> str:
    """What is wrong with an error of an allowed kind, or "" if it was written for the caller."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    file = Path(code.co_filename)
    if _callers_own(error):
        return ""
    if not str(error) and not isinstance(error, MemoryError):
        return "empty message"
    if HERE in file.parents or isinstance(error, MemoryError):  # a wrong signature, or no memory
        return ""
    if str(error).startswith("The loss ") and "cannot be used: its " in str(error):  # the core, of a caller's function
        return ""
    if isinstance(error, OSError) and error.errno is not None:  # a message of the operating system
        return ""
    by_hand = code.co_code[trace.tb_lasti] in RAISES
    return "" if by_hand and LIBRARY in file.parents else "unclear error"


def _place(error: BaseException) -> str:
    frames = _frames(error)
    own = [f for f in frames if str(LIBRARY) in f.filename]
    if not own:
        return f"{Path(frames[-1].filename).name}:{frames[-1].name}"
    place = f"{Path(own[-1].filename).relative_to(LIBRARY)}:{own[-1].lineno} {own[-1].name}"
    return place if own[-1] == frames[-1] else f"{place}, in {Path(frames[-1].filename).name}:{frames[-1].name}"


def _unsound(answer) -> str:
    """What is wrong with a result that has a certificate, or "" if nothing is."""
    results = answer if isinstance(answer, sw.Results) else [answer]
    for result in results:
        if isinstance(result, sw.Result):
            if np.isnan([result.primal, result.dual, result.gap]).any() or result.gap < 0:
                return "gap not a number or negative"
            if result.status and result.gap > result.tol * result.scale * (1 + 1e-9):
                return "CONVERGED with gap > tol * scale"
    return ""


def make(seed: int, number: int) -> Case:
    return Case(seed, number)

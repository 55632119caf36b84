"""Tiny findings by hand, for the tests of judges."""

import numpy as np

from southwell.studies.findings import Findings, Race, Trace


def trace(label, passes, seconds=None, target=1e-6, end=None):
    """Reaches ``target`` after so many passes and seconds, by default as many; never, if ``passes`` is infinite."""
    reached = np.isfinite(passes)
    last = (passes if reached else 1000.0) if end is None else end
    at = np.array([0.0, last])
    time = at if seconds is None else np.array([0.0, seconds])
    errors = np.array([1.0, target if reached else 0.5])
    return Trace(label, "paper", {"epoch": at, "seconds": time, "error": errors, "latest": errors})


def race(title, passes, seconds=None):
    """A race of methods by what they need."""
    seconds = seconds or {}
    return Race(title, [trace(label, needed, seconds.get(label)) for label, needed in passes.items()])


def found(study, races=(), **numbers):
    """The findings of one study, as judges take them."""
    return {study: Findings(races, numbers={name.replace("_", " "): value for name, value in numbers.items()})}


def judged(claims, name, findings):
    """The verdict on a claim."""
    verdict = next(claim for claim in claims if claim.name == name).judge(findings)
    assert verdict.because.endswith(".")
    return verdict

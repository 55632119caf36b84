"""Methods: how the answer is found."""

from __future__ import annotations

from .._names import resolve
from .accelerated import AcceleratedCD
from .base import Method, Prepared, Start
from .coordinate_descent import Auto, CoordinateDescent

ALL: dict[str, type[Method]] = {method.name: method for method in (Auto, CoordinateDescent, AcceleratedCD)}

__all__ = ["ALL", "AcceleratedCD", "Auto", "CoordinateDescent", "Method", "Prepared", "Start", "get"]


def get(given: str | Method) -> Method:
    """A method from its name or itself."""
    return resolve("method", given, ALL, Method)

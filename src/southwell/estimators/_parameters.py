"""Checks of parameters that several estimators have."""

from __future__ import annotations

from .._names import positive


def share(name: str, value) -> float:
    """A number between 0 and 1, both included."""
    value = positive(name, value, zero=True)
    if value > 1:
        raise ValueError(f"{name} must be between 0 and 1; got {value}.")
    return value


def one_of(name: str, value, known) -> None:
    if not any(value is one or (isinstance(value, type(one)) and value == one) for one in known):
        listed = ", ".join(repr(one) for one in known)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")

"""Names given as strings, and kind refusals of names nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np


def unknown(kind: str, given: object, known: Iterable[str]) -> ValueError:
    """A refusal that lists what is known and guesses what was meant."""
    names = sorted(known)
    near = get_close_matches(str(given).lower().replace("-", "_"), names, n=1, cutoff=0.5)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return ValueError(f"Unknown {kind} {given!r}.{guess} Known: {', '.join(names)}.")


def resolve(kind: str, given: object, known: dict[str, type], base: type):
    """An instance of ``base`` from an instance, a class or a name."""
    if isinstance(given, base):
        return given
    if isinstance(given, type) and issubclass(given, base):
        return given()
    if isinstance(given, str):
        try:
            return known[given]()
        except KeyError:
            raise unknown(kind, given, known) from None
    raise TypeError(
        f"{kind} must be a name ({', '.join(sorted(known))}) or an object of southwell; got {type(given).__name__}."
    )


def flag(name: str, value: object) -> bool:
    """``value`` as a bool, or a refusal: "no" would be true."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def finite(name: str, value: object) -> float:
    """``value`` as a finite float, or a refusal."""
    try:
        number = float("nan") if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not np.isfinite(number):
        raise ValueError(f"{name} must be a finite number; got {value!r}.")
    return number


def positive(name: str, value: object, *, zero: bool = False, below: float | None = None) -> float:
    """``value`` as a finite float > 0 (or >= 0), or a refusal."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number; got {value!r}.") from None
    except OverflowError:
        number = float("inf")
    low = number >= 0 if zero else number > 0
    if not (low and number < (float("inf") if below is None else below)):
        allowed = f"{'>=' if zero else '>'} 0" + (f" and < {below}" if below is not None else " and finite")
        raise ValueError(f"{name} must be {allowed}; got {value!r}.")
    return number


def at_most(name: str, size: int, most: int, what: str) -> int:
    """``size``, or a refusal: there are no more than ``most``."""
    if size > most:
        raise ValueError(f"{name} must be 1 to {most}, the number of {what}; got {size}.")
    return size


def count(name: str, given: object, least: int) -> int:
    """``given`` as an integer >= ``least``, or a refusal."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not least <= given < 2**63:
        raise ValueError(f"{name} must be an integer >= {least} (and below 2**63); got {given!r}.")
    return int(given)

"""Checks of names and numbers, with clear error messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TypeGuard, TypeVar

import numpy as np

T = TypeVar("T")
Base = TypeVar("Base")


def shown(given: object, most: int = 80) -> str:
    """``given`` as quoted in a message: short, and safe even if its ``repr`` fails."""
    if isinstance(given, np.ndarray) and given.size > 8:
        return f"an array of shape {given.shape} and dtype {given.dtype}"
    if isinstance(given, int) and abs(given) >= 10**25:  # Python refuses to convert very long ones to text
        return f"an integer of {given.bit_length()} bits"
    try:
        text = repr(given)
    except Exception:  # repr failed
        return f"an object of type {type(given).__name__}"
    return text if len(text) <= most else f"{text[:most]}... ({type(given).__name__})"


def unknown(kind: str, given: object, known: Iterable[str], listed: str | None = None) -> ValueError:
    """An error that suggests the nearest of the known names, and lists them; of very many, ``listed`` says where."""
    names = sorted(known)
    asked = given.lower().replace("-", "_") if isinstance(given, str) else ""
    near = get_close_matches(asked, names, n=1, cutoff=0.5)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return ValueError(f"Unknown {kind} {shown(given)}.{guess} Known: {', '.join(names) if listed is None else listed}.")


def one_name(kind: str, given: object, known: Iterable[str], listed: str | None = None) -> str:
    """``given``, if it is one of these names; else an error. An array, which compares entry by entry, is not a name."""
    if not isinstance(given, str) or given not in known:
        raise unknown(kind, given, known, listed)
    return given


def listed(base: type[Base], order: Iterable[str] | None = None) -> dict[str, type[Base]]:
    """The subclasses of ``base`` that have a name of their own, by name: in the order in which they were defined, or
    those of these names in this order."""
    found: dict[str, type[Base]] = {}
    waiting = base.__subclasses__()
    while waiting:
        part = waiting.pop(0)
        if "name" in vars(part):
            found[part.name] = part  # type: ignore[attr-defined]
        waiting = part.__subclasses__() + waiting
    return found if order is None else {name: found[name] for name in order}


def resolve(kind: str, given: object, known: Mapping[str, type[T]], base: type[T]) -> T:
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
    """``value`` as a bool. Raises for other types, because strings such as "no" would be true."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {shown(value)}.")
    return bool(value)


def _number(value: object) -> float:
    """``float(value)``, but strings, time differences and complex numbers are refused."""
    of_array = isinstance(value, np.ndarray | np.generic) and value.dtype.kind not in "fiubO"
    if of_array or isinstance(value, str | bytes | bytearray):
        raise TypeError
    return float(value)  # type: ignore[arg-type]


def finite(name: str, value: object) -> float:
    """``value`` as a finite float, or an error."""
    try:
        number = _number(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not np.isfinite(number):
        raise ValueError(f"{name} must be a finite number; got {shown(value)}.")
    return number


def positive(name: str, value: object, *, zero: bool = False, above: float = 0.0, below: float | None = None) -> float:
    """``value`` as a finite float > ``above`` (or >= 0), or an error."""
    try:
        number = _number(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number; got {shown(value)}.") from None
    except OverflowError:
        number = float("inf")
    low = number >= 0 if zero else number > above
    if not (low and number < (float("inf") if below is None else below)):
        allowed = f"{'>=' if zero else '>'} {above:g}" + (f" and < {below}" if below is not None else " and finite")
        raise ValueError(f"{name} must be {allowed}; got {shown(value)}.")
    return number


def at_most(name: str, size: int, most: int, what: str) -> int:
    """``size`` if it is at most ``most``, or an error."""
    if size > most:
        raise ValueError(f"{name} must be 1 to {most}, the number of {what}; got {size}.")
    return size


def integral(given: object) -> TypeGuard[int]:
    """Whether ``given`` is an integer of Python or NumPy. Truth values and time differences are not, although their
    types are subclasses of integers."""
    return isinstance(given, int | np.integer) and not isinstance(given, bool | np.timedelta64)


def count(name: str, given: object, least: int, bits: int = 63) -> int:
    """``given`` as an integer of Python >= ``least`` and below ``2**bits``, or an error."""
    if integral(given):
        number = int(given)
        if least <= number < 2**bits:
            return number
    raise ValueError(f"{name} must be an integer >= {least} (and below 2**{bits}); got {shown(given)}.")


def settle(part: object, check: Callable[..., object], *names: str, **allowed: object) -> None:
    """Check these attributes of a frozen dataclass, and store what the check returns.

    The core takes numbers and truth values of Python; small integers of NumPy would overflow in arithmetic."""
    for name in names:
        object.__setattr__(part, name, check(name, getattr(part, name), **allowed))

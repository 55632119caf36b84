"""Axes of a figure: which values they span, where ticks stand, and how these are written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

DECADES = 14  # a logarithmic axis shows at most so many
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """From ``low`` to ``high``, linear or logarithmic."""

    low: float
    high: float
    logarithmic: bool

    @classmethod
    def over(cls, values: Iterable[np.ndarray], logarithmic: bool) -> Axis:
        """An axis over all finite values; a logarithmic one over those above 0, at most ``DECADES`` decades."""
        together = np.concatenate([np.asarray(v, dtype=np.float64).ravel() for v in values] or [np.empty(0)])
        together = together[np.isfinite(together) & ((together > 0) | (not logarithmic))]
        if not together.size:
            return cls(0.1, 1.0, True) if logarithmic else cls(0.0, 1.0, False)
        low, high = float(together.min()), float(together.max())
        if logarithmic:
            low = max(low, high * 10.0**-DECADES)
            return cls(low / 1.1, high * 1.1, True) if high < 1.2 * low else cls(low, high, True)
        if 0 < low < 0.5 * high:
            low = 0.0
        spread = high - low or abs(high) or 1.0
        return cls(low, high, False) if high > low else cls(low - 0.1 * spread, high + 0.1 * spread, False)

    def place(self, values: np.ndarray) -> np.ndarray:
        """Where values stand, from 0 to 1. On a logarithmic axis what is too small stands at its lower end."""
        given = np.asarray(values, dtype=np.float64)
        if self.logarithmic:
            held = np.log(np.maximum(given, self.low) / self.low)
            return np.asarray(held / math.log(self.high / self.low))
        return np.asarray((given - self.low) / (self.high - self.low))

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """At most about ``most`` round values within the axis, and how they are written."""
        return self._powers(most) if self.logarithmic else self._steps(most)

    def _powers(self, most: int) -> list[tuple[float, str]]:
        low, high = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if high - low >= 1:
            by = max(1, math.ceil((high - low + 1) / most))
            chosen = range(math.ceil(low / by) * by, high + 1, by)
            return [(10.0**k, f"10{str(k).translate(SUPERSCRIPTS)}") for k in chosen]
        exponents = range(math.floor(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
        rounds = [m * 10.0**k for k in exponents for m in (1, 2, 3, 5, 7)]
        inside = [v for v in rounds if self.low <= v <= self.high]
        return [(v, written(v)) for v in (inside if len(inside) > 1 else (self.low, self.high))]

    def _steps(self, most: int) -> list[tuple[float, str]]:
        raw = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [k * step for k in range(first, last + 1)]
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        plain = digits < 4 and max(map(abs, values)) < 1e6
        return [(v, f"{v:,.{digits}f}" if plain else written(v)) for v in values]


def written(value: float) -> str:
    """A tick, short: 20,000 or 0.05."""
    size = abs(value)
    if size >= 1e6 or 0 < size < 1e-3:
        mantissa, exponent = f"{value:.2g}".split("e") if "e" in f"{value:.2g}" else f"{value:.1e}".split("e")
        return f"{mantissa.removesuffix('.0')}·10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return f"{value:,.0f}" if size >= 999.5 else f"{value:.3g}"

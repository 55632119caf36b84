"""The numbers that the default method decides by, as ``core/policy.def`` lists them."""

from __future__ import annotations

from functools import cache

from .. import _core


def default_policy() -> dict[str, tuple[float, str]]:
    """Every number that the default method decides by, and the reason for it."""
    return dict(_defaults())


def default_number(name: str) -> float:
    """One of them."""
    return _defaults()[name][0]


@cache
def _defaults() -> dict[str, tuple[float, str]]:
    return _core.policy()

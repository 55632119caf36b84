"""Textbook coordinate descent, whose steps are timed."""

from __future__ import annotations

import southwell as sw


def descent(side: str, rule, **options) -> sw.methods.CoordinateDescent:
    """Textbook coordinate descent, without shrinking and proximal terms."""
    return sw.methods.CoordinateDescent(
        **{"side": side, "rule": rule, "coupling": "mirror", "shrinking": False, "proximal": False, **options}
    )

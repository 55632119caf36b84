"""What judges share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def outcome(held: Iterable[bool]) -> str:
    """ "holds" if all are true, "fails" if none is, else "in part"; "cannot tell" if there are none."""
    found = [bool(one) for one in held]
    if not found:
        return "cannot tell"
    return "holds" if all(found) else "in part" if any(found) else "fails"


def shown(value: float) -> str:
    """Three digits; "never" for infinity."""
    return f"{value:.3g}" if np.isfinite(value) else "never"

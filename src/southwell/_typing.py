"""Types that annotations name in many places."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Given: TypeAlias = Any
"""What a user gave, before it is checked."""

AnyMatrix: TypeAlias = Any
"""A NumPy array or a SciPy sparse matrix; SciPy comes without types."""

Numbers: TypeAlias = Any
"""A float or an array of floats, where a formula takes both."""

Index: TypeAlias = slice | np.ndarray
"""Which entries of an array: all of them, or those with these numbers."""

"""SciPy's sparse matrices, imported when they are first asked for: that takes longer than importing all the rest."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy import sparse as sparse
else:

    class _Sparse:
        @staticmethod
        def issparse(given: Any) -> bool:
            """Without an import: before it, nothing is sparse."""
            return "scipy.sparse" in sys.modules and import_module("scipy.sparse").issparse(given)

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("scipy.sparse"), name)

    sparse = _Sparse()

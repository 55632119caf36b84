"""SciPy's sparse matrices, imported when they are first asked for: that takes longer than importing all the rest."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy import sparse as sparse
else:

    class _Sparse:
        def issparse(self, given: Any) -> bool:
            """Without an import: before it, nothing is sparse."""
            return "scipy.sparse" in sys.modules and self.__getattr__("issparse")(given)

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module("scipy.sparse"), name)
            setattr(self, name, value)  # the next time it is found at once
            return value

    sparse = _Sparse()

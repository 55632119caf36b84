"""Ctrl-C at a moment when Python cannot raise KeyboardInterrupt.

Python runs a signal's handler between any two bytecodes of the main thread. If they belong to the callback of a weak
reference or to a ``__del__``, the exception cannot reach a caller: Python passes it to ``sys.unraisablehook``, which
prints "Exception ignored", and the program continues. The standard library has such callbacks wherever threads end, and
the garbage collector may run those of any library.
"""

from __future__ import annotations

import sys
import threading

from . import _core


class Interrupts:
    """While open, catches interrupts that would be lost, and raises a flag that ends the solve.

    Only the main thread receives signals; in other threads this does nothing.
    """

    def __init__(self, flag: _core.Flag | None = None):
        self.flag = _core.Flag() if flag is None else flag
        self.lost: KeyboardInterrupt | None = None
        self._hook = self._before = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before, self._hook = sys.unraisablehook, self._hear
            sys.unraisablehook = self._hook
        return self

    def __exit__(self, *_) -> None:
        if self._hook is not None and sys.unraisablehook is self._hook:  # unless it was replaced meanwhile
            sys.unraisablehook = self._before
        self._hook = None

    def _hear(self, unraisable) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            return self._before(unraisable)
        self.lost = unraisable.exc_value or KeyboardInterrupt()
        self.flag.raise_()
        return None

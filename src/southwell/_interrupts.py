"""Ctrl-C at a moment when Python cannot raise it.

Python runs a signal's handler between two bytecodes of the main thread, whichever those are. If they belong to the
callback of a weak reference or to a ``__del__``, the KeyboardInterrupt cannot be raised to a caller: Python hands it to
``sys.unraisablehook``, which prints "Exception ignored", and the work goes on. The standard library has such callbacks
wherever threads end, and the garbage collector may run those of anybody.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from . import _core


class Interrupts:
    """Keeps the interrupts that would be lost while it is open, and raises a flag that ends a solve.

    Only the main thread is interrupted by signals; elsewhere this does nothing.
    """

    def __init__(self, flag: _core.Flag | None = None) -> None:
        self.flag = _core.Flag() if flag is None else flag
        self.lost: KeyboardInterrupt | None = None
        self._before: Callable[[sys.UnraisableHookArgs], Any] = sys.__unraisablehook__
        self._hook: Callable[[sys.UnraisableHookArgs], Any] | None = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before, self._hook = sys.unraisablehook, self._hear
            sys.unraisablehook = self._hook
        return self

    def __exit__(self, *_: object) -> None:
        if self._hook is not None and sys.unraisablehook is self._hook:  # unless it was replaced meanwhile
            sys.unraisablehook = self._before
        self._hook = None

    def _hear(self, unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._before(unraisable)
            return
        told = unraisable.exc_value
        self.lost = told if isinstance(told, KeyboardInterrupt) else KeyboardInterrupt()
        cancel(self.flag)


def cancel(flag: _core.Flag) -> None:
    """End the solves that were given this flag."""
    flag.raise_()  # type: ignore[attr-defined]  # stubs leave out names that end with an underscore

"""Ctrl-C at a moment when Python cannot raise KeyboardInterrupt.

Python runs a signal's handler between any two bytecodes of the main thread. If they belong to the callback of a weak
reference or to a ``__del__``, the exception cannot reach a caller: Python passes it to ``sys.unraisablehook``, which
prints "Exception ignored", and the program continues. The standard library has such callbacks wherever threads end, and
the garbage collector may run those of any library.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from . import _core


class Interrupts:
    """While open, catches interrupts that would be lost, and raises a flag that ends the solve.

    Only the main thread receives signals; in other threads this does nothing.
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


def postpone(stop: KeyboardInterrupt) -> bool:
    """End the solve that is under way at its next pause, and raise then; False if there is none in the main thread."""
    hears = getattr(sys.unraisablehook, "__self__", None)
    if not isinstance(hears, Interrupts):
        return False
    hears.lost = stop
    cancel(hears.flag)
    return True


def cancel(flag: _core.Flag) -> None:
    """End the solves that were given this flag."""
    flag.raise_()  # type: ignore[attr-defined]  # stubs leave out names that end with an underscore

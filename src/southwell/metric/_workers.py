"""Threads that share the work of one solve."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits


class _OneBlasThread:
    """Limits the BLAS threads of the process to one, from the begin of the first solve to the end of the last.

    OpenBLAS can be reset only by the thread that set the limit first, and the solve that ends last need not be the one
    that began first; so a separate thread sets and lifts it. If BLAS uses OpenMP, the limit applies to one thread only,
    and every thread sets its own too."""

    def __init__(self):
        self._lock, self._solves = threading.Lock(), 0
        self._holder: ThreadPoolExecutor | None = None

    def begin(self) -> None:
        with self._lock:
            if self._solves == 0:
                holder = ThreadPoolExecutor(1)
                self._limits = holder.submit(lambda: _one_blas_thread().__enter__()).result()
                self._holder = holder
            self._solves += 1

    def end(self) -> None:
        with self._lock:
            self._solves -= 1
            if self._solves == 0:
                self._holder.submit(self._limits.__exit__, None, None, None).result()
                self._holder.shutdown()
                self._holder = self._limits = None


def _one_blas_thread():
    return threadpool_limits(1, user_api="blas")


PROCESS = _OneBlasThread()


class Workers:
    """``map`` over pieces that do not depend on the number of threads, so that the results do not either.

    Meanwhile BLAS has one thread: the way it divides a product would change the last digits, and its threads would
    compete with these.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     workers.map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        PROCESS.begin()
        self._own = _one_blas_thread().__enter__()
        if self.n_threads > 1:
            self._pool = ThreadPoolExecutor(self.n_threads, initializer=_prepare)
        return self

    def __exit__(self, *_) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        self._own.__exit__(None, None, None)
        PROCESS.end()

    def map(self, function: Callable, pieces: Iterable) -> list:
        """The results, in the order of the pieces."""
        pieces = list(pieces)
        if self._pool is None or len(pieces) < 2:
            return [function(piece) for piece in pieces]
        return list(self._pool.map(function, pieces))


def _prepare() -> None:
    """Set-up of a thread of the pool: no warnings for overflow, which the certificate reports."""
    np.seterr(all="ignore")
    _one_blas_thread().__enter__()


ALONE = Workers()
"""Runs everything on the calling thread."""


def slabs(size: int, width: int, entries: int = 1 << 20) -> list[slice]:
    """Slices of ``size`` rows of ``width`` numbers each, with about so many entries in each slice."""
    step = max(1, entries // max(width, 1))
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]

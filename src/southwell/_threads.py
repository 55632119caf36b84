"""How many threads a solve may use."""

from __future__ import annotations

import os

from ._names import count

_chosen: int | None = None


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_threads(n_threads: int | None) -> None:
    """Set the number of threads of a solve without ``n_threads``; None restores the default.

    The default is every processor this process may use, or ``OMP_NUM_THREADS`` if that is less (joblib and
    schedulers set it for their workers). Solves that run at the same time in one process share the processors.
    Numbers do not depend on the number of threads, except where two or more share sweeps over samples.

    Examples
    --------
    >>> import southwell as sw
    >>> sw.set_num_threads(1)
    >>> sw.get_num_threads()
    1
    >>> sw.set_num_threads(None)
    """
    global _chosen
    _chosen = None if n_threads is None else _number(n_threads)


def get_num_threads() -> int:
    """The number of threads of a solve without ``n_threads``."""
    if _chosen is not None:
        return _chosen
    told = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, min(processors(), int(told))) if told.isdigit() else processors()


def checked(n_threads: int | None) -> int:
    """The checked ``n_threads`` of a solve, or the default."""
    return get_num_threads() if n_threads is None else _number(n_threads)


def _number(n_threads: int) -> int:
    return count("n_threads", n_threads, 1, bits=31)  # the core stores it as an int

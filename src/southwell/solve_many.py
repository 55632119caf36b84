"""Many problems on the same data, on several threads."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _core, _keywords, _prediction, _tables, losses, methods
from ._columns import offsets, targets_of_many
from ._interrupts import Interrupts, cancel
from ._names import shown
from ._scipy import sparse as sp
from ._typing import Given
from .block_problem import BlockProblem
from .losses import Loss
from .methods import Method
from .penalties import ElasticNet, GroupPenalty
from .problem import Problem
from .result import Progress, Result, Screened, history_arrays
from .solve import (
    CALLER,
    Callback,
    CallbackOfMany,
    ConvergenceWarning,
    Settings,
    able,
    one_penalty,
    raise_with,
    run,
    shortcoming_of_many,
)
from .status import Status


@dataclass(frozen=True, eq=False)
class Results:
    """The results of many problems, each with its own certificate.

    Attributes
    ----------
    results : list of Result
        One for each class or target. Those that had not begun when ``max_seconds`` were over have zero coefficients,
        an infinite gap and the status ``NOT_BEGUN``; after an interruption they are None.
    classes : array or None
        The labels, in the order of ``results``, if ``Y`` held labels.
    seconds : float
        Wall-clock time for all problems.
    """

    results: list[Result]
    classes: np.ndarray | None
    seconds: float

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, k: int) -> Result:
        return self.results[k]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def x(self) -> sp.csr_array:
        """The coefficients, a sparse row for each problem."""
        return sp.csr_array(sp.vstack([sp.csr_array(r.x[None, :]) for r in self._all()]))

    @property
    def intercepts(self) -> np.ndarray:
        return np.array([r.intercept for r in self._all()])

    @property
    def gaps(self) -> np.ndarray:
        """The gap of each, in units of its zero model's objective; infinity for those that had not begun."""
        return np.array([np.inf if r is None else r.relative_gap for r in self.results])

    @property
    def converged(self) -> bool:
        return all(r is not None and bool(r.status) for r in self.results)

    def _all(self) -> list[Result]:
        if missing := sum(r is None for r in self.results):
            raise ValueError(f"{missing} of {len(self)} problems had not begun when the work was interrupted.")
        return self.results

    def decision_function(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """A x + c, plus the offset of each row, or of each margin of a row; a column for each problem, the largest in a
        row being the predicted class."""
        problem = _prediction.stated(self._all()[0].problem)
        margins = _prediction.margins(problem, self.x, self.intercepts, A)
        return _prediction.with_offset(margins, offset)

    def predict(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """The class of each sample, if ``Y`` held labels; else the predictions of each problem, side by side."""
        margins = self.decision_function(A, offset=offset)
        if self.classes is not None:
            return np.asarray(self.classes[margins.argmax(axis=1)])
        problems = (_prediction.stated(one.problem) for one in self._all())
        return np.column_stack([_prediction.answers(own, margins[:, k]) for k, own in enumerate(problems)])

    def to_frame(self) -> Any:
        """A pandas DataFrame of the coefficients: a row for each feature, a column for each class or problem."""
        names = self._all()[0].feature_names
        labels = range(len(self)) if self.classes is None else self.classes.tolist()
        with_intercept = _prediction.stated(self[0].problem).intercept
        return _tables.coefficient_frame(
            names, [str(label) for label in labels], self.x.toarray().T, self.intercepts if with_intercept else None
        )

    def _told(self) -> tuple[str, dict[str, str]]:
        done = [r for r in self.results if r is not None]
        worst = max((r.relative_gap for r in done), default=np.nan)
        return f"Results: {sum(bool(r.status) for r in done)} of {len(self.results)} converged", {
            "gap": f"at most {worst:.3g} of the zero model's objective",
            "nonzeros": f"{sum(r.nonzeros for r in done)} in all",
            "work": f"{sum(r.epochs for r in done)} epochs, {self.seconds:.3g} s",
        }

    def __repr__(self) -> str:
        return _tables.text(*self._told())

    def _repr_html_(self) -> str:
        return _tables.html(*self._told())


@_keywords.answers(_keywords.OF_SOLVE)
def solve_many(
    A: Given,
    Y: Given,
    *,
    loss: str | Loss = "squared",
    l1: float = 0.0,
    l2: float = 0.0,
    penalty: ElasticNet | None = None,
    intercept: bool = False,
    sample_weight: Given = None,
    offset: Given = None,
    method: str | Method = "auto",
    tol: float = 1e-6,
    max_epochs: int = 1000,
    max_seconds: float | None = None,
    check_every: int | None = None,
    seed: int = 0,
    callback: CallbackOfMany | None = None,
    warm_start: Sequence[Any] | None = None,
    record_history: bool = True,
    n_threads: int | None = None,
) -> Results:
    """Solve many problems that differ only in their targets, such as one class against the rest, on several threads.

    The data are checked once and shared by all. A problem is made when its turn comes, and leaves its result: vectors
    of length n and d. The results do not depend on the number of threads while there are as many problems as threads.

    Parameters
    ----------
    A : array, sparse matrix, ``Centred`` or ``Factorised``
    Y : array of shape (n_samples,) or (n_samples, n_problems), or a sparse matrix
        For losses of classification: labels, one problem for each class against the rest; or a matrix with two labels
        in each column, such as 0 and 1 (multi-label). For other losses: a matrix with a column of targets for each
        problem.
    max_seconds : float, optional
        The time limit for all problems together. Each that has begun gets its certificate within it; the first always
        begins.
    offset : array of shape (n_samples,) or (n_samples, n_problems), optional
        Known parts of the margins, of all problems or of each.
    callback : callable, optional
        Called with the number of a problem and its ``Progress``; a true value stops that problem. It may be called from
        several threads, one at a time.
    warm_start : sequence, optional
        The starting point of each problem, as for ``solve``; None: start from zero.
    n_threads : int, optional
        Default: see ``southwell.set_num_threads``.
    loss, l1, l2, penalty, intercept, sample_weight, method, tol, max_epochs, check_every, seed, record_history
        As for ``solve``; with groups of features each target has coefficients of its own.

    Returns
    -------
    Results

    Examples
    --------
    >>> import southwell as sw
    >>> from sklearn.datasets import load_digits
    >>> A, labels = load_digits(return_X_y=True)
    >>> r = sw.solve_many(A / 16, labels, loss="smooth_hinge", l1=1e-3, l2=1e-3)
    >>> len(r), r.converged, r.x.shape
    (10, True, (10, 64))
    """
    begun = time.perf_counter()
    settings = Settings.checked(tol, max_epochs, max_seconds, check_every, seed, record_history, n_threads)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; got {type(callback).__name__}.")
    if isinstance(A, Problem):
        raise TypeError("solve_many takes the data A, not a Problem: its problems have targets of their own.")
    targets, classes = targets_of_many(Y, losses.get(loss))
    own = one_penalty(l1, l2, penalty)
    kind = BlockProblem if isinstance(own, GroupPenalty) else Problem
    columns = offsets(offset, targets.count)
    first = kind(A, targets(0), loss, own, intercept=intercept, sample_weight=sample_weight,
                 offset=offset if columns is None else columns(0))  # fmt: skip
    chosen = able(methods.get(method), first)
    if sp.issparse(warm_start):
        raise TypeError("warm_start must be a sequence, one start a problem; got a sparse matrix. Give its toarray().")
    try:
        starts = [None] * targets.count if warm_start is None else list(warm_start)
    except TypeError:
        raise TypeError(f"warm_start must be a sequence, one start a problem; got {shown(warm_start)}.") from None
    if len(starts) != targets.count:
        raise ValueError(f"warm_start must hold a start for each of {targets.count} problems; got {len(starts)}.")

    results, error = solve_each(
        lambda k: first.with_offset(columns and columns(k)).with_later_targets(lambda: targets(k)), targets.count,
        chosen, starts, settings, begun, callback,
        doubtful=targets.doubtful(first.weights) if offset is None else None,
    )  # fmt: skip
    answer = Results(results, classes, time.perf_counter() - begun)
    if error is not None:
        raise_with(error, answer)
    for words in shortcoming_of_many(first.words, [r.status for r in answer], answer.gaps, settings.tol, "problems"):
        warnings.warn(words, ConvergenceWarning, stacklevel=CALLER)
    return answer


def solve_each(
    problem: Callable[[int], Problem], number: int, method: Method, starts: Sequence[Any], settings: Settings,
    begun: float, callback: CallbackOfMany | None = None, keep: Callable[[Result], Result] = lambda result: result,
    doubtful: Iterable[int] | None = None,
) -> tuple[list[Result], BaseException | None]:  # fmt: skip
    """Solve problems that share their data; ``keep`` converts each result to what is kept. Also returns the exception
    that ended the work, if any; then results that had not begun are None. Before the first solve the ``doubtful``
    problems (default: all) are made, so that none is refused after others have been solved."""
    first = problem(0)  # made once: its penalty may take long to compile

    def made(k: int) -> Problem:
        return problem(k) if k > 0 else first

    for k in range(number) if doubtful is None else doubtful:
        try:
            made(k).at_hand()
        except ValueError as refusal:
            raise ValueError(f"Problem {k}: {refusal}" if number > 1 else str(refusal)) from None
    able(method, first)
    cancelled, one_at_a_time = _core.Flag(), threading.Lock()
    threads = min(settings.n_threads, number)
    settings = replace(settings, n_threads=settings.n_threads // threads)

    def reporter(k: int) -> Callback | None:
        if callback is None:
            return None

        def report(progress: Progress) -> bool | None:
            with one_at_a_time:
                return callback(k, progress)

        return report

    def one(k: int) -> tuple[Result, BaseException | None]:
        own_begun = time.perf_counter()
        if k > 0 and own_begun - begun >= settings.max_seconds:
            return keep(_not_begun(made(k), settings.tol)), None
        own = replace(settings, max_seconds=max(settings.max_seconds - (own_begun - begun), 1e-9))
        light = made(k)
        own_problem = light.at_hand()
        start = own_problem.start(starts[k])
        result, error = run(own_problem, method, start, own, own_begun, reporter(k), cancelled)
        return keep(replace(result, problem=light)), error

    if number == 1:
        result, error = one(0)
        return [result], error
    own_first = first.at_hand()
    method.prepare(own_first, own_first.start(None), settings.seed).close()  # builds the layouts that all share
    return run_all(one, number, threads, cancelled)


def run_all(one: Callable[[int], tuple[Any, BaseException | None]], number: int, threads: int,
            cancelled: _core.Flag) -> tuple[list[Any], BaseException | None]:  # fmt: skip
    """All results, and the exception that ended the work, if any."""
    results: list[Any] = [None] * number
    error: BaseException | None = None
    with Interrupts(cancelled) as interrupts, ThreadPoolExecutor(threads) as pool:
        futures: list[Future[tuple[Any, BaseException | None]]] = []
        waiting: set[Future[tuple[Any, BaseException | None]]] = set()
        try:
            futures.extend(pool.submit(one, k) for k in range(number))
            waiting = set(futures)
            while waiting:  # with short timeouts, so that Ctrl-C is noticed
                done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                if interrupts.lost is not None or any(future.exception() or future.result()[1] for future in done):
                    break
        except BaseException as raised:  # Ctrl-C, or an exception of another signal handler: stop all
            error = raised
        if waiting or error is not None:
            cancel(cancelled)
            for future in futures:
                future.cancel()
    error = error or interrupts.lost
    for k, future in enumerate(futures):
        if future.cancelled():
            continue
        if future.exception() is not None:
            error = error or future.exception()
            continue
        results[k], own = future.result()
        error = error or own
    return results, error


def _not_begun(problem: Problem, tol: float) -> Result:
    """Zero coefficients without a certificate; their arrays take no memory."""
    shape = problem.n_features
    return Result(
        x=np.broadcast_to(0.0, shape), intercept=0.0, y=None, primal=np.inf, dual=-np.inf, gap=np.inf, scale=0.0,
        tol=tol, status=Status.NOT_BEGUN, epochs=0, seconds=0.0, method="none", setup={},
        history=history_arrays([], 0.0), movers={},
        screened=Screened(np.broadcast_to(False, shape), np.broadcast_to(False, problem.n_samples)), problem=problem,
    )  # fmt: skip

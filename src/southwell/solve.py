"""``solve``, the entry point of the optimisation layer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from . import _core, _keywords, _threads, methods
from ._interrupts import Interrupts
from ._names import count, flag, positive
from ._question import Question, Start
from ._shards import InFiles, targets_of
from ._typing import Given
from ._words import Words
from .block_problem import BlockProblem, is_block_problem
from .losses import Loss
from .methods import Method, Prepared
from .penalties import ElasticNet
from .problem import Problem
from .result import Effort, Progress, Result, Screened, history_arrays
from .status import Status

Q = TypeVar("Q", bound=Question, contravariant=True)


class Prepares(Protocol[Q]):
    """A method, as far as ``run`` needs to know it."""

    def prepare(self, problem: Q, start: Start, seed: int) -> Prepared: ...


Callback = Callable[[Progress], bool | None]
"""Called after each certificate; a true value stops the solve."""

CallbackOfMany = Callable[[int, Progress], bool | None]
"""The same, with the number of the problem or of the point of a path."""


CALLER = 3
"""The frames from a public function, whose keywords are checked first, to its caller: where warnings point to."""


class ConvergenceWarning(UserWarning):
    """The gap did not reach the tolerance. The message contains both, and advice."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a solve; ``result`` holds the best certified point so far."""

    result: Result | None = None


@_keywords.answers(_keywords.OF_SOLVE)
def solve(
    A: Given,
    b: Given = None,
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
    callback: Callback | None = None,
    warm_start: Result | np.ndarray | tuple[np.ndarray, float] | None = None,
    record_history: bool = True,
    n_threads: int | None = None,
    rigorous: bool = False,
) -> Result:
    """Fit a regularised linear model, and prove how close it is to the optimum.

    Minimises ``sum_i s_i phi(a_i'x + c; b_i) + l1 ||x||_1 + (l2/2) ||x||^2`` with sample weights ``s`` that sum to one,
    until ``gap <= tol * scale``. The scale is P(0), the objective of the zero model, with the best intercept if there
    is one; for losses with a log link (Poisson, gamma, ...), whose minima are not zero, half the null deviance.

    Parameters
    ----------
    A : array, DataFrame, sparse matrix, ``Centred``, ``Factorised`` or ``Problem``
        The data. Results keep the names of a DataFrame's columns. With a ``Problem``, ``b``, ``loss``, ``l1``, ``l2``,
        ``penalty``, ``intercept``, ``sample_weight`` and ``offset`` must not be given.
    b : array of shape (n_samples,) or (n_samples, n_tasks)
        Targets; for losses over classes labels of any kind. Several columns are several tasks.
    loss : str or Loss
        squared, logistic, smooth_hinge, hinge, squared_hinge, huber, quantile, epsilon_insensitive,
        squared_epsilon_insensitive, modified_huber, poisson, gamma, tweedie or negative_binomial; over classes
        softmax or multiclass_hinge.
    l1, l2 : float
        Strength of the penalty; alternatively give ``penalty``.
    penalty : ElasticNet, Groups or MaxGroups, optional
        A penalty with weights or bounds, or one on groups of features.
    intercept : bool
        Adds an intercept that is never penalised.
    sample_weight : array of shape (n_samples,), optional
    offset : array of shape (n_samples,), or (n_samples, n_tasks or n_classes), optional
        Known parts of the margins, which become a_i'x + c + offset_i. For counts over different exposures, their
        logarithms.
    method : str or Method
        "auto" switches between several algorithms; see ``methods.Auto``.
    tol : float
        Relative duality gap to reach.
    max_epochs, max_seconds : int, float
        Limits; the solve ends at the first that is reached.
    check_every : int, optional
        Epochs between certificates. Default: the number expected to bring the gap near its goal, at most 10 and at most
        as many as there were so far. Dual rounds of "auto" estimate the gap: there a certificate comes when the
        estimate has reached the goal, and otherwise every 20 epochs or sooner. Never before the work since the last
        certificate exceeds the cost of a certificate. Primal rounds of "auto" always end with one.
    seed : int
        The same seed gives the same numbers on the same machine.
    callback : callable, optional
        Called with a ``Progress`` at each certificate; a true value stops the solve.
    warm_start : Result, array or (array, intercept), optional
        The starting point. Default: zero.
    record_history : bool
        Keep a row for each certificate; False keeps only the last.
    n_threads : int, optional
        For products with A, certificates, Newton steps and sweeps over samples; default: see
        ``southwell.set_num_threads``. Results with one thread and with more may differ in their last digits.
    rigorous : bool
        Include all rounding errors in the last certificate: ``primal``, ``dual`` and ``gap`` of the result are then
        bounds that hold in exact arithmetic (see ``Result.prove``). If their gap exceeds the tolerance, and more
        accuracy does not help, the status is ``PRECISION``.

    Returns
    -------
    Result

    Raises
    ------
    Interrupted
        On Ctrl-C, within a fraction of a second. It is a KeyboardInterrupt; its ``result`` is the best point so far.

    Warns
    -----
    ConvergenceWarning
        When epochs or seconds run out; the message contains the gap, the tolerance and advice.

    Examples
    --------
    >>> import southwell as sw
    >>> from sklearn.datasets import load_diabetes
    >>> A, b = load_diabetes(return_X_y=True)
    >>> r = sw.solve(A, b, l1=0.5, intercept=True)
    >>> r.status, r.nonzeros, r.relative_gap <= 1e-6
    (Status.CONVERGED, 4, True)
    """
    begun = time.perf_counter()
    problem = stated(A, b, loss, l1, l2, penalty, intercept, sample_weight, offset, "solve")
    settings = Settings.checked(tol, max_epochs, max_seconds, check_every, seed, record_history, n_threads)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; got {type(callback).__name__}.")
    chosen, rigorous = able(methods.get(method), problem), flag("rigorous", rigorous)
    if rigorous:
        problem.refuse_bounds()
    result, error = run(problem, chosen, problem.start(warm_start), settings, begun, callback)
    if rigorous and error is None:
        result, error = _proven(problem, result, chosen, settings, begun, callback)
    if error is not None:
        raise_with(error, replace(result, status=Status.INTERRUPTED))
    for words in shortcomings(result):
        warnings.warn(words, ConvergenceWarning, stacklevel=CALLER)
    return result


@dataclass(frozen=True)
class Settings:
    """Checked settings: when to stop and what to record."""

    tol: float
    max_epochs: int
    max_seconds: float
    check_every: int
    seed: int
    record_history: bool
    n_threads: int

    @classmethod
    def checked(cls, tol: Given, max_epochs: Given, max_seconds: Given, check_every: Given, seed: Given,
                record_history: Given, n_threads: Given) -> Settings:  # fmt: skip
        return cls(
            positive("tol", tol, zero=True),
            count("max_epochs", max_epochs, 0),
            np.inf if max_seconds is None else positive("max_seconds", max_seconds),
            0 if check_every is None else count("check_every", check_every, 1),
            count("seed", seed, 0),
            flag("record_history", record_history),
            _threads.checked(n_threads),
        )


def stated(A: Given, b: Given, loss: str | Loss, l1: Given, l2: Given, penalty: Given, intercept: Given,
           sample_weight: Given, offset: Given, called: str) -> Problem:  # fmt: skip
    """The problem that the arguments of ``solve`` or another function state."""
    if isinstance(A, Problem):
        restated = [given is not None for given in (b, penalty, sample_weight, offset)]
        restated += [not (isinstance(loss, str) and loss == "squared"), intercept is not False]
        restated += [not (np.isscalar(given) and given == 0) for given in (l1, l2)]
        if any(restated):
            raise TypeError(
                "A Problem already holds b, loss, penalty, intercept, sample_weight and offset; give them there."
            )
        return A
    if isinstance(A, InFiles):
        b = targets_of(A, b)
    if b is None:
        raise TypeError(f"{called}(A, b, ...) needs targets b, or a Problem or Store alone.")
    kind = BlockProblem if is_block_problem(b, loss, penalty) else Problem
    return kind(
        A, b, loss, one_penalty(l1, l2, penalty), intercept=intercept, sample_weight=sample_weight, offset=offset
    )


def one_penalty(l1: Given, l2: Given, penalty: ElasticNet | None) -> ElasticNet:
    if penalty is not None and not all(np.isscalar(given) and given == 0 for given in (l1, l2)):
        raise TypeError("Give either penalty or l1 and l2, not both.")
    return ElasticNet(l1, l2) if penalty is None else penalty


def able(method: Method, problem: Problem) -> Method:
    """The method, if it supports the data and the problem; else an error."""
    if problem.factorised and not method.takes_factors:
        names = ", ".join(sorted(name for name, known in methods.ALL.items() if known.takes_factors))
        raise ValueError(
            f"{type(method).__name__} needs stored rows or columns of A, which factorised data lack. Use one of "
            f"{names}; or give U @ V, if it fits in memory."
        )
    if problem.in_parts and not method.takes_parts:
        names = ", ".join(sorted(name for name, known in methods.ALL.items() if known.takes_parts))
        raise ValueError(
            f"{type(method).__name__} needs all rows in memory, and these stay in files. Use {names}, or open the "
            "store with more memory, if the machine has it."
        )
    if problem.loss.own and not method.takes_own_losses:
        names = ", ".join(sorted(name for name, known in methods.ALL.items() if known.takes_own_losses))
        raise ValueError(
            f"{type(method).__name__} steps along single coordinates or samples, which {problem.loss.name}, a loss of "
            f"your own, does not support: it is asked for all samples at once. Use one of {names}."
        )
    if problem.blocks and not method.takes_blocks:
        names = ", ".join(sorted(name for name, known in methods.ALL.items() if known.takes_blocks))
        raise ValueError(
            f"{type(method).__name__} does not support problems with blocks of coefficients (several targets or "
            f"classes, or groups). Use one of {names}; for targets or classes one by one, solve_many or 'ovr'."
        )
    return method


def run(
    problem: Q, method: Prepares[Q], start: Start, settings: Settings, begun: float,
    callback: Callback | None = None, cancelled: _core.Flag | None = None,
) -> tuple[Result, BaseException | None]:  # fmt: skip
    """Prepare and drive: the result, and the exception that ended it early, if any."""
    with Interrupts(cancelled) as interrupts:
        prepared = method.prepare(problem, start, settings.seed)
        try:
            result, error = drive(problem, prepared, settings, begun, callback, interrupts.flag)
        finally:
            prepared.close()
    return result, error or interrupts.lost


def drive(
    problem: Question, prepared: Prepared, settings: Settings, begun: float,
    callback: Callback | None = None, cancelled: _core.Flag | None = None,
) -> tuple[Result, BaseException | None]:  # fmt: skip
    """The same for an algorithm that is prepared, or has run before."""
    before = time.perf_counter() - begun
    with Interrupts(cancelled) as interrupts:
        outcome = _core.drive(
            prepared.algorithm, settings.tol, settings.max_epochs, max(settings.max_seconds - before, 0.0),
            settings.check_every, settings.n_threads, _threads.processors(),
            None if callback is None else _Reporter(callback, problem, prepared.whole, before), settings.record_history,
            interrupts.flag,
        )  # fmt: skip
        result = _result(problem, outcome, settings.tol, prepared, before)
    return result, outcome["error"] or interrupts.lost


def _proven(
    problem: Problem,
    result: Result,
    method: Method,
    settings: Settings,
    begun: float,
    callback: Callback | None,
) -> tuple[Result, BaseException | None]:
    """The result with bounds that hold in exact arithmetic. If they miss the tolerance, a tenth of it is tried once."""
    bounded, error = _bounded(result), None
    if result.status and not bounded.status:
        finer = replace(settings, tol=0.1 * settings.tol)
        again, error = run(problem, method, problem.start(result), finer, begun, callback)
        again = replace(
            again, tol=settings.tol, epochs=result.epochs + again.epochs, status=result.status if again.status else
            again.status, setup=result.setup | again.setup,
            history={name: np.concatenate((result.history[name], column)) for name, column in again.history.items()},
        )  # fmt: skip
        bounded = min(bounded, _bounded(again), key=lambda one: one.gap)
    return bounded, error


def _bounded(result: Result) -> Result:
    proof = result.prove()
    met = proof.gap <= result.tol * result.scale
    status = Status.PRECISION if result.status and not met else result.status
    return replace(result, y=proof.y, primal=proof.primal, dual=proof.dual, gap=proof.gap, status=status)


class _Reporter:
    """Converts the reports of the core to ``Progress`` for the callback."""

    def __init__(
        self, callback: Callback, problem: Question, whole: Callable[[np.ndarray], np.ndarray], seconds_before: float
    ) -> None:
        self.callback, self.problem, self.whole, self.before = callback, problem, whole, seconds_before

    def __call__(self, record: tuple[Any, ...], inner: np.ndarray, scale: float) -> bool:
        progress = Progress._make((*record, *self.problem.from_inner(self.whole(inner)), scale))
        return bool(self.callback(progress._replace(seconds=progress.seconds + self.before)))


def _result(problem: Question, outcome: dict[str, Any], tol: float, prepared: Prepared, before: float) -> Result:
    inner = prepared.whole(outcome["x"])
    problem.examine_at(inner)
    x, intercept = problem.from_inner(inner)
    features, samples = outcome["screened"]
    return Result(
        x=x, intercept=intercept, y=problem.dual_shape(outcome["y"]) if outcome["y"].size else None,
        primal=outcome["primal"], dual=outcome["dual"], gap=outcome["gap"],
        scale=outcome["scale"], tol=tol, status=Status[outcome["status"]], epochs=outcome["epochs"],
        seconds=outcome["seconds"] + before, setup=prepared.setup,
        method=_told(prepared, outcome["efforts"]),
        history=history_arrays(outcome["history"], before), movers=_movers(outcome["efforts"]),
        screened=_screened(problem, prepared.screened(features), samples), problem=problem,
    )  # fmt: skip


def _told(prepared: Prepared, efforts: list[tuple[Any, ...]]) -> str:
    """A description of the method, with the rounds or steps of each mover."""
    words = [f"{name} {rounds} {'steps' if name == 'newton' else 'rounds'}" for name, rounds, *_ in efforts if rounds]
    told = ", ".join(words) or prepared.remark()
    return f"{prepared.description}: {told}" if told else prepared.description


def _movers(efforts: list[tuple[Any, ...]]) -> dict[str, Effort]:
    return {name: Effort(*numbers) for name, *numbers in efforts}


def _screened(problem: Question, features: bytes, samples: bytes) -> Screened:
    sizes = problem.n_features, problem.n_samples
    masks = [
        np.frombuffer(mask or bytes(size), bool)[:size] for mask, size in zip((features, samples), sizes, strict=True)
    ]
    return Screened(*masks)


def raise_with(error: BaseException, result: Any) -> None:
    """Raise the error, or for Ctrl-C an ``Interrupted`` with the result so far."""
    if isinstance(error, KeyboardInterrupt):
        stop = Interrupted(*error.args)
        stop.result = result
        raise stop from error
    raise error


def shortcomings(result: Result) -> list[str]:
    """Warnings about a result."""
    problem = result.problem
    if problem is None:
        return []
    words = problem.words
    advice = words.advice.get(result.status)
    # If the zero model is optimal up to rounding, no tolerance can be reached, and none needs to be.
    if advice is None or (result.status is Status.PRECISION and result.scale == 0):
        return problem.remarks(result)
    short = (
        f"{result.status.value} Gap {result.gap:.3g} is {result.relative_gap:.3g} of {words.unit}; "
        f"tol is {result.tol:.3g}. To go on: {advice}; or {words.again}."
    )
    return [short, *problem.remarks(result)]


def shortcoming_of_many(
    words: Words, statuses: Sequence[Status], gaps: Iterable[float], tol: float, what: str
) -> list[str]:
    """One warning for all solves that did not reach the tolerance, if any."""
    short = [(gap, status) for gap, status in zip(gaps, statuses, strict=True) if status in words.advice]
    if not short:
        return []
    gap, status = max(short, key=lambda pair: pair[0])
    return [
        f"{len(short)} of {len(statuses)} {what} did not reach the tolerance, {tol:.3g}. The worst: {status.value} "
        f"Its gap is {gap:.3g} of {words.unit}. To go on: {words.advice[status]}."
    ]

"""Small saddle problems as the compiled core and as the references see them."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import southwell as sw
from southwell import _core, reference
from southwell.methods import DSPDC, Start
from southwell.penalties import ElasticNet

threadpool_limits(1)  # examples are small: BLAS's threads would wait for each other, and for other tests

LOSSES = list(sw.losses.ALL)
BOUNDED = [name for name in LOSSES if np.isfinite(sw.losses.get(name).smoothness)]  # phi'' is
N, D = 24, 17
TIMES = (1, 2, 3, 5, 8, 20, 50)

FORMS = {
    "dense": np.asarray,
    "sparse": sp.csr_array,
    "float32": lambda A: np.asarray(A, dtype=np.float32),
    "sparse float32": lambda A: sp.csc_array(A.astype(np.float32)),
}


def forms(loss):
    """All of them for two losses; for the others, which share their code, one."""
    return FORMS if loss in ("squared", "logistic") else ("sparse",)


def penalties(d=D):
    """By name; those with l2 > 0 on every coefficient first."""
    return {
        "l2": ElasticNet(l2=0.1),
        "elastic net": ElasticNet(l1=0.02, l2=0.1),
        "box": ElasticNet(l1=0.01, l2=0.1, lower=-0.2, upper=np.where(np.arange(d) % 3 == 0, np.inf, 0.3)),
        "weights": ElasticNet(l1=0.02, l2=0.1, weights=np.linspace(0.3, 3.0, d)),
        "l1": ElasticNet(l1=0.02),
        "partly free": ElasticNet(l1=0.02, l2=0.1, weights=np.where(np.arange(d) % 4 == 0, 0.0, 1.0)),
    }


ALL = list(penalties())
STRONG = ["l2", "elastic net", "box", "weights"]


def data(loss, n=N, d=D, density=0.4, seed=0, weighted=True):
    """Uneven rows, some entries missing; targets of a noisy sparse model; weights."""
    loss = sw.losses.get(loss)
    rng = np.random.default_rng([seed, n, d])
    A = rng.normal(size=(n, d)) * rng.uniform(0.4, 1.5, (n, 1)) * (rng.random((n, d)) < density)
    m = A @ np.where(rng.random(d) < 0.5, rng.normal(size=d), 0.0) + 0.5 * rng.normal(size=n) + 0.2
    means = np.exp(np.clip(m, -3, 2))
    b = {"real": m, "signs": np.where(m > 0, 1.0, -1.0), "counts": np.round(means), "positive": means}[loss.targets]
    if loss.targets == "signs" and n > 1:
        b[:2] = 1.0, -1.0
    return A, b, loss, rng.uniform(0.3, 2.0, n) if weighted else None


def problem_of(loss="squared", penalty="elastic net", form="dense", intercept=False, **options):
    A, b, loss, s = data(loss, **options)
    penalty = penalties(A.shape[1])[penalty] if isinstance(penalty, str) else penalty
    form = FORMS[form] if isinstance(form, str) else form
    return sw.Problem(form(A), b, loss, penalty, intercept=intercept, sample_weight=s)


def factors(n=N, d=D, k=4, seed=0):
    """U and V of A = U V, with some entries missing."""
    rng = np.random.default_rng([seed, n, d, k])
    return tuple(rng.normal(size=size) * (rng.random(size) < 0.6) for size in ((n, k), (k, d)))


FACTOR_FORMS = {
    "dense": (np.asarray, np.asarray),
    "sparse": (sp.csr_array, sp.csc_array),
    "the wrong way round": (sp.csc_array, sp.csr_array),
    "dense times sparse": (np.asfortranarray, sp.csr_array),
    "sparse times dense": (sp.csr_array, np.asarray),
    "float32": (lambda U: U.astype(np.float32), lambda V: V.astype(np.float32)),
    "mixed": (lambda U: sp.csr_array(U.astype(np.float32)), np.asarray),
}


def factorised(loss, penalty, form, intercept=False):
    plain = problem_of(loss, penalty)
    U, V = (to(part) for to, part in zip(FACTOR_FORMS[form], factors(), strict=True))
    return sw.Problem(
        sw.Factorised(U, V), plain.targets, loss, plain.penalty, intercept=intercept, sample_weight=plain.weights
    )


def stored(matrix):
    rows = matrix.rows
    return (rows.toarray() if matrix.sparse else rows).astype(float)


def parts(problem):
    """A, b, s, loss and net as the references take them: an intercept is a last column of ones."""
    data = problem.data
    A = stored(data.U) @ stored(data.V) if problem.factorised else stored(data)
    A = A + (0.0 if problem.shifts is None else problem.shifts)
    A = np.hstack([A, np.ones((problem.n_samples, int(problem.intercept)))])
    net = reference.ElasticNet.of(problem.penalty, problem.n_features, problem.intercept)
    return A, problem.targets, problem.weights, problem.loss, net


def norms_of(problem):
    """sqrt(n s_i) ||a_i||."""
    A, _, s, _, _ = parts(problem)
    return np.sqrt(s.size * s) * np.linalg.norm(A, axis=1)


def begin(method, problem, seed=0, x=None, y=None):
    """The compiled algorithm, settled at its start: at x, or at zero, the intercept too."""
    if x is None:
        x, y = np.zeros(problem.n_features + problem.intercept), np.zeros(problem.n_samples) if y is None else y
    core = method.prepare(problem, Start(x, y), seed).algorithm
    core.settle()
    return core


def close(got, want, tol=1e-9):
    got, want = np.asarray(got), np.asarray(want)
    assert np.isfinite(got).all()
    apart, size = np.abs(got - want).max(initial=0.0), max(1.0, np.abs(want).max(initial=0.0))
    assert apart <= tol * size, f"{apart / size:.3g} apart"


def cut(led, ends):
    """What ``lead`` of a method with lists of its own lengths tells: the lists, each of which ends with -1."""
    lists, at = [], 0
    for end in np.flatnonzero(np.asarray(led) == -1):
        lists.append(list(led[at:end]))
        at = end + 1
    assert at == len(led) and len(lists) % ends == 0
    return [tuple(lists[k : k + ends]) for k in range(0, len(lists), ends)]


def somewhere(problem, seed=1):
    """A point with zeros and, for an intercept, its own number; and the dual point that methods begin with there."""
    A, b, _, loss, net = parts(problem)
    rng = np.random.default_rng(seed)
    x = np.clip(np.where(rng.random(net.l1.size) < 0.3, 0.0, rng.normal(size=net.l1.size)), net.lo, net.hi)
    return {"x": x, "y": loss.derivative(A @ x, b)}


def driven(method, problem, epochs, seed=0):
    """The compiled algorithm after so many epochs, with certificates before and after alone."""
    core = begin(method, problem, seed)
    _core.drive(core, 0.0, epochs, np.inf, 10**6, 1, 1, None, False)
    return core


def as_the_twin(method, problem, twin, start=None, times=TIMES, dual=True):
    """For each of ``times``: the method led so far without a stop stands where ``twin(led)`` does.

    An intercept is shown where its own problem would put it, so features are compared."""
    led = None
    for t in times[::-1]:
        core = begin(method, problem, **({"x": start["x"]} if start else {}))
        moves = core.lead(t)
        assert led is None or led[: len(moves)] == moves
        led = moves if led is None else led
        want, got = twin(moves), core.point()
        close(got[0][: problem.n_features], want[0][: problem.n_features])
        if dual:
            close(got[1], want[1])


def first_centre(method, start):
    """Centres that follow begin where the method does; others stay at 0."""
    return (start["x"], start["y"]) if start and method.recentre else None


def spdc_twin(method, problem, start=None):
    A, b, s, loss, net = parts(problem)
    at = method._conditioning(problem)
    firm = net.l2.min() + at.dx, 1 / loss.smoothness + at.dy
    weighted = method.sampling == "norms"
    steps = reference.spdc_steps(norms_of(problem), s.size, *firm, method.batch, weighted)
    options = {"perturb": (at.dx, at.dy), "centre": first_centre(method, start), **(start or {})}
    if weighted:
        options["probabilities"] = reference.spdc_probabilities(norms_of(problem))

    def twin(led):
        return reference.spdc(A, b, s, loss, net, np.reshape(led, (-1, method.batch)), steps, **options)

    return twin


def incremental_twin(method, problem, start=None, stage=None):
    A, b, s, loss, net = parts(problem)
    part = {"saga": 1 / 3, "sag": 1.0, "svrg": 1 / 4, "sgd": 1.0}[method.name]
    step = part / (norms_of(problem).max() ** 2 * loss.smoothness) if method.step is None else method.step
    more = [stage or 10**9] if method.name == "svrg" else []
    x = None if start is None else start["x"]
    if method.name == "sgd":  # each epoch is n steps, of one length; led without an end of epochs if stage is None
        firm = 0.0 if problem.intercept else net.l2.min()
        decay, power = (step * firm * s.size, 1.0) if firm > 0 else (1.0, 0.5)

        def twin(led):
            epochs = np.arange(len(led)) // (stage or 10**9)
            return reference.sgd(A, b, s, loss, net, led, step / (1 + decay * epochs) ** power, x=x)

        return twin
    return lambda led: getattr(reference, method.name)(A, b, s, loss, net, led, step, *more, x=x)


def dspdc(m=3, q=2, **options):
    return DSPDC(rows=m, columns=q, scale=2.0, **options)


def quietly(*args, **options):
    """``solve`` without the warning that it did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        return sw.solve(*args, **options)


def honest(r, best=None, slack=1e-9):
    """What a result claims is true: its x has that objective, and, where the optimum is known, lies so near to it."""
    assert np.isfinite(r.x).all() and np.isfinite(r.intercept) and np.isfinite(r.y).all()
    assert np.isfinite([r.primal, r.dual, r.gap]).all() and r.gap >= 0
    plain = r.problem.weights @ r.problem.loss.value(0 * r.problem.targets, r.problem.targets)  # the size of numbers
    unit = max(abs(r.primal), r.scale, plain, np.finfo(float).tiny)
    assert r.problem.certify(r.x, intercept=r.intercept).primal <= r.primal + slack * unit
    assert r.problem.certify(r.x, r.y, r.intercept).dual >= r.dual - slack * unit
    if bool(r.status):
        assert r.gap <= max(r.tol * r.scale, 1e-14 * unit)
    if best is not None:
        assert r.primal >= best - slack * unit
        assert r.gap >= r.primal - best - slack * unit


def proven(r, tol=1e-10, slack=1e-9):
    """And it has come as far as it was asked to."""
    trivial = r.status is sw.Status.PRECISION and r.scale == 0  # the zero model is optimal but for rounding
    assert r.status or trivial, repr(r)
    assert r.gap <= max(tol * r.scale, 1e-15 * abs(r.primal))
    honest(r, slack=slack)

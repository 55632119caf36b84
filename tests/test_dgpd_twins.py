"""The doubly greedy method, plain and with active sets, moves as its slow twins in NumPy do."""

from itertools import pairwise, permutations

import numpy as np
import pytest

import southwell as sw
from saddles import BOUNDED, FORMS, STRONG, D, N, begin, close, cut, forms, parts, problem_of, somewhere
from southwell import reference
from southwell.methods import DGPD
from southwell.penalties import ElasticNet

# Doubly greedy


def alike(got, want, scores):
    """Are these the picks, but for scores that rounding cannot tell apart?"""
    top = np.zeros((2, max(len(got), len(want))))
    top[0, : len(got)], top[1, : len(want)] = scores[got], scores[want]
    return len(set(got)) == len(got) and np.abs(top[0] - top[1]).max(initial=0.0) <= 1e-13


def greedy_as_the_twin(problem, picks, steps=50, perturb=0.0, other=None, start=None):
    """Whom it picks and where that leads, one iteration after the other."""
    columns, rows = picks
    method = DGPD(active_sets=False, columns=columns, rows=rows, step=4.0, perturb=perturb, recentre=False)
    core = begin(method, problem, **({"x": start["x"]} if start else {}))
    given = other or parts(problem)
    A, b, s, loss, net = given
    x, y = (np.zeros(A.shape[1]), np.zeros(N)) if start is None else (start["x"], start["y"])
    for _ in range(steps):
        want_x, want_y, [(J, I)] = reference.dgpd(*given, 1, picks=picks, q=N / 4.0, x=x, y=y)
        [(got_J, got_I)] = cut(core.lead(1), 2)
        if (got_J, got_I) != (J, I):  # then from its picks
            z = A.T @ (s * y)
            assert alike(got_J, J, net.value(x) + net.conjugate(-z) + z * x)
            want_x, want_y = x.copy(), y.copy()
            want_x[got_J] = net.conjugate_gradient(-z)[got_J]
            after = loss.maximise(A @ want_x, y, N / 4.0, b)
            assert len(got_I) == rows or np.abs(np.delete(after - y, got_I)).max(initial=0.0) <= 1e-13
            best = np.argsort(-np.sqrt(N * s) * np.abs(after - y), kind="stable")[: len(got_I)].tolist()
            assert alike(got_I, best, np.sqrt(N * s) * np.abs(after - y))
            want_y[got_I] = after[got_I]
        x, y = want_x, want_y
        got = core.point()
        close(got[0][: problem.n_features], x[: problem.n_features])
        close(got[1], y)


@pytest.mark.parametrize("picks", [(1, 1), (3, 2), (D, N)])
@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", BOUNDED)
def test_doubly_greedy_steps_are_those_of_the_twin(loss, penalty, picks):
    """From elsewhere, where no two samples score alike."""
    for form in forms(loss):
        problem = problem_of(loss, penalty, form)
        greedy_as_the_twin(problem, picks, 50 if form == "sparse" else 20, start=somewhere(problem))


@pytest.mark.parametrize("picks", [(1, 1), (3, 2)])
def test_doubly_greedy_from_nothing(picks):
    for form in FORMS:
        greedy_as_the_twin(problem_of("squared", "elastic net", form), picks)
        greedy_as_the_twin(problem_of("squared", "elastic net", form, weighted=False), picks)


@pytest.mark.parametrize("picks", [(1, 1), (3, 2)])
def test_perturbed_steps_are_those_of_the_twin(picks):
    """The hinge with a square around 0 at its conjugate is the smooth hinge; a square around 0 adds to l2."""
    problem = problem_of("hinge", ElasticNet(l1=0.02, l2=0.1), "sparse")
    more = parts(problem_of(sw.losses.SmoothHinge(0.7), ElasticNet(l1=0.02, l2=0.4), "sparse"))
    start = somewhere(problem_of(sw.losses.SmoothHinge(0.7), "elastic net", "sparse"))
    start["y"] = problem.loss.derivative(more[0] @ start["x"], more[1])
    greedy_as_the_twin(problem, picks, perturb=(0.3, 0.7), other=more, start=start)


@pytest.mark.parametrize("form", FORMS)
def test_doubly_greedy_with_an_intercept(form):
    """dx stands in for its curvature; the references have l2 on it."""
    problem = problem_of("squared", ElasticNet(l1=0.02, l2=0.1), form, intercept=True)
    A, b, s, loss, net = parts(problem)
    net = reference.ElasticNet(net.l1, net.l2 + 0.3, net.lo, net.hi)
    for picks in ((1, 1), (3, 2)):
        greedy_as_the_twin(problem, picks, perturb=(0.3, 0.0), other=(A, b, s, loss, net))


def test_doubly_greedy_passes_over_samples_without_weight_and_empty_fibers():
    plain = problem_of("squared")
    A, s = plain.data.rows.copy(), plain.weights.copy()
    A[:, [2, 9]], A[[3, 8]], s[[0, 8, 11]] = 0.0, 0.0, 0.0
    for form in ("dense", "sparse"):
        problem = sw.Problem(FORMS[form](A), plain.targets, "squared", plain.penalty, sample_weight=s)
        for picks in ((1, 1), (3, 2), (D, N)):
            greedy_as_the_twin(problem, picks)


@pytest.mark.parametrize("picks", [(1, 1), (3, 2)])
@pytest.mark.parametrize("loss", ["squared", "smooth_hinge", "logistic"])
def test_steps_are_adapted_as_the_twin_adapts_them(loss, picks):
    """Lengthened, and shortened after a return, many times in these iterations."""
    for form in ("dense", "sparse"):
        problem = problem_of(loss, ElasticNet(l1=0.02, l2=0.1), form)
        start, method = somewhere(problem), DGPD(active_sets=False, columns=picks[0], rows=picks[1], perturb=0.0)
        A = parts(problem)[0]
        entries = (A != 0) if form == "sparse" else np.ones(A.shape, bool)
        sizes = entries.sum(axis=1), entries.sum(axis=0)
        core = begin(method, problem, x=start["x"])
        core.lead(200)
        want = reference.dgpd_adapted(*parts(problem), 200, picks=picks, sizes=sizes, **start)
        close(core.point()[0], want[0], 1e-7)
        close(core.point()[1], want[1], 1e-7)
        assert min(want[2]) < want[2][0] / 20 and (np.diff(want[2]) > 0).any()


# Active sets


def active_as_the_twin(problem, epochs=20, tol=1e-9, perturb=0.0, recentre_every=0, **options):
    method = DGPD(order="together", perturb=perturb, recentre=recentre_every > 0, **options)
    start = somewhere(problem)
    step = options.pop("step", None)
    want = reference.active_sets(
        *parts(problem), epochs, **start, **options, doubling="enter" not in options,
        weight=0.0 if step is None else problem.n_samples / step,
        perturb=perturb if isinstance(perturb, tuple) else (perturb, perturb), recentre_every=recentre_every,
    )  # fmt: skip
    core = begin(method, problem, x=start["x"])
    assert cut(core.lead(epochs), 2) == want[2]
    got = core.point()
    close(got[0][: problem.n_features], want[0][: problem.n_features], tol)
    close(got[1], want[1], tol)
    return want


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", BOUNDED)
def test_active_sets_move_together_as_the_twin(loss, penalty):
    """Steps are lengthened until they are too long, which lets rounding grow."""
    for form in forms(loss):
        for enter, passes, tol in ((2, 1, 1e-9), (64, 1, 1e-9), (3, 5, 1e-6)):
            active_as_the_twin(problem_of(loss, penalty, form), tol=tol, enter=enter, passes=passes)


def test_a_set_doubles_by_default():
    """64 columns and rows, then again as many as there are."""
    problem = problem_of("squared", ElasticNet(l1=1e-4, l2=0.1), "dense", n=300, d=290)
    core = begin(DGPD(order="together", passes=1, perturb=0.0), problem)
    want = reference.active_sets(*parts(problem), 4, passes=1)
    led = cut(core.lead(4), 2)
    assert [tuple(map(len, pair)) for pair in led] == [tuple(map(len, pair)) for pair in want[2]]
    assert len(led[0][1]) == 64 and len(led[1][1]) == 128 and len(led[2][1]) == 256
    close(core.point()[0], want[0])


@pytest.mark.parametrize("order", ["in turn", "together"])
def test_one_column_and_one_row_enter_a_search(order):
    problem = problem_of("squared", ElasticNet(l1=1e-3, l2=0.1), "sparse", n=60, d=50)
    core = begin(DGPD(order=order, passes=1, enter=1, perturb=0.0), problem)
    led = [(set(), set()), *((set(columns), set(rows)) for columns, rows in cut(core.lead(50), 2))]
    for before, after in pairwise(led):
        assert len(after[0] - before[0]) <= 1 and len(after[1] - before[1]) <= 1
    assert len(led[-1][0]) > 20 and len(led[-1][1]) > 20


@pytest.mark.parametrize("options", [{"step": 2.0}, {"step": 30.0, "passes": 3}, {"adapt": False}, {"enter": 1}])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_options_of_active_sets_after_fifty_epochs(loss, options):
    options = {"passes": 1, "enter": 2, **options}
    for form in ("dense", "sparse"):
        active_as_the_twin(problem_of(loss, "elastic net", form), epochs=50, tol=1e-7, **options)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_active_sets_come_and_go(form):
    """An l1 that empties most columns, and margins that leave samples at rest."""
    problem = problem_of("smooth_hinge", ElasticNet(l1=0.02, l2=0.02), form, n=60, d=90, density=0.3, seed=4)
    *_, active = active_as_the_twin(problem, epochs=30, tol=1e-7, enter=2, passes=2)
    for side in (0, 1):
        sizes = np.array([len(pair[side]) for pair in active])
        assert (np.diff(sizes) < 0).any() and (np.diff(sizes) > 0).any()
    left = [set(one[0]) - set(two[0]) for one, two in pairwise(active)]
    assert any(gone & set(later[0]) for k, gone in enumerate(left) for later in active[k + 2 :])  # and come back


@pytest.mark.parametrize("loss", ["squared", "hinge", "poisson"])
def test_perturbed_active_sets_move_as_the_twin(loss):
    """Around 0, and with centres that follow after every second epoch."""
    for penalty in ("elastic net", "l1", "partly free"):
        problem = problem_of(loss, penalty, "sparse")
        for every in (0, 2):
            active_as_the_twin(problem, enter=3, passes=2, perturb=(0.3, 0.7), recentre_every=every)


@pytest.mark.parametrize("form", FORMS)
def test_active_sets_with_an_intercept(form):
    for every in (0, 2):
        problem = problem_of("squared", "box", form, intercept=True)
        active_as_the_twin(problem, enter=3, passes=2, perturb=(0.3, 0.0), recentre_every=every)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_active_sets_in_turn_follow_some_order(loss, form):
    """One pass over five samples at a time: the core stands where one of the 120 orders leads."""
    problem = problem_of(loss, "elastic net", form, n=5, d=8)
    start = somewhere(problem)
    core = begin(DGPD(passes=1, enter=3, perturb=0.0), problem, x=start["x"])
    at = reference.ActiveSets(*parts(problem), **start, enter=3, doubling=False)
    orders = set()
    for _ in range(8):
        led = cut(core.lead(1), 2)
        got = core.point()
        at.search()
        before, found = (list(at.columns), list(at.rows), at.x.copy(), at.y.copy()), []
        for order in permutations(before[1]):
            at.columns, at.rows, at.x, at.y = list(before[0]), list(before[1]), before[2].copy(), before[3].copy()
            at.pass_in_turn(order)
            at.release()
            if np.abs(at.x - got[0]).max() + np.abs(at.y - got[1]).max() <= 1e-9:
                assert led == [(at.columns, at.rows)]
                found.append((order, at.x, at.y, list(at.columns), list(at.rows)))
        assert found  # perhaps several: samples that do not meet may change places
        order, at.x, at.y, at.columns, at.rows = found[0]
        orders.add(tuple(np.argsort(order)))
    assert len(orders) > 2


@pytest.mark.parametrize("loss", ["squared", "smooth_hinge", "logistic"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_active_sets_in_turn_raise_the_dual(loss, form):
    """Of the problem restricted to the columns of the epoch; those that left had no part in it. And the gap closes."""
    problem = problem_of(loss, ElasticNet(l1=0.03, l2=0.05), form, n=60, d=40, seed=5)
    core = begin(DGPD(passes=2, enter=4, perturb=0.0), problem)
    at = reference.ActiveSets(*parts(problem), enter=4, doubling=False)
    for _ in range(60):
        at.search()
        before = at.dual()
        columns = list(at.columns)
        [(left_columns, left_rows)] = cut(core.lead(1), 2)
        at.x, at.y = (np.array(part) for part in core.point())
        assert set(left_columns) <= set(columns) and set(left_rows) <= set(at.rows) | set(left_rows)
        assert not at.x[np.setdiff1d(np.arange(40), left_columns)].any()
        assert not at.y[np.setdiff1d(np.arange(60), left_rows)].any()
        assert at.dual() >= before - 1e-13
        at.columns, at.rows = left_columns, left_rows
    assert reference.certificate(*parts(problem), at.x, at.y)[2] <= 1e-9

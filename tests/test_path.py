"""A path is its points solved one by one, each with its own proof, and may be left at any of them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cases
import southwell as sw
from cases import LOSSES, SMOOTH
from southwell import ConvergenceWarning
from southwell.methods import Auto, CoordinateDescent
from southwell.penalties import ElasticNet

FORMS = cases.FORMS | {"centred": lambda A: sw.Centred(sp.csr_array(A))}


def made(loss="squared", n=80, d=30, seed=0):
    return cases.sparse_model(loss, n, d, seed, density=0.6, offset=0.2)


def problem_of(loss="squared", form="C", intercept=True, penalty=None, weighted=False, **options):
    A, b = made(loss, **options)
    weights = np.random.default_rng(1).uniform(0.2, 2.0, b.size) if weighted else None
    return sw.Problem(FORMS[form](A), b, loss, penalty, intercept=intercept, sample_weight=weights)


def at(problem, l1, l2):
    g = problem.penalty
    return problem.with_penalty(ElasticNet(l1, l2, g.weights, g.lower, g.upper))


def sound(path, problem):
    """Shapes agree, and every certificate holds for the point it came with."""
    k = len(path)
    assert isinstance(path, sw.Path) and path.problem is problem
    names = "l1s", "l2s", "intercepts", "primal", "dual", "gaps", "nonzeros", "epochs", "screened", "explained"
    assert all(getattr(path, name).shape == (k,) for name in names)
    assert sp.issparse(path.x) and path.x.shape == (k, problem.n_features) and path.x.format == "csr"
    for j, x in enumerate(path.x.toarray()):
        here = at(problem, path.l1s[j], path.l2s[j])
        primal, _, gap = here.certify(x, intercept=path.intercepts[j])
        unit = sw.solve(here, max_epochs=0, tol=1e9).scale
        assert primal == pytest.approx(path.primal[j], rel=1e-9, abs=1e-12)
        assert path.gaps[j] * unit == pytest.approx(path.primal[j] - path.dual[j], rel=1e-6, abs=1e-11 * unit)
        assert path.dual[j] <= primal + 1e-12 * (1 + abs(primal)) and gap >= -1e-12
        assert path.nonzeros[j] == np.count_nonzero(x)
    last = path.last
    assert (last.x == path.x.toarray()[-1]).all() and last.primal == path.primal[-1]
    assert last.problem.penalty.l1 == path.l1s[-1] and last.problem.penalty.l2 == path.l2s[-1]
    assert path.seconds > 0


def one_by_one(path, problem, **options):
    """Each point is what a solve of its own finds, within the two gaps."""
    for j in range(len(path)):
        r = sw.solve(at(problem, path.l1s[j], path.l2s[j]), **options)
        assert path.dual[j] <= r.primal + 1e-12 * (1 + abs(r.primal))
        assert r.dual <= path.primal[j] + 1e-12 * (1 + abs(r.primal))


# The points


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_is_its_points(loss, form):
    for intercept in (False, True):
        problem = problem_of(loss, form, intercept)
        path = sw.path(problem, n_points=6, ratio=0.05, max_epochs=5000)
        assert path.converged and path.gaps.max() <= 1e-6
        sound(path, problem)
        one_by_one(path, problem, max_epochs=5000)


@settings(max_examples=200)
@given(
    loss=st.sampled_from(SMOOTH), form=st.sampled_from(list(FORMS)), intercept=st.booleans(), weighted=st.booleans(),
    seed=st.integers(0, 10**6), l2=st.sampled_from([0.0, 1e-3, 0.1]), tol=st.sampled_from([1e-3, 1e-6, 1e-9]),
    weights=st.sampled_from([None, "some", "zeros"]), box=st.sampled_from([(None, None), (0, None), (-0.1, 0.3)]),
    points=st.integers(1, 6), shape=st.sampled_from([(40, 8), (10, 30)]),
)  # fmt: skip
def test_paths_of_all_kinds(loss, form, intercept, weighted, seed, l2, tol, weights, box, points, shape):
    n, d = shape
    rng = np.random.default_rng(seed)
    weights = {"some": rng.uniform(0.3, 3.0, d), "zeros": np.arange(d) % 8}.get(weights)
    penalty = ElasticNet(l2=l2, weights=weights, lower=box[0], upper=box[1])
    problem = problem_of(loss, form, intercept, penalty, weighted, n=n, d=d, seed=seed)
    assume(sw.lambda_max(problem, weights=weights) > 1e-6)  # else what is not penalised explains everything
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = sw.path(problem, n_points=points, tol=tol)
        sound(path, problem)
        one_by_one(path, problem, tol=tol)
    dense = path.x.toarray()
    assert box[0] is None or dense.min() >= box[0]
    assert box[1] is None or dense.max() <= box[1]


@pytest.mark.parametrize("form", ["C", "F", "CSR", "CSC"])
@pytest.mark.parametrize("method", sorted(sw.methods.ALL))
def test_every_method_follows_a_path(method, form):
    problem = problem_of("logistic", form, penalty=ElasticNet(l2=0.1), intercept=False)
    l1s, l2s = ("auto", None) if method != "sag" else (np.zeros(4), [0.5, 0.3, 0.2, 0.1])  # which takes no l1
    tol = 1e-5 if method != "sgd" else 1e-2  # whose error falls like one over the epochs
    path = sw.path(problem, l1s=l1s, l2s=l2s, n_points=4, ratio=0.1, method=method, max_epochs=20_000, tol=tol)
    assert len(path) == 4 and path.converged
    sound(path, problem)
    one_by_one(path, problem)


@pytest.mark.parametrize("form", ["C", "F", "CSR", "CSC"])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_either_side_of_coordinate_descent(side, form):
    problem = problem_of("squared", form, penalty=ElasticNet(l2=0.1))
    path = sw.path(problem, n_points=4, ratio=0.1, method=CoordinateDescent(side, coupling="mirror"))
    assert path.converged
    sound(path, problem)


@pytest.mark.parametrize("movers", ["auto", "primal", "dual"])
@pytest.mark.parametrize("schedule", ["fixed", "timed"])
def test_every_mover_follows_a_path(schedule, movers):
    problem = problem_of("hinge", penalty=ElasticNet(l2=0.05))
    path = sw.path(problem, n_points=4, ratio=0.1, method=Auto(schedule, movers), max_epochs=20_000)
    assert path.converged
    sound(path, problem)


def test_the_same_seed_gives_the_same_numbers():
    problem = problem_of("logistic", penalty=ElasticNet(l2=0.01))
    one, two = (sw.path(problem, n_points=5, seed=3, n_threads=k) for k in (1, 2))
    assert one.x.toarray().tobytes() == two.x.toarray().tobytes()
    for name in ("primal", "dual", "intercepts", "epochs", "screened"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_the_last_point_is_told_in_full():
    problem = problem_of()
    path = sw.path(problem, n_points=5, ratio=0.1)
    last = path.last
    assert isinstance(last, sw.Result) and last.status is sw.Status.CONVERGED
    assert last.y.shape == (80,) and last.epochs == path.epochs[-1] and last.screened.n_features == path.screened[-1]
    further = at(problem, 0.5 * path.l1s[-1], 0.0)
    assert sw.solve(further, warm_start=last).status is sw.Status.CONVERGED


def test_the_movers_of_the_last_point_are_its_own():
    path = sw.path(problem_of(), n_points=5, ratio=0.1)
    assert path.last.movers["primal"].rounds == path.epochs[-1]


def test_screening_begins_anew_at_each_point():
    """What was proved under a larger l1 is not true under a smaller one."""
    problem = problem_of("squared", intercept=False, n=100, d=40)
    path = sw.path(problem, n_points=12, tol=1e-10)
    assert (path.screened + path.nonzeros <= 40).all()
    again = sw.path(problem, l1s=path.l1s[-1:], tol=1e-10)
    assert path.screened[-1] <= 40 - again.nonzeros[0]
    zeros = path.last.x[path.last.screened.features]
    assert not zeros.any()


# The grid


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_automatic_grid(loss, intercept):
    problem = problem_of(loss, intercept=intercept)
    path = sw.path(problem, n_points=7, ratio=0.02)
    top = sw.lambda_max(problem)
    assert path.l1s == pytest.approx(top * np.geomspace(1.0, 0.02, 7), rel=1e-12)
    assert path.nonzeros[0] == 0 and path.nonzeros[-1] > 0
    assert not path.l2s.any()


def test_the_default_grid():
    path = sw.path(problem_of(n=40, d=10))
    assert len(path) == 100 and path.l1s[-1] == pytest.approx(0.01 * path.l1s[0])


def test_the_automatic_grid_knows_weights_and_the_problems_l2():
    weights = np.where(np.arange(30) % 5 == 0, 0.0, 2.0)
    problem = problem_of(penalty=ElasticNet(0.3, 0.07, weights=weights))
    path = sw.path(problem, n_points=3)
    assert path.l1s[0] == pytest.approx(sw.lambda_max(problem, weights=weights))
    held = np.abs(path.x[0][weights > 0])  # zero but for rounding: l1 is exactly where the first one enters
    assert (path.l2s == 0.07).all() and held.max() < 1e-12


@pytest.mark.parametrize(
    "given", [[0.02, 0.3, 0.1], (0.1, 0.02, 0.3), np.float32([0.3, 0.02, 0.1]), [[0.02, 0.1, 0.3]]]
)
def test_strengths_are_sorted(given):
    path = sw.path(problem_of(), l1s=given)
    assert path.l1s == pytest.approx([0.3, 0.1, 0.02]) and (np.diff(path.nonzeros) >= 0).all()


def test_what_was_given_is_not_changed():
    given = np.array([0.02, 0.3, 0.1])
    given.flags.writeable = False
    path = sw.path(problem_of(), l1s=given)
    path.l1s[0] = 7.0
    assert given.tolist() == [0.02, 0.3, 0.1]


@pytest.mark.parametrize("given", [0.1, [0.1], np.float64(0.1), np.array(0.1)])
def test_a_path_may_have_one_point(given):
    problem = problem_of()
    path = sw.path(problem, l1s=given)
    r = sw.solve(at(problem, 0.1, 0.0))
    assert len(path) == 1 and path.x.toarray()[0] == pytest.approx(r.x, abs=1e-3)
    assert "1 points" in repr(path)


def test_strengths_may_repeat():
    path = sw.path(problem_of(), l1s=[0.1, 0.1, 0.1])
    assert (path.epochs[1:] <= 1).all() and np.ptp(path.primal) <= 1e-5


def test_a_scalar_l2_is_for_all():
    problem = problem_of()
    path = sw.path(problem, l1s=[0.1, 0.3], l2s=0.05)
    assert path.l1s.tolist() == [0.3, 0.1] and path.l2s.tolist() == [0.05, 0.05]
    one_by_one(path, problem)


def test_an_l2_for_each_keeps_the_order():
    problem = problem_of()
    path = sw.path(problem, l1s=[0.1, 0.3, 0.2], l2s=[0.0, 0.1, 1.0])
    assert path.l1s.tolist() == [0.1, 0.3, 0.2] and path.l2s.tolist() == [0.0, 0.1, 1.0]
    sound(path, problem)
    one_by_one(path, problem)


def test_along_l2_with_no_l1_at_all():
    problem = problem_of("logistic")
    path = sw.path(problem, l1s=np.zeros(4), l2s=np.geomspace(1.0, 1e-3, 4))
    assert path.converged
    one_by_one(path, problem)


def test_with_the_automatic_l1s():
    path = sw.path(problem_of(), l1s="auto", l2s=np.linspace(0.0, 0.1, 5), n_points=5)
    assert path.l2s.tolist() == np.linspace(0.0, 0.1, 5).tolist() and path.converged


# What is explained


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_explained(loss, intercept):
    """Between none and all of it, and more with every weaker penalty."""
    problem = problem_of(loss, intercept=intercept)
    path = sw.path(problem, n_points=15, max_epochs=5000)
    assert (path.explained >= -1e-5).all() and (path.explained <= 1.0).all()
    assert (np.diff(path.explained) >= -1e-4).all() and path.explained[-1] > 0.2


def test_explained_is_r_squared():
    problem = problem_of()
    path = sw.path(problem, n_points=5)
    b, margins = problem.targets, path.decision_function(problem.data.rows)
    r2 = 1 - ((margins - b[:, None]) ** 2).sum(axis=0) / ((b - b.mean()) ** 2).sum()
    assert path.explained == pytest.approx(r2, abs=1e-9)


def test_explained_is_the_share_of_deviance():
    from sklearn.metrics import d2_tweedie_score

    problem = problem_of("poisson")
    path = sw.path(problem, n_points=5)
    means = np.exp(path.decision_function(problem.data.rows))
    scores = [d2_tweedie_score(problem.targets, means[:, k], power=1) for k in range(5)]
    assert path.explained == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("form", ["C", "CSR"])
def test_margins(form):
    problem = problem_of("logistic", form)
    path = sw.path(problem, n_points=4)
    A = made("logistic")[0]
    for matrix in (A, sp.csr_array(A), A[:7]):
        margins = path.decision_function(matrix)
        assert isinstance(margins, np.ndarray) and margins.shape == (matrix.shape[0], 4)
        want = (matrix @ path.x.toarray().T) + path.intercepts
        assert margins == pytest.approx(want, abs=1e-12)


def test_factorised_data_have_paths():
    rng = np.random.default_rng(0)
    U, V = rng.normal(size=(60, 4)), rng.normal(size=(4, 20))
    b = np.sign(U[:, 0] + 0.3)
    paths = [
        sw.path(sw.Problem(A, b, "logistic", ElasticNet(l2=0.05)), l1s=[0.1, 0.03, 0.01], max_epochs=20_000)
        for A in (sw.Factorised(U, V), U @ V)
    ]
    assert paths[0].converged and paths[0].primal == pytest.approx(paths[1].primal, abs=2e-6)

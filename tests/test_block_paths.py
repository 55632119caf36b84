"""A path of a problem of blocks is its points solved one by one, each with its own proof."""

import pickle
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import southwell as sw
from block_data import made
from cases import FORMS
from signals import signal_on_call
from southwell.penalties import ElasticNet, Groups

THREES = np.arange(8) // 3
PENALTIES = {
    "rows": Groups(1.0),
    "groups": Groups(1.0, groups=THREES, weights="size"),
    "sparse groups": Groups(2.0, l1=0.7, groups=THREES),
    "elastic groups": Groups(1.0, l2=0.05, groups=THREES, weights=[1.0, 2.0, 0.5]),
    "l1 in groups": Groups(l1=3.0, groups=THREES),
    "l1": ElasticNet(1.0),
    "weighted l1": ElasticNet(1.0, 0.02, weights=np.arange(1.0, 9.0)),
}
LOSSES = ["squared", "softmax", "multiclass_hinge", "logistic", "poisson"]
KINKED = ["hinge", "quantile"]


def problem_of(
    loss="squared", penalty="rows", intercept=True, form="C", weighted=False, width=3, vector=False, **options
):
    A, b = made(loss, k=width, **options)
    weights = np.random.default_rng(1).uniform(0.2, 2.0, A.shape[0]) if weighted else None
    penalty = PENALTIES.get(penalty, penalty)
    b = b[:, 0] if vector else b
    return sw.BlockProblem(FORMS[form](A), b, loss, penalty, intercept=intercept, sample_weight=weights)


def sound(path, problem):
    """Shapes agree, and every certificate holds for the point it came with."""
    k, d, width = len(path), problem.n_features, problem.width
    assert isinstance(path, sw.Path) and path.problem is problem
    names = ("strengths", "l1s", "l2s", "primal", "dual", "gaps", "nonzeros", "epochs", "screened", "explained")
    assert all(getattr(path, name).shape == (k,) for name in names)
    assert path.intercepts.shape == ((k, width) if problem.table else (k,))
    assert path.shape == ((d, width) if problem.table else (d,))
    assert path.x.format == "csr" and path.x.shape == (k, d * width)
    assert len(path.penalties) == len(path.statuses) == k
    for j, penalty in enumerate(path.penalties):
        assert type(penalty) is type(problem.penalty)
        here, x = problem.with_penalty(penalty), path.coefficients(j)
        assert x.shape == path.shape
        primal, _, gap = here.certify(x, intercept=path.intercepts[j])
        unit = sw.solve(here, max_epochs=0, tol=1e9).scale
        assert primal == pytest.approx(path.primal[j], rel=1e-9, abs=1e-12)
        assert path.gaps[j] * unit == pytest.approx(path.primal[j] - path.dual[j], rel=1e-6, abs=1e-11 * unit)
        assert path.dual[j] <= primal + 1e-12 * (1 + abs(primal)) and gap >= -1e-12
        assert path.nonzeros[j] == np.count_nonzero(x)
        assert (path.l1s[j], path.l2s[j]) == (penalty.l1, penalty.l2)
    last = path.last
    assert (last.x == path.coefficients(-1)).all() and (last.intercept == path.intercepts[-1]).all()
    assert last.primal == path.primal[-1] and last.problem.penalty is path.penalties[-1]


def one_by_one(path, problem, **options):
    """Each point is what a solve from zero finds, within the two gaps."""
    for j, penalty in enumerate(path.penalties):
        r = sw.solve(problem.with_penalty(penalty), **options)
        assert path.dual[j] <= r.primal + 1e-12 * (1 + abs(r.primal))
        assert r.dual <= path.primal[j] + 1e-12 * (1 + abs(r.primal))


# The points


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES + KINKED)
def test_a_path_is_its_points(loss, penalty):
    for intercept in (False, True):
        problem = problem_of(loss, penalty, intercept)
        path = sw.path(problem, n_points=5, ratio=0.05, max_epochs=5000)
        assert path.statuses == [sw.Status.CONVERGED] * 5 and path.gaps.max() <= 1e-6
        assert (np.diff(path.strengths) < 0).all() and path.strengths[0] == sw.lambda_max(problem)
        sound(path, problem)
        one_by_one(path, problem, max_epochs=5000)


@pytest.mark.parametrize("penalty", [p for p in PENALTIES if "group" in p])
def test_groups_of_one_target(penalty):
    """The coefficients are a vector, as those of numbers are."""
    problem = problem_of("squared", penalty, vector=True)
    path = sw.path(problem, n_points=6)
    assert path.converged and path.x.shape == (6, 8) and path.rows() is path.x
    sound(path, problem)
    one_by_one(path, problem)


@settings(max_examples=40)
@given(
    loss=st.sampled_from(LOSSES), form=st.sampled_from(list(FORMS)), intercept=st.booleans(), weighted=st.booleans(),
    penalty=st.sampled_from(list(PENALTIES)), seed=st.integers(0, 10**6), points=st.integers(1, 4),
    tol=st.sampled_from([1e-3, 1e-6, 1e-8]),
)  # fmt: skip
def test_paths_of_all_kinds(loss, form, intercept, weighted, penalty, seed, points, tol):
    problem = problem_of(loss, penalty, intercept, form, weighted, seed=seed, n=30)
    path = sw.path(problem, n_points=points, tol=tol)
    assert path.converged and path.gaps.max() <= tol
    sound(path, problem)
    one_by_one(path, problem, tol=tol)


def test_groups_of_one_feature_and_one_target_are_the_lasso():
    A, b = made()
    path = sw.path(sw.BlockProblem(A, b[:, 0], penalty=Groups(1.0), intercept=True), n_points=6, tol=1e-10)
    lasso = sw.path(sw.Problem(A, b[:, 0], intercept=True), n_points=6, tol=1e-10)
    assert path.strengths == pytest.approx(lasso.strengths) and not path.l1s.any()
    assert path.x.toarray() == pytest.approx(lasso.x.toarray(), abs=1e-4)
    assert path.explained == pytest.approx(lasso.explained, abs=1e-8)


def test_a_single_column_is_a_table():
    A, b = made(k=1)
    path = sw.path(sw.BlockProblem(A, b, penalty=Groups(1.0), intercept=True), n_points=3)
    assert path.intercepts.shape == (3, 1) and path.coefficients(2).shape == (8, 1)
    assert path.decision_function(A).shape == (40, 3, 1)


@pytest.mark.parametrize("method", sorted(name for name, m in sw.methods.ALL.items() if m.takes_blocks))
def test_every_method(method):
    problem = problem_of("squared", Groups(1.0, l2=0.5), intercept=False)
    path = sw.path(problem, n_points=3, ratio=0.1, method=method, max_epochs=20_000, tol=1e-5)
    assert path.converged
    sound(path, problem)
    one_by_one(path, problem)


def test_the_same_seed_gives_the_same_numbers():
    problem = problem_of("softmax")
    one, two = (sw.path(problem, n_points=4, n_threads=k) for k in (1, 2))
    assert one.x.toarray().tobytes() == two.x.toarray().tobytes() and one.primal.tobytes() == two.primal.tobytes()


def test_the_last_point_starts_the_next_solve():
    problem = problem_of("softmax")
    path = sw.path(problem, n_points=4)
    again = sw.solve(path.last.problem, warm_start=path.last)
    assert again.status is sw.Status.CONVERGED and again.epochs <= 1
    assert path.last.prove().gap <= 2e-6 * path.last.scale


# Where it begins, and what changes along it


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_lambda_max_is_where_coefficients_vanish(loss, intercept, penalty):
    problem = problem_of(loss, penalty, intercept)
    top = sw.lambda_max(problem)
    at = [problem.with_penalty(problem.penalty.at(share * top, problem.penalty.l2)) for share in (1.001, 0.99)]
    assert not sw.solve(at[0], tol=1e-12).x.any()
    assert sw.solve(at[1], tol=1e-10).x.any()
    assert sw.path(problem, n_points=2).nonzeros[0] == 0


def test_lambda_max_of_groups_by_hand():
    A, b = np.eye(4) * 2, np.array([3.0, 4.0, 1.0, 1.0])
    problem = sw.BlockProblem(A, b, penalty=Groups(7.0, groups=[0, 0, 1, 1], weights=[1.0, 0.1]))
    assert sw.lambda_max(problem) == pytest.approx(np.sqrt(2) / 2 / 0.1)  # slopes are b / 2
    with_l1 = problem.with_penalty(Groups(1.0, l1=1.0, groups=[0, 0, 0, 0]))
    s = sw.lambda_max(with_l1)
    assert np.sqrt(((b / 2 - s).clip(0) ** 2).sum()) == pytest.approx(s)
    assert sw.lambda_max(problem.with_penalty(Groups(l1=0.1, groups=[0, 0, 0, 0]))) == pytest.approx(2.0)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
@pytest.mark.parametrize("penalty", ["groups", "sparse groups", "l1 in groups"])
def test_lambda_max_of_any_scale(penalty, factor):
    A, b = made()
    unit, scaled = (sw.BlockProblem(A, f * b, penalty=PENALTIES[penalty]) for f in (1.0, factor))
    assert sw.lambda_max(scaled) == pytest.approx(factor * sw.lambda_max(unit), rel=1e-12)


def test_l1_keeps_its_ratio_to_the_strength():
    path = sw.path(problem_of("squared", "sparse groups"), n_points=4)
    assert path.l1s == pytest.approx(0.35 * path.strengths) and not path.l2s.any()
    assert [p.strength for p in path.penalties] == path.strengths.tolist()
    path = sw.path(problem_of("squared", "l1 in groups"), l1s=[0.1, 0.2])
    assert path.l1s.tolist() == path.strengths.tolist() == [0.2, 0.1]
    assert not any(penalty.strength for penalty in path.penalties)
    path = sw.path(problem_of("softmax", "l1"), l1s=[0.01, 0.02])
    assert path.l1s.tolist() == path.strengths.tolist() == [0.02, 0.01]


def test_the_strength_of_the_problem_does_not_matter():
    one, other = (sw.path(problem_of("squared", Groups(s, groups=THREES)), n_points=3) for s in (1.0, 1e-7))
    assert one.primal == pytest.approx(other.primal, rel=1e-12)


def test_l2_of_the_problem_or_as_given():
    problem = problem_of("squared", "elastic groups")
    assert (sw.path(problem, l1s=[0.2, 0.1]).l2s == 0.05).all()
    assert (sw.path(problem, l1s=[0.2, 0.1], l2s=0.3).l2s == 0.3).all()
    path = sw.path(problem, l1s=[0.1, 0.3], l2s=[0.2, 0.4])  # in the order given
    assert path.strengths.tolist() == [0.1, 0.3] and path.l2s.tolist() == [0.2, 0.4]
    one_by_one(path, problem)


@pytest.mark.parametrize("penalty", [Groups(l2=1.0), ElasticNet(l2=1.0)])
def test_along_l2_alone(penalty):
    problem = problem_of("softmax", penalty)
    path = sw.path(problem, l1s=np.zeros(3), l2s=[1.0, 0.1, 0.01])
    assert path.converged and path.nonzeros.tolist() == [24] * 3
    one_by_one(path, problem)


def test_group_labels_and_lists_give_one_path():
    labels = sw.path(problem_of("squared", Groups(1.0, groups=list("aaabbbcc"))), n_points=4)
    lists = sw.path(problem_of("squared", Groups(1.0, groups=[[0, 1, 2], [3, 4, 5], [6, 7]])), n_points=4)
    assert labels.x.toarray() == pytest.approx(lists.x.toarray(), abs=1e-12)
    groups = np.add.reduceat(labels.coefficients(1) != 0, [0, 3, 6], axis=0)
    assert set(groups.sum(axis=1)) <= {0, 9, 6}  # whole groups


# What is explained, and margins


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES + KINKED)
def test_explained(loss, penalty):
    path = sw.path(problem_of(loss, penalty), n_points=6, max_epochs=5000)
    assert (path.explained >= -1e-5).all() and (path.explained <= 1.0).all()
    assert (np.diff(path.explained) >= -1e-4).all() and path.explained[-1] > 0.2


def test_explained_is_r_squared():
    problem = problem_of("squared", "weighted l1", weighted=True)
    path = sw.path(problem, n_points=4)
    b, s = problem.targets, problem.weights
    errors = (path.decision_function(problem.data.rows) - b[:, None]) ** 2
    total = s @ ((b - s @ b) ** 2).sum(axis=1)
    assert path.explained == pytest.approx(1 - np.tensordot(s, errors.sum(axis=2), 1) / total, abs=1e-9)


@pytest.mark.parametrize("loss", ["softmax", "poisson"])
def test_explained_is_the_share_of_deviance(loss):
    """Of the zero model's deviance, twice the loss above the least that any margins have."""
    problem = problem_of(loss, "sparse groups")
    path = sw.path(problem, n_points=4)
    b, margins = problem.targets, path.decision_function(problem.data.rows)
    if loss == "softmax":
        own = [sw.losses.Softmax().value(margins[:, k], b).mean() for k in range(4)]
        null, least = -np.log(np.bincount(b)[b] / b.size).mean(), 0.0
    else:
        own = [(np.exp(margins[:, k]) - b * margins[:, k]).sum(axis=1).mean() for k in range(4)]
        null = (b.mean(axis=0) - b * np.log(b.mean(axis=0))).sum(axis=1).mean()
        least = np.where(b > 0, b - b * np.log(np.maximum(b, 1)), 0.0).sum(axis=1).mean()
    assert path.explained == pytest.approx(1 - (np.array(own) - least) / (null - least), abs=1e-6)


@pytest.mark.parametrize("form", ["C", "CSR"])
def test_margins(form):
    problem = problem_of("softmax", "l1", form=form)
    path = sw.path(problem, n_points=4)
    A = made("softmax")[0]
    for matrix in (A, sp.csr_array(A), A[:7]):
        margins = path.decision_function(matrix)
        assert isinstance(margins, np.ndarray) and margins.shape == (matrix.shape[0], 4, 3)
        for k in range(4):
            assert margins[:, k] == pytest.approx(matrix @ path.coefficients(k) + path.intercepts[k], abs=1e-12)
    assert path.rows().shape == (12, 8)


# What ends a path


def test_stop_at():
    problem = problem_of("softmax")
    path = sw.path(problem, n_points=20, stop_at=0.3)
    assert 1 < len(path) < 20 and path.explained[-1] >= 0.3 and (path.explained[:-1] < 0.3).all()
    sound(path, problem)


def test_a_callback_is_told_and_ends_the_path_after_its_point():
    told = []

    def callback(k, progress):
        told.append((k, progress))
        return k == 2

    path = sw.path(problem_of("softmax"), n_points=8, callback=callback)
    assert len(path) == 3 and path.last.status is sw.Status.STOPPED
    assert {k for k, _ in told} == {0, 1, 2} and all(p.x.shape == (8, 3) for _, p in told)


def test_max_seconds_and_max_epochs():
    def wait(k, progress):  # the time runs out within a point; between two points none would be told of it
        time.sleep(0.3 * (k == 1))

    with pytest.warns(sw.ConvergenceWarning, match="max_seconds"):
        path = sw.path(
            problem_of("quantile", n=200), n_points=50, ratio=1e-4, tol=0.0, max_epochs=10**9, max_seconds=0.3,
            callback=wait,
        )  # fmt: skip
    assert 1 <= len(path) < 50 and path.last.status is sw.Status.MAX_SECONDS
    with pytest.warns(sw.ConvergenceWarning, match="of 5 points.*max_epochs") as caught:
        path = sw.path(problem_of("hinge"), n_points=5, tol=0.0, max_epochs=2)
    assert len(caught) == 1 and (path.epochs <= 2).all() and not path.converged


def test_ctrl_c_leaves_what_there_is():
    """The first point is at hand; at the second, certificates are slow to be told, so that it takes seconds."""
    problem = problem_of("quantile", n=200)
    with signal_on_call() as send, pytest.raises(sw.Interrupted) as caught:

        def tell(k, progress):
            if k == 1:
                send()
                time.sleep(0.03)

        sw.path(problem, l1s=[1e3, 1e-3, 1e-6], tol=0.0, max_epochs=10**9, max_seconds=300, callback=tell)
    path = caught.value.result
    assert isinstance(path, sw.Path) and len(path) == 2 and path.last.status is sw.Status.INTERRUPTED
    assert path.strengths.tolist() == [1e3, 1e-3] and np.isfinite(path.x.data).all() and (path.gaps >= 0).all()


# Refusals


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"l1s": [0.1, -0.2]}, ValueError, r"l1s must be positive; the smallest is -0\.2"),
        ({"l1s": [0.1, np.nan]}, ValueError, "l1s contains NaN"),
        ({"l1s": []}, ValueError, "l1s is empty"),
        ({"l1s": [0.1], "l2s": [0.1, 0.2]}, ValueError, "l2s must be one number, or 1"),
        ({"ratio": 2.0}, ValueError, "ratio must be at most 1"),
        ({"method": "fista"}, ValueError, "FISTA does not support problems with blocks"),
        ({"stop_at": 0.0}, ValueError, "stop_at must be > 0"),
        ({"callback": 3}, TypeError, "callback must be callable"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("penalty", ["rows", "l1"])
def test_refusals(penalty, options, error, match):
    told = []
    with pytest.raises(error, match=match):
        sw.path(problem_of("squared", penalty), **{"callback": lambda k, p: told.append(k), **options})
    assert not told


def test_a_grid_from_nothing_is_refused():
    for penalty, name in ((Groups(1.0), "strength"), (ElasticNet(1.0), "l1"), (Groups(l1=1.0), "l1")):
        problem = sw.BlockProblem(np.zeros((4, 2)), np.ones((4, 2)), penalty=penalty)
        with pytest.raises(ValueError, match=f"lambda_max is 0.*every {name}. Give l1s as an array"):
            sw.path(problem)


def test_factorised_data_are_refused_in_words():
    problem = sw.BlockProblem(sw.Factorised(np.eye(4), np.eye(4)), np.eye(4), penalty=Groups(1.0))
    with pytest.raises(ValueError, match="do not take factorised data"):
        sw.path(problem)


# How it reads


def test_repr():
    text = repr(sw.path(problem_of("softmax"), n_points=4))
    assert text.startswith("Path: 4 points, strength from ") and " of 24\n" in text and len(text.splitlines()) == 5
    assert "points, l1 from" in repr(sw.path(problem_of("softmax", "l1"), n_points=2))


def test_pickle():
    path = sw.path(problem_of("squared", "sparse groups"), n_points=3)
    again = pickle.loads(pickle.dumps(path))
    assert (again.coefficients(2) == path.coefficients(2)).all() and again.l1s.tolist() == path.l1s.tolist()


def test_nobody_is_warned_of_a_converged_path():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sw.path(problem_of("softmax"), n_points=4).converged


def test_plot_shows_norms_of_rows(pyplot):
    path = sw.path(problem_of("softmax"), n_points=5)
    ax = path.plot(names=[f"feature {j}" for j in range(8)], top=2)
    used = np.flatnonzero((path.coefficients(-1) != 0).any(axis=1))
    assert len(ax.lines) >= used.size and ax.get_xlabel() == "strength" and "norm" in ax.get_ylabel()
    norms = np.array([np.linalg.norm(path.coefficients(k), axis=1) for k in range(5)])
    largest = int(norms.max(axis=0).argmax())
    assert ax.lines[0].get_label() == f"feature {largest}"
    assert ax.lines[0].get_ydata() == pytest.approx(norms[:, largest])
    assert sw.path(problem_of("squared", "groups", vector=True), n_points=3).plot().get_ylabel() == "coefficient"
    with pytest.raises(ValueError, match="names must have 8 entries"):
        path.plot(names=["a"])

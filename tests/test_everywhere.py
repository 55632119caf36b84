"""A path proves every strength between its points."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import scale

import southwell as sw
from southwell.penalties import ElasticNet, Groups, MaxGroups

X, Y = load_diabetes(return_X_y=True)
CANCER, ILL = load_breast_cancer(return_X_y=True)
CANCER = scale(CANCER)
IRIS, KIND = load_iris(return_X_y=True)
GROUPS = np.arange(30) // 3
CASES = {
    "lasso": (X, Y, {}),
    "sparse": (sp.csr_array(X), Y, {"sample_weight": np.arange(1.0, 443)}),
    "logistic": (CANCER, ILL, {"loss": "logistic"}),
    "elastic net": (CANCER, ILL, {"loss": "logistic", "l2s": 0.01}),
    "hinge": (CANCER[:200], ILL[:200], {"loss": "hinge"}),
    "quantile": (X[:150], Y[:150], {"loss": sw.losses.Quantile(0.3)}),
    "poisson": (X, np.floor(Y / 20), {"loss": "poisson"}),
    "weights and bounds": (X, Y, {"penalty": ElasticNet(weights=np.arange(10) % 4, lower=-300.0)}),
    "groups": (CANCER, ILL, {"loss": "logistic", "penalty": Groups(1.0, 0.2, groups=GROUPS)}),
    "max groups": (CANCER, ILL, {"loss": "squared_hinge", "penalty": MaxGroups(1.0, groups=GROUPS)}),
    "softmax": (IRIS, KIND, {"loss": "softmax"}),
    "tasks": (X, np.column_stack([Y, Y**2 / 100]), {"penalty": Groups(1.0)}),
}
rng = np.random.default_rng(0)


def optimum(path, strength):
    """Upper and lower bounds of the optimum, far closer than the tolerance of a path."""
    problem = path.problem.with_penalty(path.penalties[0].at(strength, float(path.l2s[0])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem, sw.solve(problem, tol=1e-10, max_epochs=3000)


def holds(path, strengths):
    for strength in strengths:
        problem, best = optimum(path, strength)
        near = path.at(strength)
        objective = problem.certify(path.coefficients(near.point), intercept=path.intercepts[near.point]).primal
        slack = 1e-12 * max(abs(best.primal), 1.0)
        assert near.primal == pytest.approx(objective, rel=1e-10)
        assert near.dual <= best.primal + slack, "a lower bound above the optimum"
        assert objective - best.primal <= near.gap * path.scale + slack
        assert near.gap <= path.tol * (1 + 1e-9)
        beside = [float(one) for one in neighbours(path, strength) if one is not None]
        if (
            path.strengths[near.point] not in beside
        ):  # then a neighbour is no better: it has the same coefficients, or is less exact
            assert near.gap <= path.gaps[np.isin(path.strengths, beside)].max()


def neighbours(path, strength):
    above, below = path.strengths[path.strengths >= strength], path.strengths[path.strengths <= strength]
    return {above[-1] if above.size else None, below[0] if below.size else None}


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
@pytest.mark.parametrize("case", CASES)
def test_the_promised_gap_is_kept_between_points(case, tol):
    A, b, options = CASES[case]
    path = sw.path(A, b, intercept=True, everywhere=True, tol=tol, ratio=0.02, max_epochs=5000, **options)
    assert path.converged and path.between.max() <= tol and path.between.shape == (len(path) - 1,)
    assert (np.diff(path.strengths) < 0).all() and path.strengths[-1] == pytest.approx(0.02 * path.strengths[0])
    assert (path.last.x == path.coefficients(len(path) - 1)).all()
    holds(path, np.exp(rng.uniform(np.log(path.strengths[-1]), np.log(path.strengths[0]), 12)))
    holds(path, path.strengths[[0, -1]])


@pytest.mark.parametrize("case", ["lasso", "logistic"])
def test_a_thousand_random_strengths(case):
    A, b, options = CASES[case]
    path = sw.path(A, b, intercept=True, everywhere=True, tol=1e-4, **options)
    holds(path, rng.uniform(path.strengths[-1], path.strengths[0], 1000))


@pytest.mark.parametrize("case", ["lasso", "logistic", "elastic net", "groups"])
def test_points_follow_the_square_root_law(case):
    A, b, options = CASES[case]
    fewer, more = (
        len(sw.path(A, b, intercept=True, everywhere=True, tol=tol, **options)) for tol in (1e-3, 1e-5)
    )  # 100 times less: ten times as many
    assert 6 < more / fewer < 12 and fewer < 50


def test_bounds_between_points_are_of_any_path():
    path = sw.path(X, Y, intercept=True, n_points=8, tol=1e-9)
    for k, bound in enumerate(path.between):
        inner = [path.at(s).gap for s in np.linspace(path.strengths[k + 1], path.strengths[k], 50)]
        assert bound >= max(inner) >= 0.9 * bound > 0
    holds_without_tolerance = sw.path(X, Y, intercept=True, n_points=8, tol=1e-2)
    for strength in rng.uniform(path.strengths[-1], path.strengths[0], 20):
        _, best = optimum(holds_without_tolerance, strength)
        near = holds_without_tolerance.at(strength)
        assert near.dual <= best.primal * (1 + 1e-12) and best.dual <= near.primal * (1 + 1e-12)


def test_at_a_point_the_bound_is_its_own():
    path = sw.path(X, Y, n_points=6, tol=1e-3)
    for k, strength in enumerate(path.strengths):
        near = path.at(strength)
        assert near.gap <= path.gaps[k] * (1 + 1e-9) + 1e-15
    one = sw.path(X, Y, l1s=[0.3])
    assert one.between.size == 0 and one.at(0.3).point == 0


def test_strengths_that_are_given_are_points():
    given = [0.5, 0.1, 0.37]
    path = sw.path(X, Y, l1s=given, everywhere=True, tol=1e-3)
    assert set(given) <= {*path.strengths} and path.strengths[0] == 0.5 and path.strengths[-1] == 0.1
    assert path.between.max() <= 1e-3 < sw.path(X, Y, l1s=given, tol=1e-4).between.max()


def test_an_early_end_is_told():
    told = []
    path = sw.path(X, Y, intercept=True, everywhere=True, tol=1e-3, stop_at=0.3)
    assert path.explained[-1] >= 0.3 > path.explained[-2] and path.between.max() <= 1e-3
    with pytest.warns(sw.ConvergenceWarning, match="did not reach|proven to be within"):
        sw.path(CANCER, ILL, loss="logistic", everywhere=True, tol=1e-5, max_epochs=2, method="fista")
    ended = sw.path(X, Y, everywhere=True, tol=1e-5, callback=lambda k, p: told.append(k) or k == 5)
    assert len(ended) == 6 and max(told) == 5


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"tol": 0.0}, ValueError, "everywhere=True needs tol > 0"),
        ({"l1s": [0.2, 0.1], "l2s": [0.1, 0.2]}, ValueError, "one number as l2s"),
        ({"everywhere": 1}, TypeError, "everywhere must be True or False; got 1"),
    ],
)
def test_what_cannot_be_proved_is_refused(options, error, match):
    with pytest.raises(error, match=match):
        sw.path(X, Y, **{"everywhere": True, **options})


def test_strengths_outside_are_refused():
    path = sw.path(X, Y, n_points=4)
    for given in (path.strengths[0] * 1.01, path.strengths[-1] * 0.99):
        with pytest.raises(ValueError, match="the ends of this path; got"):
            path.at(given)
    with pytest.raises(ValueError, match="strength must be >= 0"):
        path.at(-1.0)
    with pytest.raises(ValueError, match="the same l2 at all points"):
        sw.path(X, Y, l1s=[0.2, 0.1], l2s=[0.1, 0.2]).at(0.15)

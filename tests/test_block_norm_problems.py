"""Problems whose penalty has another norm than the Euclidean one, or bounds."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import optimize

import southwell as sw
from block_problems import CLASSES, LABELS, TASKS, data, parts, solved, stated
from southwell import _core, reference
from southwell.check import verify
from southwell.methods import DSPDC, SPDC, CoordinateDescent
from southwell.penalties import ElasticNet, GroupPenalty, Groups, MaxGroups

SIGNS = [False, True]
PENALTIES = {
    "max rows": MaxGroups(0.08),
    "max groups": MaxGroups(0.1, groups=LABELS, weights="size"),
    "sparse max groups": MaxGroups(0.06, l1=0.02, groups=LABELS),
    "elastic max groups": MaxGroups(0.06, l2=0.05, groups=LABELS, weights=[1.0, 0.5, 2.0, 1.5]),
    "positive rows": Groups(0.03, positive=True),
    "positive sparse groups": Groups(0.03, l1=0.01, groups=LABELS, positive=True),
    "positive max groups": MaxGroups(0.05, l1=0.01, l2=0.02, groups=LABELS, positive=True),
    "positive l1": ElasticNet(0.02, lower=0),
    "positive elastic": ElasticNet(0.01, 0.05, lower=0, weights=np.linspace(0.5, 2.0, 8)),
    "positive ridge": ElasticNet(l2=0.05, lower=0),
    "negative l1": ElasticNet(0.02, upper=0),
    "bounded l1": ElasticNet(0.01, lower=-0.1, upper=0.15),
    "bounds of all kinds": ElasticNet(
        0.01, 0.05, lower=[-0.1, 0, -np.inf, -0.05, -np.inf, 0, -0.2, -0.1],
        upper=[np.inf, 0.1, 0.05, 0, np.inf, 0, 0.2, 0.01], weights=np.linspace(0.5, 2.0, 8),
    ),
    "bounds alone": ElasticNet(lower=-0.05, upper=0.1),
}  # fmt: skip
BOUNDED_IN_PART = ElasticNet(0.02, upper=[np.inf] * 5 + [0.02] * 3, weights=[1] * 6 + [0] * 2)
BOUNDED = ["negative l1", "bounded l1", "bounds of all kinds", "bounds alone"]
over_penalties = pytest.mark.parametrize("penalty", PENALTIES)


def within_bounds(r):
    lower, upper = r.problem.penalty.bounds(8)
    return bool(((lower <= r.x.T) & (upper >= r.x.T)).all())


@over_penalties
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [*TASKS, *CLASSES])
def test_answers_are_those_of_the_reference(loss, penalty, intercept):
    """Slow proximal steps in NumPy, and the certificate by its formulas."""
    for sparse in (False, True):
        problem = stated(loss, PENALTIES[penalty], intercept=intercept, weighted=True, sparse=sparse)
        r = solved(problem, 1e-9)
        assert within_bounds(r)
    full, *rest = parts(problem)
    X = reference.block_coordinate_descent(full, *rest, 40, intercept=intercept)
    value = reference.block_objective(full, *rest, X)
    assert r.primal <= value + 1e-9 * r.scale
    assert value <= r.primal + 0.05 * r.scale  # it is on its way there
    assert r.dual <= value + 1e-12


@over_penalties
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", *CLASSES])
def test_all_digits_can_be_proven(loss, penalty):
    for intercept in (False, True):
        solved(stated(loss, PENALTIES[penalty], intercept=intercept), 1e-12)


@over_penalties
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_all_methods_agree(loss, penalty):
    problem = stated(loss, PENALTIES[penalty])
    best = solved(problem, 1e-10)
    methods = [CoordinateDescent("primal"), SPDC(), DSPDC()]
    methods += [CoordinateDescent("dual")] if problem.penalty.l2 > 0 else []
    for method in methods:
        r = sw.solve(problem, method=method, tol=1e-4, max_epochs=20_000)
        assert r.status is sw.Status.CONVERGED, (method, r)
        assert abs(r.primal - best.primal) <= 1.1e-4 * r.scale
        assert within_bounds(r)


@pytest.mark.parametrize("loss", ["hinge", "quantile", "epsilon_insensitive"])
@over_penalties
def test_losses_with_kinks(loss, penalty):
    r = sw.solve(stated(loss, PENALTIES[penalty]), tol=1e-5)
    assert r.status is sw.Status.CONVERGED
    assert within_bounds(r)


@pytest.mark.parametrize(
    "penalty", ["max groups", "sparse max groups", "positive sparse groups", "positive max groups"]
)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_answers_are_those_of_an_interior_point_method(loss, penalty):
    cp = pytest.importorskip("cvxpy")
    problem = stated(loss, PENALTIES[penalty], kind="one")
    A, b, s, own = *data(loss, kind="one"), problem.weights, problem.penalty
    x = cp.Variable(8)
    phi = cp.square(A @ x - b) / 2 if loss == "squared" else cp.logistic(-cp.multiply(b, A @ x))
    norm = cp.norm2 if own.norm == "euclidean" else cp.norm_inf
    factors = own.factors(np.bincount(LABELS))
    cost = own.strength * sum(factors[g] * norm(x[np.flatnonzero(g == LABELS)]) for g in range(4))
    cost += own.l1 * cp.norm1(x) + own.l2 / 2 * cp.sum_squares(x)
    cp.Problem(cp.Minimize(s @ phi + cost), [x >= 0] if own.positive else []).solve(solver=cp.CLARABEL)
    value = problem.certify(np.maximum(x.value, 0) if own.positive else x.value).primal
    r = solved(problem, 1e-10)
    assert r.primal <= value + 1e-12
    assert r.primal == pytest.approx(value, abs=1e-6 * r.scale)
    np.testing.assert_allclose(r.x, x.value, atol=1e-3)


@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("positive", SIGNS)
def test_planted_ties_are_found(l2, positive):
    """X with ties at the maximum, zeros and numbers between is chosen, with slopes that make it optimal; b follows."""
    rng, n, d, strength = np.random.default_rng(3), 60, 12, 0.05
    A, groups = rng.normal(size=(n, d)), np.repeat([0, 1, 2], 4)
    x = np.array([1.5, 1.5, -0.4, -1.5, 0.7, -0.7, 0.7, 0.2, 0, 0, 0, 0])
    x = np.abs(x) if positive else x
    z = -l2 * x  # slopes: -z is in the subdifferential of the penalty
    for g, shares in ((0, (0.2, 0.3, 0, 0.5)), (1, (0.6, 0.1, 0.3, 0)), (2, (0.3, -0.2, 0.1, -0.3))):
        own = groups == g
        z[own] -= strength * np.array(shares) * (np.sign(x[own]) if g < 2 else 1.0)
    if positive:
        z[8:] = np.abs(z[8:]) * (1, 20, 1, 20)  # large slopes of the other sign hold a number at zero
    b = A @ x - n * A @ np.linalg.solve(A.T @ A, z)
    problem = sw.BlockProblem(A, b, penalty=MaxGroups(strength, l2=l2, groups=groups, positive=positive))
    assert problem.certify(x).gap <= 1e-13
    r = solved(problem, 1e-13)
    np.testing.assert_allclose(r.x, x, atol=1e-6)
    assert (r.x[8:] == 0).all()
    np.testing.assert_allclose(np.abs(r.x)[[0, 1, 3]], np.abs(r.x[0]), rtol=1e-12)
    assert r.epochs <= 12


@pytest.mark.parametrize("positive", SIGNS)
def test_groups_of_one_number_are_the_lasso(positive):
    A, b = data("squared", kind="one")
    lasso = sw.solve(A, b, penalty=ElasticNet(0.05, lower=0 if positive else None), tol=1e-12)
    r = sw.solve(A, b, penalty=MaxGroups(0.05, positive=positive), tol=1e-12)
    np.testing.assert_allclose(r.x, lasso.x, atol=1e-6)
    assert r.primal == pytest.approx(lasso.primal, rel=1e-11)


def test_a_sign_over_tasks_is_that_of_each_task():
    """Without a norm that joins them, tasks are problems of their own."""
    A, B = data("squared")
    together = sw.solve(A, B, penalty=ElasticNet(0.02, 0.01, lower=0), tol=1e-12)
    for t in range(3):
        apart = sw.solve(A, B[:, t], penalty=ElasticNet(0.02, 0.01, lower=0), tol=1e-12)
        np.testing.assert_allclose(together.x[:, t], apart.x, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_newton_steps_move_ties_together(loss):
    """Without its manifold, the maximum norm would leave all to proximal steps, which take far more rounds."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((150, 400)) + rng.standard_normal((150, 1))
    b = A[:, :40] @ np.repeat(rng.standard_normal(8), 5) + rng.standard_normal(150)
    b = b if loss == "squared" else np.digitize(b, np.quantile(b, [0.3, 0.7]))
    problem = sw.BlockProblem(A, b, loss, MaxGroups(1.0, groups=np.arange(400) // 5), intercept=True)
    problem = problem.with_penalty(problem.penalty.at(0.05 * sw.lambda_max(problem), 0.0))
    r = sw.solve(problem, tol=1e-10)
    assert r.status is sw.Status.CONVERGED
    assert r.epochs <= 30


@over_penalties
def test_screened_features_are_zero(penalty):
    A, b = data("squared", n=60, d=24)
    own = PENALTIES[penalty]
    own = replace(own, weights=None)
    if isinstance(own, GroupPenalty):
        own = replace(own, groups=np.arange(24) // 3)
    elif penalty in BOUNDED:
        own = replace(
            own,
            **{end: np.resize(getattr(own, end), 24) for end in ("lower", "upper") if getattr(own, end) is not None},
        )
    problem = sw.BlockProblem(A, b, penalty=own)
    if own.l1 + getattr(own, "strength", 0) > 0:
        problem = problem.with_penalty(problem.penalty.at(0.4 * sw.lambda_max(problem), own.l2))
    truth = sw.solve(problem, tol=1e-12, method=CoordinateDescent("primal"), max_epochs=50_000)
    for tol in (1e-1, 1e-3, 1e-6):
        screened = sw.solve(problem, tol=tol).screened.features
        assert np.abs(truth.x[screened]).max(initial=0.0) <= 1e-9
    held = penalty != "bounds alone"  # which hold no coefficient at zero
    assert (sw.solve(problem, tol=1e-11).screened.n_features > 0) == held


@over_penalties
def test_any_pair_has_a_true_gap(penalty):
    rng = np.random.default_rng(5)
    for loss in ("squared", "logistic", "softmax"):
        problem = stated(loss, PENALTIES[penalty], intercept=True)
        best = sw.solve(problem, tol=1e-10)
        for scale in (1e-3, 0.1, 2.0):
            x = scale * rng.normal(size=best.x.shape)
            x = np.abs(x) if problem.penalty.bounded else x
            plain, rigorous = problem.certify(x), problem.certify(x, rigorous=True)
            assert plain.dual <= best.primal + 1e-10 * best.scale
            assert rigorous.dual <= plain.dual + 1e-9 * best.scale and plain.primal <= rigorous.primal
            assert rigorous.primal == pytest.approx(plain.primal, rel=1e-10)
            assert rigorous.dual == pytest.approx(plain.dual, rel=1e-7, abs=1e-9 * best.scale)
            X, y = np.vstack([x, np.zeros((1, 3))]), problem.loss.derivative(problem.data.rows @ x, problem.targets)
            primal, dual, _ = reference.block_certificate(*parts(problem), X, y, True)
            assert plain.primal == pytest.approx(primal, rel=1e-11)
            if not dual < plain.dual == 0:  # D(0), which bounds that hold coefficients leave above D(y)
                assert plain.dual == pytest.approx(dual, rel=1e-6, abs=1e-8 * best.scale)
    below = -np.ones(best.x.shape)
    assert np.isinf(problem.certify(below).primal) == (problem.penalty.bounds(8)[0] > -1).any()


@over_penalties
@pytest.mark.parametrize("loss", ["squared", "softmax", "hinge"])
def test_proofs_are_checked(tmp_path, loss, penalty):
    A, b = data(loss)
    problem = sw.BlockProblem(A, b, loss, PENALTIES[penalty], intercept=True)
    r = sw.solve(problem, tol=1e-8)
    r.save_proof(tmp_path / "answer.proof")
    verdict = verify(tmp_path / "answer.proof", A, b)
    assert verdict.verified, verdict
    assert verdict.gap <= r.gap + 1e-9 * r.scale


@pytest.mark.parametrize(
    "penalty", ["max groups", "sparse max groups", "positive rows", "positive max groups", *BOUNDED[:3]]
)
@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_a_path_is_its_points(loss, penalty):
    problem = stated(loss, PENALTIES[penalty], intercept=True)
    path = sw.path(problem, n_points=8, ratio=0.02, tol=1e-8)
    assert path.converged and path.nonzeros[0] == 0 and path.nonzeros[-1] > 0
    for k in (0, 3, 7):
        assert type(path.penalties[k]) is type(problem.penalty)
        r = sw.solve(problem.with_penalty(path.penalties[k]), tol=1e-8)
        assert abs(r.primal - path.primal[k]) <= 1.1e-8 * r.scale
        assert path.penalties[k].value(r.x) == pytest.approx(
            problem.penalty.at(path.strengths[k], path.l2s[k]).value(r.x)
        )


@over_penalties
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_lambda_max_is_where_coefficients_vanish(loss, penalty):
    problem = stated(loss, PENALTIES[penalty], intercept=True)
    top = sw.lambda_max(problem)
    for factor, zero in ((1.0001, True), (0.999, False)):
        own = problem.penalty.at(factor * top, problem.penalty.l2)
        r = sw.solve(problem.with_penalty(own), tol=1e-12)
        assert (not r.x.any()) == zero
        assert own.value(r.x) >= 0


def test_values_are_the_formulas():
    x, groups, weights = np.arange(-6.0, 6.0).reshape(6, 2), [[0, 5], [1], [2, 4, 3]], np.array([1.0, 2.0, 0.5])
    got = MaxGroups(0.3, 0.2, 0.1, groups, weights).value(x)
    want = 0.3 * sum(w * np.abs(x[g]).max() for g, w in zip(groups, weights, strict=True))
    assert got == pytest.approx(want + 0.2 * np.abs(x).sum() + 0.05 * (x**2).sum(), rel=1e-14)


@over_penalties
def test_a_warm_start_below_zero_is_brought_inside(penalty):
    problem = stated("squared", PENALTIES[penalty])
    best = solved(problem, 1e-8)
    start = best.x - 1e-3
    for method in ("auto", CoordinateDescent("primal")):
        r = sw.solve(problem, warm_start=start, tol=1e-6, method=method, max_epochs=20_000)
        assert r.status is sw.Status.CONVERGED
        assert within_bounds(r)


def test_sparse_and_dense_data_agree():
    A, b = data("squared")
    for penalty in PENALTIES.values():
        dense, sparse = (sw.solve(form(A), b, penalty=penalty, tol=1e-11) for form in (np.asarray, sp.csc_array))
        np.testing.assert_allclose(dense.x, sparse.x, atol=1e-5)


MODELS = {
    "GroupLasso": (
        sw.GroupLasso(2, 0.05, l1_ratio=0.2, l2=0.01, positive=True),
        Groups(0.04, 0.01, 0.01, np.arange(8) // 2),
    ),
    "MultiTaskLasso": (sw.MultiTaskLasso(0.05, positive=True), Groups(0.05)),
    "MultiTaskElasticNet": (sw.MultiTaskElasticNet(0.05, l1_ratio=0.4, positive=True), Groups(0.02, l2=0.03)),
}


@pytest.mark.parametrize("name", MODELS)
def test_estimators_take_the_sign(name):
    model, penalty = MODELS[name]
    A, b = data("squared", kind="one" if name == "GroupLasso" else None)
    model.set_params(keep_dual=True).fit(A, b)
    r = sw.solve(A, b, penalty=replace(penalty, positive=True), intercept=True, tol=1e-12)
    assert model.coef_.min() >= 0 and model.positive and r.x.any()
    assert model.result_.primal == pytest.approx(r.primal, rel=1e-5)
    np.testing.assert_allclose(model.coef_, r.x.T, atol=1e-2)
    with pytest.raises(TypeError, match="positive must be True or False"):
        type(model)(positive="yes").fit(A, b)


@pytest.mark.parametrize("name", MODELS)
def test_cross_validation_keeps_the_sign(name):
    A, b = data("squared", kind="one" if name == "GroupLasso" else None)
    model = getattr(sw, name + "CV")(alphas=5, cv=2, positive=True).fit(A, b)
    assert model.coef_.min() >= 0


# Input


A, B = data("squared")


@pytest.mark.parametrize("bounds", [{"upper": -1.0}, {"lower": 0.1}, {"lower": np.arange(8.0) - 1}])
def test_bounds_that_exclude_zero_are_refused_over_blocks(bounds):
    with pytest.raises(ValueError, match=r"bounds must contain zero.*feature \d has lower=.*Widen them"):
        sw.solve(A, B, penalty=ElasticNet(0.1, **bounds))


def test_crossing_bounds_are_refused():
    with pytest.raises(ValueError, match=r"Bounds must leave room: coefficient 0 has lower=1\.0, upper=-1\.0"):
        sw.solve(A, B, penalty=ElasticNet(0.1, lower=1, upper=-1))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", [*(PENALTIES[name] for name in BOUNDED), BOUNDED_IN_PART])
def test_tasks_within_bounds_are_those_of_each_alone(penalty, intercept):
    together = sw.solve(A, B, penalty=penalty, intercept=intercept, tol=1e-11)
    for own, column in zip(together.x.T, B.T, strict=True):
        alone = sw.solve(A, column, penalty=penalty, intercept=intercept, tol=1e-11)
        np.testing.assert_allclose(own, alone.x, atol=1e-5)


@pytest.mark.parametrize("name", BOUNDED)
def test_classes_within_bounds_are_those_of_an_interior_point_method(name):
    cp = pytest.importorskip("cvxpy")
    problem = stated("softmax", PENALTIES[name], intercept=True, weighted=True)
    own, k, (lower, upper) = problem.penalty, problem.width, problem.penalty.bounds(8)
    X, c = cp.Variable((8, k)), cp.Variable((1, k))
    margins = data("softmax")[0] @ X + np.ones((40, 1)) @ c
    picked = cp.sum(cp.multiply(np.eye(k)[problem.targets.astype(int)], margins), axis=1)
    cost = problem.weights @ (cp.log_sum_exp(margins, axis=1) - picked)
    cost += own.factors(8) @ cp.sum(own.l1 * cp.abs(X) + own.l2 / 2 * cp.square(X), axis=1)
    rows = [X[j] >= end for j, end in enumerate(lower) if np.isfinite(end)]
    rows += [X[j] <= end for j, end in enumerate(upper) if np.isfinite(end)]
    cp.Problem(cp.Minimize(cost), rows).solve(solver=cp.CLARABEL)
    r = solved(problem, 1e-9)
    assert r.primal == pytest.approx(cost.value, abs=1e-6 * r.scale)
    assert own.l1 + own.l2 > 0 or (lower == r.x.T).any()  # bounds are met, to the last bit


@pytest.mark.parametrize(
    "penalty",
    [MaxGroups(positive=True), ElasticNet(lower=0), ElasticNet(lower=0, upper=np.inf), Groups(positive=True)],
)
@pytest.mark.parametrize("intercept", [False, True])
def test_signs_alone_are_non_negative_least_squares(penalty, intercept):
    X = A - A.mean(0) if intercept else A  # an intercept takes the means away
    Y = B - B.mean(0) if intercept else B
    r = sw.solve(A, B, penalty=penalty, intercept=intercept, tol=1e-10)
    assert r.status and r.x.min() == 0
    for c, column in enumerate(Y.T):
        np.testing.assert_allclose(r.x[:, c], optimize.nnls(X, column)[0], atol=1e-5)


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match="positive must be True or False"):
        MaxGroups(0.1, positive="yes")
    with pytest.raises(ValueError, match="strength must be"):
        MaxGroups(-1.0)
    with pytest.raises(TypeError, match="make a BlockProblem"):
        sw.Problem(A, B[:, 0], penalty=MaxGroups(0.1))
    with pytest.raises(ValueError, match="unknown part 'cubic'"):
        _core.BlockPenalty(1.0, 0.0, 0.0, "cubic")


def test_a_proof_with_another_norm_or_sign_is_refused(tmp_path):
    from proofs import edit

    problem = sw.BlockProblem(A, B, penalty=PENALTIES["max groups"])
    sw.solve(problem, tol=1e-9).save_proof(tmp_path / "max.proof")

    def as_groups(text, arrays):
        text["problem"]["penalty"]["kind"] = "groups"

    def as_unknown(text, arrays):
        text["problem"]["penalty"]["kind"] = "cubic_groups"

    def with_a_sign(text, arrays):
        arrays["lower"] = np.zeros(8)

    def with_a_bound(text, arrays):
        arrays["lower"] = np.full(8, -5.0)

    for change in (as_groups, as_unknown, with_a_sign, with_a_bound):
        edit(tmp_path / "max.proof", tmp_path / "changed.proof", change)
        verdict = verify(tmp_path / "changed.proof", A, B)
        assert not verdict.verified, change.__name__


@pytest.mark.parametrize("l1", [0.0, 0.3])
@pytest.mark.parametrize("kind", [Groups, MaxGroups])
def test_weak_penalties_on_competing_classes_are_proven(kind, l1):
    """A number added to all coefficients of a feature changes no margin, and hardly the penalty."""
    for seed, k in ((4, 5), (6, 3)):
        A, b = data("softmax", n=60, d=6, k=k, seed=seed)
        problem = sw.BlockProblem(A, b, "softmax", kind(1.0, l1=l1), intercept=True)
        weak = problem.with_penalty(problem.penalty.at(1e-5 * sw.lambda_max(problem), 0.0))
        solved(weak, 1e-7, max_epochs=100)

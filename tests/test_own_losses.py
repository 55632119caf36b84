"""A loss of one's own is solved and certified like the built-in one of the same formula; a wrong one is refused."""

import copy
import pickle
import signal
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import southwell as sw
from signals import listening

Custom = sw.losses.Custom


class Logit(Custom):
    targets = "signs"
    log_odds = True

    def value(self, m, b):
        return np.logaddexp(0, -b * m)

    def derivative(self, m, b):
        return -b * expit(-b * m)


class CurvedLogit(Logit):
    def second_derivative(self, m, b):
        return expit(m) * expit(-m)


@dataclass(frozen=True)
class OwnHuber(Custom):
    delta: float = 1.0

    def value(self, m, b):
        r = np.abs(m - b)
        return np.where(r <= self.delta, r**2 / 2, self.delta * r - self.delta**2 / 2)

    def derivative(self, m, b):
        return np.clip(m - b, -self.delta, self.delta)


class Counts(Custom):
    targets = "counts"

    def value(self, m, b):
        return np.exp(m) - b * m

    def derivative(self, m, b):
        return np.exp(m) - b


class Half(Custom):
    def value(self, m, b):
        return (m - b) ** 2 / 2

    def derivative(self, m, b):
        return m - b


PAIRS = {
    "logistic": (Logit(), "logistic"), "curved": (CurvedLogit(), "logistic"), "squared": (Half(), "squared"),
    "huber": (OwnHuber(0.7), sw.losses.Huber(0.7)), "poisson": (Counts(), "poisson"),
}  # fmt: skip
PENALTIES = [{"l1": 0.01}, {"l2": 0.1}, {"l1": 0.005, "l2": 0.01}, {}]


def made(kind, sparse, n=200, d=30):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(n, d)) * (rng.random((n, d)) < (0.3 if sparse else 1.0))
    z = A @ (rng.normal(size=d) * (rng.random(d) < 0.3))
    b = {
        "signs": np.where(z + rng.normal(size=n) > 0, 1.0, -1.0), "real": z + rng.standard_t(2, size=n),
        "counts": rng.poisson(np.exp(np.clip(z / 3, -3, 3))),
    }[kind]  # fmt: skip
    return sp.csr_array(A) if sparse else A, b, rng.random(n)


@pytest.mark.parametrize("method", ["auto", "fista", "lbfgs"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("pair", PAIRS)
def test_it_is_solved_like_the_built_in_one(pair, penalty, sparse, method):
    own, built_in = PAIRS[pair]
    A, b, weights = made(own.targets, sparse)
    stated = dict(intercept=True, sample_weight=weights, method=method, **penalty)
    got, want = sw.solve(A, b, loss=own, **stated), sw.solve(A, b, loss=built_in, **stated)
    assert got.status is want.status is sw.Status.CONVERGED
    assert got.scale == pytest.approx(want.scale, rel=1e-9)
    assert -1e-15 <= got.gap <= 1e-6 * got.scale
    rounding = 1e-13 * (abs(want.primal) + want.scale)
    assert got.dual <= want.primal + rounding and want.dual <= got.primal + rounding


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_dual_value_is_that_of_the_formula_or_a_little_below(pair, intercept):
    own, built_in = PAIRS[pair]
    A, b, _ = made(own.targets, False)
    one = sw.Problem(A, b, own, sw.penalties.ElasticNet(0.02, 0.0), intercept=intercept)
    two = sw.Problem(A, b, built_in, sw.penalties.ElasticNet(0.02, 0.0), intercept=intercept)
    rng = np.random.default_rng(0)
    for scale in (0.0, 1e-8, 0.01, 0.3):
        x = scale * rng.normal(size=A.shape[1])
        got, want = one.certify(x), two.certify(x)
        assert got.primal == pytest.approx(want.primal, rel=1e-12)
        rounding = 1e-13 * (abs(want.primal) + abs(want.dual) + 1)
        assert got.dual <= want.dual + rounding
        assert got.gap <= 1.03 * want.gap + rounding


@pytest.mark.parametrize("pair", PAIRS)
def test_the_conjugate_is_that_of_the_formula(pair):
    own, built_in = PAIRS[pair]
    built_in = sw.losses.get(built_in)
    b = {"signs": [-1.0, 1.0], "real": [-2.0, 0.0, 1e-3, 40.0], "counts": [0.0, 1.0, 7.0]}[own.targets]
    m, b = (table.ravel() for table in np.meshgrid([-3.0, -0.5, 0.0, 1e-6, 0.7, 2.0], b))
    for share in (1.0, 1 - 1e-12, 0.999, 0.5, 1e-6, 0.0):
        y = share * built_in.derivative(m, b)
        got, want = own.conjugate(y, b), built_in.conjugate(y, b)
        size = 1 + np.abs(y) * (np.abs(m) + np.abs(b)) + np.abs(want)
        assert (got >= want - 1e-13 * size).all()
        np.testing.assert_array_less(got - want, 1e-12 * size)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("tasks", [1, 2])
def test_offsets_are_added_to_margins(pair, tasks):
    own, built_in = PAIRS[pair]
    A, b, weights = made(own.targets, False)
    rng = np.random.default_rng(1)
    b, offset = (b, rng.normal(size=b.size)) if tasks == 1 else (np.stack((b, b), 1), rng.normal(size=(b.size, 2)))
    kind = (sw.Problem, sw.BlockProblem)[tasks - 1]
    stated = {"intercept": True, "sample_weight": weights, "offset": offset}
    one, two = (kind(A, b, loss, sw.penalties.ElasticNet(0.01), **stated) for loss in (own, built_in))
    got, want = sw.solve(one), sw.solve(two)
    assert got.status is sw.Status.CONVERGED and got.scale == pytest.approx(want.scale, rel=1e-9)
    rounding = 1e-13 * (abs(want.primal) + want.scale)
    assert got.dual <= want.primal + rounding and want.dual <= got.primal + rounding
    there = two.certify(got.x, intercept=got.intercept)
    assert one.certify(got.x, intercept=got.intercept).primal == pytest.approx(there.primal, rel=1e-12)


class Halved(Custom):
    """Not a function of m - b."""

    def value(self, m, b):
        return (m - b / 2) ** 2 / 2

    def derivative(self, m, b):
        return m - b / 2


def test_offsets_are_not_taken_for_parts_of_the_targets():
    A, b, _ = made("real", False)
    offset = np.linspace(-3, 3, b.size)
    got, want = sw.solve(A, b, loss=Halved(), l1=0.02, offset=offset), sw.solve(A, b / 2 - offset, l1=0.02)
    assert got.primal == pytest.approx(want.primal, abs=2e-6 * want.scale)
    np.testing.assert_allclose(got.x, want.x, atol=1e-2)


def test_the_conjugate_is_infinite_outside_its_domain():
    assert np.isinf(Logit().conjugate([1.5, -0.5], [-1.0, 1.0])).tolist() == [True, False]
    assert np.isinf(OwnHuber(0.7).conjugate(0.8, 2.0))


def test_second_derivatives_are_found_by_differences():
    m, b = np.linspace(-4, 4, 50), np.ones(50)
    np.testing.assert_allclose(Logit().second_derivative(m, b), CurvedLogit().second_derivative(m, b), atol=1e-8)


def test_paths_and_every_strength_between():
    A, b, _ = made("signs", True)
    path, want = (sw.path(A, b, loss=loss, n_points=8, intercept=True) for loss in (Logit(), "logistic"))
    for one, other in zip(path, want, strict=True):
        assert one.primal == pytest.approx(other.primal, abs=2e-6 * other.scale)
        assert one.gap <= 1e-6 * one.scale
    whole = sw.path(A, b, loss=Logit(), intercept=True, everywhere=True, tol=1e-2)
    for l1 in np.geomspace(whole.strengths[0], whole.strengths[-1], 7)[1:-1]:
        near, best = whole.at(l1), sw.solve(A, b, loss="logistic", l1=l1, intercept=True, tol=1e-9)
        assert near.dual <= best.primal * (1 + 1e-12) and near.primal - best.primal <= near.gap * whole.scale
        assert near.gap <= 1e-2


def test_estimators_take_it():
    A, b, weights = made("signs", True)
    own = sw.SparseLinearClassifier(Logit(), l1=0.01).fit(A, b, sample_weight=weights)
    want = sw.SparseLinearClassifier("logistic", l1=0.01).fit(A, b, sample_weight=weights)
    np.testing.assert_allclose(own.coef_, want.coef_, atol=1e-3)
    assert clone(own).loss == own.loss
    A, b, _ = made("real", False)
    model = sw.SparseLinearRegressor(OwnHuber(0.7), l1=0.01)
    assert cross_val_score(model, A, b, cv=3).shape == (3,)
    search = GridSearchCV(model, {"loss": [OwnHuber(0.5), OwnHuber(2.0)], "l1": [0.01, 0.1]}, cv=3).fit(A, b)
    assert isinstance(search.best_params_["loss"], OwnHuber)
    with pytest.raises(ValueError, match="that is a loss for"):
        sw.SparseLinearRegressor(Logit()).fit(A, b)


def test_several_classes_and_groups():
    rng = np.random.default_rng(0)
    A, labels = rng.normal(size=(150, 6)), rng.integers(0, 3, 150)
    own = sw.SparseLinearClassifier(Logit(), l1=0.01).fit(A, labels)
    want = sw.SparseLinearClassifier("logistic", l1=0.01).fit(A, labels)
    np.testing.assert_allclose(own.coef_, want.coef_, atol=1e-3)
    groups = sw.penalties.Groups(0.05, groups=[[0, 1, 2], [3, 4, 5]])
    one, two = (sw.solve(A, A[:, 0], loss=loss, penalty=groups, intercept=True) for loss in (Half(), "squared"))
    assert one.primal == pytest.approx(two.primal, abs=2e-6 * two.scale) and one.gap <= 1e-6 * one.scale


class Falls(Custom):
    def value(self, m, b):
        return np.cos(m - b)

    def derivative(self, m, b):
        return -np.sin(m - b)


class Twice(Half):
    def derivative(self, m, b):
        return 2 * (m - b)


class Linear(Custom):
    def value(self, m, b):
        return m - b

    def derivative(self, m, b):
        return np.ones_like(m)


class Nothing(Half):
    def derivative(self, m, b):
        with np.errstate(invalid="ignore", divide="ignore"):
            return (m - b) ** 2 / (m - b)


class Mixed(Half):
    def value(self, m, b):
        return (m - b) ** 2 / 2 + m.mean()


class Whole(Half):
    def value(self, m, b):
        return float(((m - b) ** 2).sum())


class Halfway(Custom):
    def value(self, m, b):
        return (m - b) ** 2


@pytest.mark.parametrize(("loss", "told"), [
    (Falls(), "not convex.*at margin"), (Twice(), "not that of its value.*target"), (Linear(), "no least value"),
    (Nothing(), "NaN at margin"), (Mixed(), "cannot be used"), (Whole(), "a number for each margin"),
    (Halfway(), r"must have a method derivative\(m, b\)"),
], ids=lambda one: type(one).__name__)  # fmt: skip
def test_what_is_no_loss_is_refused_saying_where(loss, told):
    with pytest.raises((ValueError, TypeError), match=told):
        sw.solve(np.eye(3), [0.0, 1.0, 2.0], loss=loss, l1=0.1)


class Dented(Half):
    """Convex on the grid of the checks, but not at a margin of 1.2345 from the target."""

    def derivative(self, m, b):
        r = m - b
        return r - 0.5 * (np.abs(r - 1.2345) < 1e-3)


def test_it_is_checked_at_margins_of_samples_too():
    with pytest.raises(ValueError, match=r"not convex|not that of its value"):
        Dented().examine(np.zeros(3), np.array([0.0, 1.2345, 3.0]))


def test_an_odd_number_of_targets_is_named():
    class Odd(Half):
        def derivative(self, m, b):
            return np.where(np.abs(m - 0.41234) < 1e-5, np.nan, m - b)

    with pytest.raises(ValueError, match=r"NaN.*sample 2.*margin 0.41.*target 0.765"):
        sw.Problem(np.eye(3), [0.0, 1.0, 0.7654321], Odd()).certify([0.0, 1.0, 0.41234])


def test_what_the_callback_raises_reaches_the_caller():
    class Raises(Half):
        calls = 0

        def derivative(self, m, b):
            Raises.calls += 1
            if Raises.calls > 40:
                raise ZeroDivisionError("mine")
            return m - b

    A, b, _ = made("real", False)
    with pytest.raises(ZeroDivisionError, match="mine"):
        sw.solve(A, b, loss=Raises(), l1=0.01)


def test_control_c_within_the_callback_ends_the_solve_with_its_result():
    class Stopped(Half):
        calls = -1000

        def value(self, m, b):
            Stopped.calls += 1
            if Stopped.calls == 40:
                signal.raise_signal(signal.SIGINT)
            return super().value(m, b)

    A, b, _ = made("real", False)
    problem = sw.Problem(A, b, Stopped(), sw.penalties.ElasticNet(0.01))  # which asks for values, too
    Stopped.calls = 0
    with listening(), pytest.raises(sw.Interrupted) as stopped:
        sw.solve(problem, tol=0.0, method="fista", max_epochs=100_000)
    assert np.isfinite(stopped.value.result.gap)


@pytest.mark.parametrize("call", [
    lambda A, b: sw.solve(A, b, loss=Half(), l1=0.1, method="coordinate_descent"),
    lambda A, b: sw.solve(A, b, loss=Half(), l2=0.1, method=sw.methods.SPDC()),
    lambda A, b: sw.solve(A, b, loss=Half(), l2=0.1, method=sw.methods.Auto(movers="dual")),
    lambda A, b: sw.solve(A, b, loss=Half(), l1=0.1, rigorous=True),
    lambda A, b: sw.solve(A, b, loss=Half(), l1=0.1).prove(),
    lambda A, b: Half().prox_conjugate(A, 1.0, b),
])  # fmt: skip
def test_what_it_cannot_do_is_refused_in_words(call):
    with pytest.raises((ValueError, TypeError), match=r"loss of (your|one's) own"):
        call(np.eye(3), np.arange(3.0))


def test_losses_are_compared_copied_and_pickled_with_their_parameters():
    one, two = OwnHuber(0.5), OwnHuber(2.0)
    assert one != two and pickle.loads(pickle.dumps(one)) == one and copy.deepcopy(two).delta == 2.0
    assert Half() == Half() and hash(Half()) == hash(Half()) and Half() != Counts()
    assert Half.name == "Half" and sw.losses.get(Half) == Half()


class Counted(Logit):
    asked = 0

    def derivative(self, m, b):
        type(self).asked += m.size
        return super().derivative(m, b)


@pytest.mark.parametrize(("l1", "l2"), [(1e-3, 1e-3), (1e-3, 1e-2)])
def test_a_certificate_asks_for_few_derivatives(l1, l2):
    """Scales of the dual point that cannot be better are not evaluated, and brackets take few steps."""
    rng = np.random.default_rng(0)
    n = 4000
    A = (rng.random((n, 60)) < 0.1).astype(float)
    b = np.where(A[:, 0] + A[:, 1] - A[:, 2] + 0.3 * rng.logistic(size=n) > 0.2, 1.0, -1.0)
    r = sw.solve(A, b, loss="logistic", l1=l1, l2=l2, intercept=True)
    problem = sw.Problem(A, b, Counted(), sw.penalties.ElasticNet(l1, l2), intercept=True)
    for part, most in ((1.0, 6), (0.9, 14)):
        Counted.asked = 0
        own = problem.certify(part * r.x, None, r.intercept)
        assert Counted.asked <= most * n
        known = r.problem.certify(part * r.x, None, r.intercept)
        assert known.gap * (1 - 1e-6) - 1e-12 <= own.gap <= 1.011 * known.gap + 1e-12

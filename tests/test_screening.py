"""What the gap proves about single coordinates is true, on any scale; and it proves all there is in the end."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import southwell as sw
from cases import FORMS, LOSSES, sparse_model
from saddles import honest, quietly
from southwell import reference
from southwell.methods import Auto
from southwell.penalties import ElasticNet
from twins import Formulas

BOUNDED = [name for name in LOSSES if np.isfinite(sw.losses.get(name).smoothness)]  # phi'' is
KINDS = {name: sw.losses.get(name) for name in LOSSES}
FLAT = [name for name, loss in KINDS.items() if loss.piecewise and not loss.quadratic]  # with pieces without curvature
PRIMAL = Auto(movers="primal")


def made(loss, n=100, d=40, seed=1, scales=None, target=1.0):
    """Its columns and targets on any scale."""
    A, b = sparse_model(loss, n, d, seed)
    return A if scales is None else A * scales, target * b if sw.losses.get(loss).targets == "real" else b


def problem_of(loss, share=0.3, l2=0.0, form="C", intercept=False, weights=None, box=(None, None), **options):
    """With l1 a share of the largest that leaves anything."""
    A, b = made(loss, **options)
    l1 = share * sw.lambda_max(A, b, loss=loss, intercept=intercept)
    return sw.Problem(FORMS[form](A), b, loss, ElasticNet(l1, l2, weights, *box), intercept=intercept)


class Truth:
    """A solution found without screening, and how far from it the true one may be."""

    def __init__(self, problem):
        self.twin = Formulas(problem, "primal")
        q = quietly(problem, tol=1e-13, max_epochs=3000, method="coordinate_descent")
        inner = problem.to_inner(q.x, q.intercept)
        self.gap = q.gap + 1e-13 * (abs(q.primal) + q.scale)
        self.x, self.y, self.margins = inner, q.y, self.twin.A @ inner

    def allows_zero(self):
        """Features whose optimal slope, as far as is known, may be where g_j has its minimum at 0."""
        A, _, s, loss, net = self.twin.parts
        reach = np.sqrt(2 * self.gap * loss.smoothness * (s @ A**2)) + 1e-9 * net.l1
        v = -(A.T @ (s * self.y))
        low, high = np.where(net.lo < 0, -net.l1, -np.inf), np.where(net.hi > 0, net.l1, np.inf)
        return ((v + reach >= low) & (v - reach <= high))[: self.twin.problem.n_features]

    def allows_values(self, y):
        """Samples whose optimal dual value may be y."""
        A, b, _, loss, net = self.twin.parts
        reach = np.sqrt(2 * self.gap / net.l2.min() * (A**2).sum(axis=1)) + 1e-9 * (1 + np.abs(self.margins))
        lowest, highest = (loss.derivative(self.margins + side * reach, b) for side in (-1, 1))
        return (lowest <= y) & (y <= highest)


def never_wrong(problem, truth, **options):
    """Whatever is screened, at any precision, is as it was said to be. Returns how much that was."""
    r = quietly(problem, method=PRIMAL, **options)
    honest(r)
    features, samples = r.screened.features, r.screened.samples
    assert truth.allows_zero()[features].all() if features.any() else True
    if samples.any():
        inner = problem.to_inner(r.x, r.intercept)
        known = problem.loss.derivative(truth.twin.A @ inner, problem.targets)
        assert truth.allows_values(known)[samples].all()
    if not features.any():
        return 0, int(samples.sum())
    # Without those features the optimum is the same: no bound of the smaller problem is above the larger's objective.
    bound = np.where(features, 0.0, np.inf)
    g = problem.penalty
    lower = np.maximum(-bound, -np.inf if g.lower is None else g.lower)
    upper = np.minimum(bound, np.inf if g.upper is None else g.upper)
    pinned = problem.with_penalty(ElasticNet(g.l1, g.l2, g.weights, lower, upper))
    smaller = quietly(pinned, tol=1e-13, max_epochs=3000, method="coordinate_descent")
    assert smaller.dual <= r.primal + 1e-12 * (abs(r.primal) + r.scale)
    return int(features.sum()), int(samples.sum())


STRENGTHS = st.sampled_from([1e-6, 1e-3, 0.1, 0.3, 0.7, 0.99, 1.5])
POWERS = st.sampled_from([-6, -3, 0, 3, 6])
RANDOM = {
    "loss": st.sampled_from(LOSSES), "share": STRENGTHS, "l2": st.sampled_from([0.0, 1e-8, 1e-3, 0.1, 10.0]),
    "form": st.sampled_from(list(FORMS)), "intercept": st.booleans(), "n": st.integers(2, 15), "d": st.integers(1, 12),
    "seed": st.integers(0, 10**6), "columns": POWERS, "uneven": st.sampled_from([0, 0, 3, 6]), "target": POWERS,
    "weighted": st.booleans(),
    "box": st.sampled_from([(None, None), (0.0, None), (None, 0.0), (-0.1, 0.2), (0.1, 1.0)]),
    "limit": st.sampled_from([
        {"tol": 1e-2}, {"tol": 1e-4}, {"tol": 1e-6}, {"tol": 0.0, "max_epochs": 1}, {"tol": 0.0, "max_epochs": 2},
        {"tol": 0.0, "max_epochs": 4}, {"tol": 0.0, "max_epochs": 10},
    ]),
}  # fmt: skip


SAMPLES = {  # where samples can be screened
    **RANDOM,
    "loss": st.sampled_from(FLAT), "share": st.sampled_from([0.0, 1e-3, 0.1, 0.5]),
    "l2": st.sampled_from([1e-3, 0.1, 1.0, 10.0]), "intercept": st.just(False), "n": st.integers(5, 30),
    "d": st.integers(1, 4), "columns": st.sampled_from([-1, 0, 1]), "uneven": st.sampled_from([0, 1]),
    "target": st.sampled_from([-1, 0, 1]),
}  # fmt: skip


def check(loss, share, l2, form, intercept, n, d, seed, columns, uneven, target, weighted, box, limit):
    rng = np.random.default_rng(seed)
    scales = 10.0 ** (columns + rng.integers(-uneven, uneven + 1, d))
    weights = rng.choice([0.3, 1.0, 3.0], d) if weighted else None
    if sw.losses.get(loss).traits.may_overflow:  # columns of any size, but not such that the zero model overflows
        scales, box = scales / 10.0**columns / 10.0**uneven, (None, None)
    problem = problem_of(
        loss, share, l2, form, intercept, weights, box, n=n, d=d, seed=seed, scales=scales, target=10.0**target
    )
    if problem.penalty.l1 == 0 == l2:
        return 0, 0
    return never_wrong(problem, Truth(problem), **limit)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(**RANDOM)
def test_nothing_is_screened_wrongly(**case):
    check(**case)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(**SAMPLES)
def test_no_sample_is_screened_wrongly(**case):
    check(**case)


@pytest.mark.slow
@settings(max_examples=10_000, suppress_health_check=[HealthCheck.too_slow])
@given(**RANDOM)
def test_nothing_is_screened_wrongly_ten_thousand_times(**case):
    check(**case)


@pytest.mark.slow
@settings(max_examples=10_000, suppress_health_check=[HealthCheck.too_slow])
@given(**SAMPLES)
def test_no_sample_is_screened_wrongly_ten_thousand_times(**case):
    check(**case)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("loss", LOSSES)
def test_screens_along_the_way(loss, l2, share):
    """At every certificate of a larger problem; what is proved stays proved, and more of it comes."""
    problem = problem_of(loss, share, l2)
    truth, before = Truth(problem), None
    for epochs in (1, 2, 3, 5, 10, 30):
        never_wrong(problem, truth, tol=0.0, max_epochs=epochs)
        now = quietly(problem, method=PRIMAL, tol=0.0, max_epochs=epochs).screened
        if before is not None:
            assert (now.features >= before.features).all() and (now.samples >= before.samples).all()
        before = now


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("loss", BOUNDED)
def test_in_the_end_all_that_rest_are_screened(loss, l2, form):
    """Every feature whose slope is clearly inside, and none that is not zero."""
    for intercept in (False, True):
        problem = problem_of(loss, 0.3, l2, form, intercept, n=101)
        r = quietly(problem, method=PRIMAL, tol=0.0, max_epochs=100)
        assert r.gap <= 1e-12 * r.scale
        twin = Formulas(problem, "primal")
        slopes = np.abs(twin.A.T @ (twin.s * r.y))[: problem.n_features]
        assert r.screened.features[slopes < 0.99 * problem.penalty.l1].all()
        assert not r.screened.features[r.x != 0].any()
        assert r.screened.n_features > 20


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", FLAT)
def test_in_the_end_samples_far_from_the_kinks_are_screened(loss, form):
    problem = problem_of(loss, 0.3, 0.05, form)
    r = quietly(problem, method=PRIMAL, tol=0.0, max_epochs=100)
    A, b = Formulas(problem, "primal").A, problem.targets
    far = problem.loss.derivative(A @ r.x - 0.02, b) == problem.loss.derivative(A @ r.x + 0.02, b)
    assert far.any() and r.screened.samples[far].all()
    assert r.y[r.screened.samples] == pytest.approx(
        problem.loss.derivative(A @ r.x, b)[r.screened.samples], abs=1e-5
    )  # fmt: skip


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared_hinge"])
def test_what_the_last_certificate_proves_is_told(loss):
    """The formulas, at the point a solve ends with, screen no more than it says."""
    for share in (0.3, 0.6):
        problem = problem_of(loss, share)
        r = sw.solve(problem, method=PRIMAL)
        twin = Formulas(problem, "primal")
        proved = reference.gap_safe_features(twin.A, twin.s, twin.loss, twin.net, r.y, 1.01 * r.gap + 1e-11 * r.scale)
        assert (r.screened.features >= proved).all()


@pytest.mark.parametrize("loss", BOUNDED)
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_the_formulas_know_all_that_the_core_does(loss, l2):
    """At the optimum the gap-safe sphere is a point, so what was screened on the way is inside it."""
    problem = problem_of(loss, 0.3, l2)
    twin, tight = Formulas(problem, "primal"), quietly(problem, tol=1e-13, method=PRIMAL)
    net = reference.ElasticNet(twin.net.l1 * (1 + 1e-9), *(getattr(twin.net, name) for name in ("l2", "lo", "hi")))
    features = reference.gap_safe_features(twin.A, twin.s, twin.loss, net, tight.y, 0.0)
    samples = reference.gap_safe_samples(twin.A, twin.b, twin.loss, twin.net, tight.x, 0.0)
    for tol in (1e-2, 1e-4, 1e-6, 1e-8):
        screened = sw.solve(problem, tol=tol, method=PRIMAL).screened
        assert (features >= screened.features).all() and (samples >= screened.samples).all()


@settings(max_examples=100)
@given(
    loss=st.sampled_from(BOUNDED), share=STRENGTHS, l2=st.sampled_from([0.0, 1e-3, 0.1]), seed=st.integers(0, 10**6),
    wrong=st.sampled_from([0.0, 1e-6, 1e-3, 0.1, 1.0]),
)  # fmt: skip
def test_the_formulas_are_safe(loss, share, l2, seed, wrong):
    """At any pair of points, however bad."""
    problem = problem_of(loss, share, l2, n=12, d=8, seed=seed)
    truth, (A, b, s, phi, net) = Truth(problem), Formulas(problem, "primal").parts
    x = truth.x + wrong * np.random.default_rng(seed).normal(size=8)
    y = phi.derivative(A @ x, b)
    y *= net.feasible_scale(-(A.T @ (s * y))).min()
    _, _, gap = reference.certificate(A, b, s, phi, net, x, y)
    gap = abs(gap) + 1e-12
    zero, known = (
        reference.gap_safe_features(A, s, phi, net, y, gap),
        reference.gap_safe_samples(A, b, phi, net, x, gap),
    )
    assert truth.allows_zero()[zero].all()
    assert not known.any() or truth.allows_values(phi.derivative(A @ x, b))[known].all()
    if wrong == 0 and l2 == 0 and share == 0.3:
        assert (zero <= (np.abs(truth.x) < 1e-6)).all()


# Where nothing can be known


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in BOUNDED])
def test_losses_without_smoothness_screen_no_features(loss):
    for l2 in (0.0, 0.05):
        r = quietly(problem_of(loss, 0.3, l2), method=PRIMAL, tol=0.0, max_epochs=30)
        assert r.screened.n_features == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_an_intercept_screens_no_samples(loss):
    r = quietly(problem_of(loss, 0.3, 0.05, intercept=True), method=PRIMAL, tol=0.0, max_epochs=30)
    assert r.screened.n_samples == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_without_l2_no_samples_are_screened(loss):
    weights = np.where(np.arange(40) == 7, 0.0, 1.0)
    for problem in (problem_of(loss), problem_of(loss, l2=0.05, weights=weights)):
        assert quietly(problem, method=PRIMAL, tol=0.0, max_epochs=30).screened.n_samples == 0


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_losses_without_flats_screen_no_samples(loss):
    assert quietly(problem_of(loss, 0.3, 0.05), method=PRIMAL, tol=0.0, max_epochs=30).screened.n_samples == 0


@pytest.mark.parametrize("loss", BOUNDED)
def test_without_l1_no_features_are_screened(loss):
    r = quietly(problem_of(loss, 0.0, 0.05), method=PRIMAL, tol=0.0, max_epochs=30)
    assert r.screened.n_features == 0


@pytest.mark.parametrize("loss", BOUNDED)
def test_unpenalised_features_are_never_screened(loss):
    weights = np.where(np.arange(40) % 3 == 0, 0.0, 1.0)
    r = quietly(problem_of(loss, 0.3, weights=weights), method=PRIMAL, tol=0.0, max_epochs=30)
    assert not r.screened.features[::3].any()


@pytest.mark.parametrize("loss", BOUNDED)
def test_features_whose_box_excludes_zero_are_never_screened(loss):
    lower = np.where(np.arange(40) % 3 == 0, 0.01, -np.inf)
    r = quietly(problem_of(loss, 0.3, box=(lower, None)), method=PRIMAL, tol=0.0, max_epochs=30)
    assert not r.screened.features[::3].any() and r.screened.n_features > 0


@pytest.mark.parametrize("box", [(0.0, None), (None, 0.0), (0.0, 0.5), (-0.5, 0.0)])
def test_a_bound_at_zero_helps(box):
    """A slope that pushes against a bound at zero, however large, keeps the feature there."""
    problem = problem_of("squared", 0.05, box=box)
    r = quietly(problem, method=PRIMAL, tol=0.0, max_epochs=30)
    twin = Formulas(problem, "primal")
    against = -(twin.A.T @ (twin.s * r.y)) * (1 if box[1] == 0 else -1) > 1.1 * problem.penalty.l1
    assert against.any() and r.screened.features[against].all()


# How it is told


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", ["auto", Auto(movers="dual"), PRIMAL, "coordinate_descent", "fista"])
def test_masks(method, intercept):
    problem = problem_of("squared_hinge", 0.3, 0.05, intercept=intercept)
    s = quietly(problem, method=method, tol=1e-8).screened
    assert s.features.shape == (40,) and s.samples.shape == (100,)
    assert s.features.dtype == s.samples.dtype == bool
    assert (s.n_features, s.n_samples) == (s.features.sum(), s.samples.sum())
    assert type(s.n_features) is type(s.n_samples) is int
    assert repr(s) == f"Screened({s.n_features} of 40 features, {s.n_samples} of 100 samples)"


def test_at_the_zero_model_nothing_has_to_be_screened():
    r = sw.solve(problem_of("squared", 2.0))
    assert r.epochs == 0 and r.nonzeros == 0


def test_what_was_proved_before_a_change_of_movers_is_kept():
    """When another mover takes over, what the first one screened stays screened."""
    problem = problem_of("squared_hinge", 0.02, 1e-3, n=60, d=120)
    truth = Truth(problem)
    for epochs in (5, 20, 100, 400):
        r = quietly(problem, tol=0.0, max_epochs=epochs)
        assert truth.allows_zero()[r.screened.features].all()
        known = problem.loss.derivative(truth.twin.A @ r.x, problem.targets)
        assert truth.allows_values(known)[r.screened.samples].all()

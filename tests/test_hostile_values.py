"""Values at the limits of numbers and arrays of odd types: an answer or an error in words, no warning and no hang."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import graph, metric

RNG = np.random.default_rng(0)
A = RNG.normal(size=(12, 4))
B = A[:, 0] + 0.1
LABELS = np.arange(12) % 2
HUGE = np.full(12, 1e308)


@pytest.mark.parametrize("fit", [
    lambda: sw.Lasso().fit(A, B, sample_weight=HUGE),
    lambda: sw.PoissonRegressor().fit(A, LABELS, sample_weight=HUGE),
    lambda: sw.LassoCV(cv=3).fit(A, B, sample_weight=HUGE),
    lambda: sw.RidgeClassifierCV(cv=3).fit(A, LABELS, sample_weight=HUGE),
    lambda: sw.LogisticRegression(class_weight={0: 1e300, 1: 1.0}).fit(A, LABELS, sample_weight=np.full(12, 1e100)),
])  # fmt: skip
def test_weights_whose_sum_overflows_are_refused(fit):
    with pytest.raises(ValueError, match=r"must have a finite sum; the largest is .* Scale sample_weight down"):
        fit()


@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
@pytest.mark.parametrize("intercept", [False, True])
def test_counts_beyond_the_range_of_exponentials_end(intercept):
    r = sw.solve(A, HUGE, loss="poisson", l2=1.0, intercept=intercept, max_epochs=3)
    assert not r.status  # exp(709) is the largest: no model predicts 1e308


def test_classes_in_half_precision_are_read():
    r = sw.solve(A, LABELS.astype(np.float16), loss="softmax", l2=0.1)
    assert r.status and r.x.shape == (4, 2)


@pytest.mark.parametrize("method", [sw.methods.FISTA(), sw.methods.LBFGS(), sw.methods.DGPD()])
def test_cross_validation_over_groups_refuses_methods_without_blocks(method):
    with pytest.raises(ValueError, match=f"{type(method).__name__} does not support problems with blocks"):
        sw.GroupLassoCV(groups=[0, 0, 1, 1], method=method, cv=2).fit(A, B)


def test_penalties_that_overflow_are_infinite():
    groups = sw.penalties.Groups(1.0, groups=[0, 0, 1, 1], weights=[1e308, 1e308])
    assert groups.value(np.full(4, 1e3)) == np.inf


def test_a_dual_point_whose_slopes_overflow_bounds_nothing():
    risk = metric.MatrixRisk(np.stack([np.outer(a, a) for a in A]), B, l2=1.0)
    certificate = risk.certify(np.eye(4), HUGE / 1e100)
    assert certificate.dual == -np.inf and certificate.gap == np.inf


@pytest.mark.parametrize("kind", ["V4", [("a", "i4"), ("b", "f8")]])
def test_records_are_no_labels(kind):
    records = np.zeros(12, kind)
    with pytest.raises(TypeError, match="must hold one label, a number or a text, for each row"):
        graph.LabelPropagation(n_neighbors=2).fit(A, records)
    with pytest.raises(TypeError, match="unlabelled must be one label"):
        graph.LabelPropagation(n_neighbors=2, unlabelled=records[0]).fit(A, LABELS)


@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
@pytest.mark.parametrize("form", [sp.csc_array, sp.csr_array, np.asarray])
@pytest.mark.parametrize("method", ["auto", "dspdc", "fista"])
def test_an_unpenalised_column_that_is_constant_up_to_rounding_counts(form, method):
    # The first sample has almost all of the weight, so that its entry becomes tiny when columns are centred. But it is
    # not zero: with coefficients near -1e14 both losses vanish.
    X = np.array([[-1.44825688139152, 1.0], [-0.48788838057538647, 1.0]])
    r = sw.solve(
        sw.Centred(form(X)), [1.0, -1.0], loss=sw.losses.SmoothHinge(5.0),
        penalty=sw.penalties.ElasticNet(3e-4, 2e-4, weights=[0.0, 2.0]),
        sample_weight=[5.6140966698118165e4, 1.0258094108799104e-8], method=method, max_epochs=30,
    )  # fmt: skip
    assert r.dual <= 1e-9 and r.status is not sw.Status.CONVERGED


@pytest.mark.parametrize("form", [sp.csc_array, sp.csr_array, np.asarray])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_constant_column_is_zero_after_centring(form, intercept):
    X = np.c_[np.full(12, 0.1), A]
    weights = np.r_[0.0, np.ones(4)]
    r = sw.solve(
        sw.Centred(form(X)), B, penalty=sw.penalties.ElasticNet(0.01, weights=weights), intercept=intercept, tol=1e-9,
        sample_weight=RNG.random(12),
    )  # fmt: skip
    assert r.status is sw.Status.CONVERGED and r.problem.means[0] == 0.1


@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
@pytest.mark.parametrize("form", [sp.csc_array, sp.csr_array])
def test_means_that_leave_a_constant_column_nearly_zero_give_no_false_proof(form):
    # In exact arithmetic the first column is 8.5e-14 in every row: an intercept, with a coefficient of 1e13.
    rng = np.random.default_rng(2)
    X = np.c_[np.full(15, 207.06433610226696), rng.normal(size=(15, 3))]
    b = np.where(rng.random(15) < 0.8, 1.0, -1.0)
    penalty = sw.penalties.ElasticNet(0.05, weights=[0.0, 1.0, 1.0, 1.0])
    means = np.r_[207.06433610226696 - 8.526512829121202e-14, np.zeros(3)]
    r = sw.solve(sw.Centred(form(X), means), b, loss="smooth_hinge", penalty=penalty, max_epochs=300)
    best = sw.solve(X[:, 1:], b, loss="smooth_hinge", l1=0.05, intercept=True, tol=1e-9)
    assert best.primal < 0.9 * r.primal  # the column moves too little to be used
    assert r.dual <= best.primal + 1e-9 and r.status is not sw.Status.CONVERGED


@pytest.mark.parametrize("form", [sp.csc_array, sp.csr_array])
@pytest.mark.parametrize("ratio", [10.0, 1e3, 1e5])
def test_unpenalised_columns_far_from_zero_are_proved_when_centred(form, ratio):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3)) + ratio
    b = X @ [1.0, -1.0, 2.0] + rng.normal(size=60)
    r = sw.solve(sw.Centred(form(X)), b - b.mean(), tol=1e-6)
    assert r.status is sw.Status.CONVERGED
    exact = np.linalg.lstsq(X - X.mean(0), b - b.mean(), rcond=None)[0]
    np.testing.assert_allclose(r.x, exact, rtol=1e-3)

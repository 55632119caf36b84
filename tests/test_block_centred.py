"""Problems of blocks on sparse data that are centred implicitly: they are those on the centred data, dense."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from block_data import CLASSES, made
from southwell.check import verify
from southwell.methods import DSPDC, SPDC, Auto, CoordinateDescent
from southwell.penalties import ElasticNet, Groups

KINDS = ["squared", "logistic", "huber", "poisson", "hinge", "quantile", *CLASSES]
PENALTIES = {
    "rows": Groups(0.02),
    "groups": Groups(0.02, groups=np.arange(12) // 3),
    "sparse groups": Groups(0.02, 0.01, 0.02, np.arange(12) % 4),
    "l1": ElasticNet(0.01),
    "ridge": ElasticNet(l2=0.1),
    "elastic net": ElasticNet(0.01, 0.1),
}
FORMS = [sp.csr_array, sp.csc_array]


def sparse(loss, far=3.0, n=60, d=12):
    """Half of it is stored, most columns have a mean; one is empty, one constant. Weights are unequal."""
    A, b = made(loss, n, d)
    rng = np.random.default_rng(1)
    A = np.where(rng.random((n, d)) < 0.5, A + far * rng.integers(0, 2, d), 0.0)
    A[:, 3], A[:, 4] = 0.0, 2.5
    return A, b, rng.uniform(0.5, 2.0, n)


def centred(A, s):
    return A - s @ A / s.sum()


def same(got, want, tol, size):
    assert got.status is sw.Status.CONVERGED
    assert abs(got.primal - want.primal) <= 2 * tol * want.scale
    assert want.dual <= got.primal + 1e-12 * want.scale and got.dual <= want.primal + 1e-12 * want.scale
    if size is not None:
        np.testing.assert_allclose(got.x, want.x, atol=size * max(1.0, np.abs(want.x).max()))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", KINDS)
def test_the_answer_is_that_of_centred_dense_data(loss, penalty, intercept):
    A, b, s = sparse(loss)
    options = {"intercept": intercept, "sample_weight": s}
    want = sw.solve(sw.BlockProblem(centred(A, s), b, loss, PENALTIES[penalty], **options), tol=1e-11)
    strict = PENALTIES[penalty].l2 > 0 and loss not in ("hinge", "quantile")
    for form in FORMS:
        got = sw.solve(sw.BlockProblem(sw.Centred(form(A)), b, loss, PENALTIES[penalty], **options), tol=1e-9)
        same(got, want, 1e-9, 1e-3 if strict else None)  # else coefficients are not known so well
        np.testing.assert_allclose(got.x[3:5], 0.0, atol=1e-3 if intercept else 1e-9)  # the latter is no column then


@pytest.mark.parametrize("loss", ["squared", "huber", *CLASSES])
def test_means_far_larger_than_the_spread(loss):
    A, b = made(loss)
    for penalty in (Groups(0.02), Groups(0.02, groups=np.arange(8) // 3), ElasticNet(l2=0.1)):
        want = sw.solve(sw.BlockProblem(A - A.mean(axis=0), b, loss, penalty), tol=1e-9)
        for form in FORMS:
            got = sw.solve(sw.BlockProblem(sw.Centred(form(A + 1e4)), b, loss, penalty), tol=1e-7)
            same(got, want, 1e-7, 1e-2)


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_single_precision_and_given_means(loss):
    A, b, _ = sparse(loss)
    narrow, means = A.astype(np.float32), np.linspace(-1.0, 1.0, 12)
    want = sw.solve(sw.BlockProblem(narrow.astype(float) - means, b, loss, Groups(0.02)), tol=1e-11)
    for form in FORMS:
        got = sw.solve(sw.BlockProblem(sw.Centred(form(narrow), means), b, loss, Groups(0.02)), tol=1e-9)
        same(got, want, 1e-9, 1e-4)


@pytest.mark.parametrize("loss", ["squared", "logistic", *CLASSES])
@pytest.mark.parametrize(
    "method",
    [CoordinateDescent("primal"), CoordinateDescent("dual"), SPDC(), SPDC(batch=5), DSPDC(rows=3, columns=2), "auto"],
    ids=lambda m: getattr(m, "name", m),
)
def test_every_method_finds_it(loss, method):
    A, b, s = sparse(loss, far=0.5)
    for penalty in (PENALTIES["sparse groups"], PENALTIES["ridge"]):
        dense, *others = (
            sw.BlockProblem(sw.Centred(form(A)), b, loss, penalty, sample_weight=s) for form in (np.asarray, *FORMS)
        )
        want = sw.solve(dense, tol=1e-10)
        for problem in others:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                same(sw.solve(problem, method=method, tol=1e-6, max_epochs=5000), want, 1e-6, 0.1)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", *CLASSES])
def test_every_round_is_that_on_stored_centred_data(loss, penalty):
    """With all entries stored, rounds differ by rounding alone: also those that keep a residual, without a Gram
    matrix."""
    A, b = made(loss, n=60, d=12)
    A = A + np.linspace(-3.0, 3.0, 12)
    for gram in (0.5, 10**4) if loss == "squared" else (10**4,):
        for form in FORMS:
            stored, implied = (
                sw.solve(
                    sw.BlockProblem(given, b, loss, PENALTIES[penalty]),
                    tol=1e-9,
                    method=Auto(policy={"largest_gram": gram}),
                ).history
                for given in (form(A - A.mean(axis=0)), sw.Centred(form(A)))
            )
            assert len(implied["entries"]) == len(stored["entries"])
            # Rounding may cost conjugate gradients a step.
            np.testing.assert_allclose(implied["entries"], stored["entries"], rtol=0.05)
            np.testing.assert_allclose(implied["primal"], stored["primal"], rtol=1e-10)
            np.testing.assert_allclose(implied["gap"], stored["gap"], atol=1e-9 * stored["primal"][0], rtol=1e-4)


@pytest.mark.parametrize("method", [DSPDC(rows=1, columns=1), DSPDC(rows=5, columns=2), SPDC()])
def test_moves_between_products_touch_no_more_entries_than_without_centring(method):
    """What centring adds to all entries of a product is kept as k numbers."""
    A, b, _ = sparse("squared")
    touched = []
    for given in (sp.csr_array(A), sw.Centred(sp.csr_array(A)), sw.Centred(A)):
        problem = sw.BlockProblem(given, b, "squared", Groups(0.02, l2=0.1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            touched.append(sw.solve(problem, method=method, tol=1e-15, max_epochs=3).history["entries"][-1])
    assert touched[0] == touched[1] < touched[2]


def test_descent_on_the_squared_loss_touches_no_more_entries_than_without_centring():
    A, b, _ = sparse("squared")
    for side in ("primal", "dual"):
        touched = []
        for given in (sp.csr_array(A), sw.Centred(sp.csr_array(A))):
            problem = sw.BlockProblem(given, b, "squared", ElasticNet(l2=0.1))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                r = sw.solve(problem, method=CoordinateDescent(side), tol=1e-15, max_epochs=3)
            touched.append(r.history["entries"][-1])
        assert touched[1] <= touched[0]


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize("penalty", ["rows", "sparse groups"])
def test_paths_are_those_of_centred_dense_data(loss, penalty):
    A, b, s = sparse(loss)
    g = PENALTIES[penalty]
    dense, *others = (
        sw.BlockProblem(given, b, loss, g, sample_weight=s)
        for given in (centred(A, s), *(sw.Centred(form(A)) for form in FORMS))
    )
    want = sw.path(dense, n_points=8, tol=1e-9)
    for problem in others:
        got = sw.path(problem, n_points=8, tol=1e-9)
        np.testing.assert_allclose(got.strengths, want.strengths, rtol=1e-9)
        for k in range(8):
            np.testing.assert_allclose(got.coefficients(k), want.coefficients(k), atol=2e-3)


def test_what_the_gap_screens_is_zero():
    for loss in ("squared", "softmax"):
        A, b, s = sparse(loss)
        problem = sw.BlockProblem(sw.Centred(sp.csr_array(A)), b, loss, Groups(0.1), sample_weight=s)
        r = sw.solve(problem, tol=1e-9)
        settled = np.asarray(r.screened.features)
        exact = sw.solve(sw.BlockProblem(centred(A, s), b, loss, Groups(0.1), sample_weight=s), tol=1e-12)
        assert settled.any() and not exact.x[settled].any()


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax", "multiclass_hinge"])
@pytest.mark.parametrize("penalty", ["sparse groups", "rows", "ridge"])
def test_proofs_hold(tmp_path, loss, penalty):
    A, b, s = sparse(loss, n=24)
    for form in FORMS:
        for intercept in (False, True):
            problem = sw.BlockProblem(
                sw.Centred(form(A)), b, loss, PENALTIES[penalty], sample_weight=s, intercept=intercept
            )
            result = sw.solve(problem, tol=1e-8)
            proof = result.prove()
            assert proof.gap <= result.gap + 1e-9 * result.scale
            result.save_proof(tmp_path / "answer.proof")
            assert verify(tmp_path / "answer.proof", form(A), b, s).verified


def test_several_threads_give_the_same_bits():
    A, b, s = sparse("softmax", n=3000, d=120)
    for loss, targets in (("softmax", b), ("squared", np.eye(3)[b])):
        problem = sw.BlockProblem(sw.Centred(sp.csr_array(A)), targets, loss, Groups(0.005), sample_weight=s)
        one, *others = (sw.solve(problem, tol=1e-8, n_threads=threads) for threads in (1, 2, 5))
        for other in others:
            np.testing.assert_array_equal(other.x, one.x)
            assert other.gap == one.gap

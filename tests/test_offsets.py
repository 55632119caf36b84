"""Offsets: known parts of the margins, which the certificate, the proof and cross-validation know of."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model

import southwell as sw
from southwell.check import verify
from southwell.penalties import ElasticNet

LOSSES = sorted(sw.losses.ALL)
N, D = 60, 8
RNG = np.random.default_rng(0)
A = RNG.normal(size=(N, D))
OFFSET = RNG.normal(size=N)
MARGINS = A[:, :3] @ [1.0, -0.5, 0.3] + OFFSET
NOISY = MARGINS + 0.4 * RNG.normal(size=N)


def targets(loss):
    means = np.exp(np.clip(NOISY, -3, 2))
    return {"real": NOISY, "signs": np.where(NOISY > 0, 1.0, -1.0), "counts": np.round(means), "positive": means}[
        sw.losses.get(loss).targets
    ]


def value(loss, r, offset=OFFSET, l1=0.02, l2=0.05):
    margins = A @ r.x + r.intercept + offset
    penalty = l1 * np.abs(r.x).sum() + l2 / 2 * r.x @ r.x
    return float(np.mean(sw.losses.get(loss).value(margins, targets(loss)))) + penalty


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_offset_is_a_column_whose_coefficient_is_one(loss, intercept):
    held = ElasticNet(
        0.02, 0.05, np.r_[np.ones(D), 0.0], np.r_[np.full(D, -np.inf), 1.0], np.r_[np.full(D, np.inf), 1.0]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known = sw.solve(np.c_[A, OFFSET], targets(loss), loss=loss, penalty=held, intercept=intercept, tol=1e-8)
        r = sw.solve(A, targets(loss), loss=loss, l1=0.02, l2=0.05, intercept=intercept, offset=OFFSET, tol=1e-8)
    assert r.primal == pytest.approx(value(loss, r), rel=1e-12)
    assert r.dual <= known.primal + 1e-12 and known.dual <= r.primal + 1e-12
    np.testing.assert_allclose(r.x, known.x[:-1], atol=1e-3)
    assert r.scale == pytest.approx(known.scale, rel=1e-6)


SIDES = [sw.methods.CoordinateDescent(side) for side in ("primal", "dual")]
METHODS = [*SIDES, sw.methods.CoordinateDescent("dual", sw.rules.GapPerEpoch()), "spdc", "fista", "lbfgs", "saga"]


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("loss", ["logistic", "smooth_hinge", "poisson", "negative_binomial", "hinge", "gamma"])
def test_every_method_knows_the_offset(method, loss):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = sw.solve(A, targets(loss), loss=loss, l1=0.02, l2=0.05, offset=OFFSET, method=method, max_epochs=3000)
    except ValueError as refusal:  # such as a loss with kinks on the primal side
        assert "Use" in str(refusal) or "use" in str(refusal)
        return
    best = sw.solve(A, targets(loss), loss=loss, l1=0.02, l2=0.05, offset=OFFSET, tol=1e-10)
    assert r.dual <= best.primal <= r.primal + 1e-12
    assert r.primal == pytest.approx(value(loss, r), rel=1e-12)
    assert r.relative_gap <= 1e-5


@pytest.mark.parametrize("loss", LOSSES)
def test_proofs_hold_with_the_offset_and_only_with_it(loss, tmp_path):
    b, path = targets(loss), tmp_path / "answer.proof"
    r = sw.solve(A, b, loss=loss, l1=0.02, l2=0.05, offset=OFFSET, intercept=True, tol=1e-8)
    proof = r.prove()
    assert proof.primal >= value(loss, r) - 1e-15 and proof.gap <= 1e-7 * r.scale
    proof.save(path)
    assert verify(path, A, b, offset=OFFSET)
    assert not verify(path, A, b)
    assert not verify(path, A, b, offset=OFFSET + 1e-9)


def test_exposures_are_offsets():
    """Counts over exposures, as scikit-learn fits them: rates with the exposures as weights."""
    exposure = RNG.uniform(0.5, 3.0, N)
    counts = RNG.poisson(exposure * np.exp(0.5 * A[:, 0]))
    theirs = linear_model.PoissonRegressor(alpha=0.1, tol=1e-12, max_iter=10_000)
    theirs.fit(A, counts / exposure, sample_weight=exposure)
    mean = exposure.mean()  # their loss is divided by the sum of exposures
    ours = sw.PoissonRegressor(alpha=0.1 * mean, tol=1e-12).fit(A, counts, offset=np.log(exposure))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict(A, offset=np.log(exposure)), exposure * theirs.predict(A), rtol=1e-5)
    assert ours.score(A, counts, offset=np.log(exposure)) > ours.score(A, counts)


@pytest.mark.parametrize("kind", [sw.Lasso, sw.Ridge, sw.HuberRegressor, sw.QuantileRegressor, sw.LinearSVR, sw.LassoCV,
                                  sw.MultiTaskLasso, sw.GroupLasso])  # fmt: skip
def test_regressors_fit_what_the_offset_leaves(kind):
    y = np.c_[NOISY, NOISY + 0.1 * A[:, 0]] if kind is sw.MultiTaskLasso else NOISY
    added = OFFSET[:, None] if y.ndim == 2 else OFFSET
    given = {"cv": 3, "alphas": 5} if kind is sw.LassoCV else {"alpha": 0.05} if hasattr(kind(), "alpha") else {}
    plain, with_offset = kind(**given).fit(A, y - added), kind(**given).fit(A, y, offset=OFFSET)
    np.testing.assert_allclose(with_offset.coef_, plain.coef_, atol=1e-4)
    np.testing.assert_allclose(with_offset.predict(A, offset=OFFSET), plain.predict(A) + added, atol=1e-3)
    assert with_offset.score(A, y, offset=OFFSET) > with_offset.score(A, y)


def test_cross_validation_judges_with_the_offset():
    plain = sw.ElasticNetCV(cv=4, alphas=8).fit(A, NOISY - OFFSET)
    chosen = sw.ElasticNetCV(cv=4, alphas=8).fit(A, NOISY, offset=OFFSET)
    np.testing.assert_allclose(chosen.mse_path_, plain.mse_path_, rtol=1e-5)
    assert chosen.alpha_ == pytest.approx(plain.alpha_)
    y = targets("logistic")
    models = [sw.LogisticRegressionCV(cv=3, Cs=[0.1, 1.0], use_legacy_attributes=False) for _ in range(2)]
    models = [model.fit(A, y, offset=o) for model, o in zip(models, (None, OFFSET), strict=True)]
    assert models[1].scores_.mean() > models[0].scores_.mean()  # it knows more


def test_classifiers_know_the_offset():
    y = targets("logistic")
    model = sw.LogisticRegression(C=1.0, tol=1e-10).fit(A, y, offset=OFFSET)
    r = sw.solve(A, y, loss="logistic", l2=1 / N, intercept=True, offset=OFFSET, tol=1e-12)
    np.testing.assert_allclose(model.coef_.ravel(), r.x, atol=1e-5)
    np.testing.assert_allclose(
        model.decision_function(A, offset=OFFSET), r.decision_function(A, offset=OFFSET), atol=1e-4
    )
    np.testing.assert_array_equal(model.predict(A, offset=OFFSET), r.predict(A, offset=OFFSET))
    likely = model.predict_proba(A, offset=OFFSET)[:, 1]
    np.testing.assert_allclose(np.log(likely / (1 - likely)), model.decision_function(A, offset=OFFSET), rtol=1e-8)
    assert model.score(A, y, offset=OFFSET) > model.score(A, y)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "squared", "tweedie"])
def test_paths_know_the_offset(loss):
    b = targets(loss)
    path = sw.path(A, b, loss=loss, offset=OFFSET, intercept=True, n_points=8, tol=1e-8)
    top = sw.lambda_max(A, b, loss=loss, offset=OFFSET, intercept=True)
    assert path.strengths[0] == pytest.approx(top) and path.nonzeros[0] == 0
    alone = sw.solve(A, b, loss=loss, offset=OFFSET, intercept=True, l1=path.strengths[5], tol=1e-8)
    np.testing.assert_allclose(path.coefficients(5), alone.x, atol=1e-3)
    single = path.predict(A, offset=OFFSET)[:, 5]
    np.testing.assert_allclose(single, path[5].predict(A, offset=OFFSET), rtol=1e-10)
    everywhere = sw.path(A, b, loss=loss, offset=OFFSET, intercept=True, ratio=0.3, tol=1e-2, everywhere=True)
    assert everywhere.between.max() <= 1e-2


def test_several_targets_have_offsets_of_their_own():
    both, offsets = np.c_[targets("poisson"), targets("poisson")[::-1]], np.c_[OFFSET, OFFSET[::-1]]
    together = sw.solve(A, both, loss="poisson", l2=0.1, offset=offsets, intercept=True, tol=1e-10)
    for k in range(2):
        one = sw.solve(A, both[:, k], loss="poisson", l2=0.1, offset=offsets[:, k], intercept=True, tol=1e-10)
        np.testing.assert_allclose(together.x[:, k], one.x, atol=1e-5)
        np.testing.assert_allclose(
            together.predict(A, offset=offsets)[:, k], one.predict(A, offset=offsets[:, k]), rtol=1e-4
        )


def test_an_audit_knows_the_offset():
    model = sw.PoissonRegressor(alpha=0.1).fit(A, targets("poisson"), offset=OFFSET)
    assert sw.audit(model, A, targets("poisson"), offset=OFFSET).relative_gap <= 1e-6
    assert sw.audit(model, A, targets("poisson")).relative_gap > 1e-3


@pytest.mark.parametrize(
    ("offset", "words"),
    [(np.zeros(N - 1), "offset"), (np.full(N, np.nan), "NaN"), ("far", "offset"), (np.zeros((N, 2)), "offset")],
)
def test_bad_offsets_are_refused_in_words(offset, words):
    for call in (
        lambda: sw.solve(A, NOISY, offset=offset),
        lambda: sw.Lasso().fit(A, NOISY, offset=offset),
        lambda: sw.LogisticRegression().fit(sp.csr_array(A), NOISY > 0, offset=offset),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()


def test_offsets_that_overflow_or_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="overflows"):
        sw.solve(A, np.full(N, 1e308), offset=np.full(N, -1e308))
    with pytest.raises(ValueError, match="offset"):
        sw.solve(A, NOISY, offset=OFFSET, l1=0.1).predict(A[:5], offset=OFFSET)

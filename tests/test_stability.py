"""Stability selection: probabilities are shares of halves, whose paths are those of the estimators."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import southwell as sw
from southwell.selection import StabilitySelection, halves

HALVES = "halves are made of rows, whatever their weights"
EXPECTED = {f"check_sample_weight_equivalence_on_{kind}_data": HALVES for kind in ("dense", "sparse")}


@parametrize_with_checks([StabilitySelection(l1s=3, n_pairs=2)], expected_failed_checks=lambda estimator: EXPECTED)
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n", [10, 11])
@pytest.mark.parametrize("classes", [False, True])
def test_pairs_of_halves_have_no_row_in_common(n, classes):
    codes = np.arange(n) % 2 if classes else None
    pairs = halves(n, 4, True, codes, np.random.default_rng(0))
    for (one, rest), (other, _) in zip(pairs[::2], pairs[1::2], strict=True):
        assert sorted([*one, *other]) == list(range(n)) and abs(len(one) - len(other)) <= 1
        assert not set(rest) & set(one)
        if classes:
            assert abs(np.mean(codes[one]) - 0.5) <= 0.2
    alone = halves(n, 4, False, codes, np.random.default_rng(0))
    assert len(alone) == 8 and {len(own) for own, _ in alone} == {(n + 1) // 2}


@pytest.mark.parametrize("loss", ["squared", "quantile", "logistic"])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_probabilities_are_shares_of_paths(loss, form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    y = X[:, 0] - X[:, 5] + rng.standard_normal(60)
    y = y > 0 if loss == "logistic" else y
    model = StabilitySelection(loss, l1s=[0.2, 0.05], n_pairs=3, random_state=3).fit(form(X), y)
    kind = sw.SparseLinearClassifier if loss == "logistic" else sw.SparseLinearRegressor
    seed = int(np.random.RandomState(3).randint(2**31 - 1))
    drawn = halves(60, 3, True, y.astype(int) if loss == "logistic" else None, np.random.default_rng(seed))
    shares = np.zeros((12, 2))
    for rows, _ in drawn:
        for k, l1 in enumerate([0.2, 0.05]):
            shares[:, k] += np.ravel(kind(loss, l1=l1, tol=1e-9).fit(X[rows], y[rows]).coef_ != 0) / 6
    assert (
        np.abs(model.probabilities_ - shares).max() <= 1.01 / 6 and np.abs(model.probabilities_ - shares).mean() < 0.02
    )
    assert np.array_equal(model.scores_, model.probabilities_.max(axis=1)) and model.gap_ <= 1e-6
    assert model.false_bound_ == pytest.approx(model.mean_selected_**2 / (0.5 * 12))


def test_a_planted_support_is_stable():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 300))
    y = X[:, :4] @ [1.0, -1.0, 0.8, -0.8] + rng.standard_normal(200)
    model = StabilitySelection(eps=0.3, n_pairs=20, random_state=0)
    assert np.flatnonzero(model.fit(X, y).get_support()).tolist() == [0, 1, 2, 3]
    again = StabilitySelection(eps=0.3, n_pairs=20, random_state=0, n_jobs=1).fit(X, y)
    assert np.array_equal(model.probabilities_, again.probabilities_)
    pipe = make_pipeline(model, sw.Lasso(0.01)).fit(X, y)
    assert pipe[-1].coef_.shape == (4,) and pipe.score(X, y) > 0.6


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = StabilitySelection("logistic", n_pairs=5, l1s=5).fit(scale(X), y)
    assert model.probabilities_.shape == (4, 5) and model.scores_[2:].min() == 1.0


def test_a_plot_of_the_probabilities():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = load_iris(return_X_y=True, as_frame=True)
    ax = StabilitySelection(n_pairs=3, l1s=5, eps=1e-3).fit(X, y).plot(top=2)
    labels = ax.get_legend_handles_labels()[1]
    assert len(labels) == 3 and labels[-1] == "threshold" and set(labels[:2]) <= set(X.columns)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": 0.5}, "threshold must be above 1/2"), ({"n_pairs": 0}, "n_pairs"), ({"l2": -1.0}, "l2"),
        ({"complementary": "no"}, "complementary must be True or False"), ({"l1s": []}, "l1s"),
        ({"loss": "softmax"}, "loss"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(options, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises((ValueError, TypeError), match=words):
        StabilitySelection(**options).fit(X, y)

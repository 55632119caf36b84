"""Metric learners: what they minimise, what they are worth, and how they behave among scikit-learn's estimators."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

import southwell as sw
from metrics import planted, quietly
from signals import signal_after
from southwell.metric import LargeMarginNearestNeighbor, MultiTaskLargeMarginNearestNeighbor, _neighbours
from southwell.metric._fista import FISTA

BOTH = [LargeMarginNearestNeighbor, MultiTaskLargeMarginNearestNeighbor]


def several(tasks=3, **options):
    """Tasks whose loud directions differ: points, labels, tasks."""
    parts = [planted(seed, **options) for seed in range(tasks)]
    X = np.concatenate([np.roll(own, t, axis=1) for t, (own, _) in enumerate(parts)])
    y = np.concatenate([labels + 10 * t for t, (_, labels) in enumerate(parts)])
    return X, y, np.repeat(np.array(["a", "b", "c"])[:tasks], len(parts[0][1]))


def metric_of(model):
    return model.metric_ if hasattr(model, "metric_") else model.metrics_[0]


@parametrize_with_checks([kind(tol=1e-3) for kind in BOTH])
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


# What is minimised


def objective(X, y, tasks, shared, own, l2, task_l2, k, impostors):
    """Eq. (33) by its definition, from all distances."""
    pull, push, n = 0.0, 0.0, 0
    for t, name in enumerate(np.unique(tasks)):
        Z, labels = X[tasks == name], y[tasks == name]
        M = shared + own[t]
        near = pairwise_distances(Z)
        for u in range(len(Z)):
            same = np.flatnonzero((labels == labels[u]) & (np.arange(len(Z)) != u))
            others = np.flatnonzero(labels != labels[u])
            targets = same[np.argsort(near[u, same])[:k]]
            for v in targets:
                pull += (Z[u] - Z[v]) @ M @ (Z[u] - Z[v])
                for w in others[np.argsort(near[u, others])[:impostors]]:
                    z = (Z[u] - Z[w]) @ M @ (Z[u] - Z[w]) - (Z[u] - Z[v]) @ M @ (Z[u] - Z[v])
                    push += 0.0 if z >= 1 else (1 - z) ** 2 / 2 if z >= 0 else 0.5 - z
                    n += 1
    held = l2 / 2 * np.sum((shared - np.eye(X.shape[1])) ** 2) + task_l2 / 2 * sum(np.sum(part**2) for part in own)
    return held + (pull + push) / n, n


def test_the_objective_is_that_of_the_paper():
    X, y, tasks = several(points=30)
    model = MultiTaskLargeMarginNearestNeighbor(2, n_impostors=3, l2=0.03, task_l2=0.2, scale=1.0, tol=1e-8).fit(
        X, y, tasks
    )
    shared, own = model.shared_metric_, model.result_.x[1:]
    value, n = objective(X, y, tasks, shared, own, 0.03, 0.2, 2, 3)
    assert model.result_.primal == pytest.approx(value, rel=1e-10) and model.n_triplets_ == n
    np.testing.assert_allclose(model.metrics_, shared + own)
    rng = np.random.default_rng(0)
    for _ in range(20):  # no positive semi-definite change makes it better
        step = 0.05 * rng.normal(size=(4, 6, 1)) * rng.normal(size=(4, 1, 6))
        other = np.concatenate([shared[None], own]) + step @ step.swapaxes(1, 2)
        assert objective(X, y, tasks, other[0], other[1:], 0.03, 0.2, 2, 3)[0] > value


@pytest.mark.parametrize("method", ["fista", "dual_fista", "dspdc", "spdc", "sdca"])
def test_every_method_learns_the_same_metrics(method):
    X, y, tasks = several(points=30)
    best = MultiTaskLargeMarginNearestNeighbor(n_impostors=2, tol=1e-7, l2=0.1, task_l2=0.5).fit(X, y, tasks)
    model = MultiTaskLargeMarginNearestNeighbor(n_impostors=2, tol=1e-4, l2=0.1, task_l2=0.5, method=method)
    model.fit(X, y, tasks)
    assert model.status_ and model.gap_ <= 1e-4 and model.result_.primal <= best.result_.primal * (1 + 1e-3)
    np.testing.assert_allclose(model.metrics_, best.metrics_, atol=0.05)


@pytest.mark.parametrize("tasks", [None, "one"])
def test_one_task_is_the_single_learner(tasks):
    X, y = planted()
    one = LargeMarginNearestNeighbor(tol=1e-8).fit(X, y)
    given = None if tasks is None else np.full(len(y), tasks)
    many = MultiTaskLargeMarginNearestNeighbor(tol=1e-8).fit(X, y, given)
    np.testing.assert_array_equal(many.metrics_, one.metric_[None])
    np.testing.assert_array_equal(many.components_[0], one.components_)
    np.testing.assert_array_equal(many.predict(X), one.predict(X))
    np.testing.assert_array_equal(many.transform(X), one.transform(X))
    assert many.tasks_.tolist() == ([0] if tasks is None else ["one"]) and many.result_.x.shape == (1, 6, 6)


def test_the_order_of_points_does_not_matter():
    X, y, tasks = several(points=60)
    order = np.random.default_rng(0).permutation(len(y))
    one = MultiTaskLargeMarginNearestNeighbor(tol=1e-9).fit(X, y, tasks)
    other = MultiTaskLargeMarginNearestNeighbor(tol=1e-9).fit(X[order], y[order], tasks[order])
    np.testing.assert_allclose(one.metrics_, other.metrics_, atol=1e-4)
    np.testing.assert_array_equal(one.predict(X, tasks), other.predict(X, tasks))


def test_the_units_of_the_points_do_not_matter():
    X, y = planted()
    one, other = (
        LargeMarginNearestNeighbor(tol=1e-9).fit(X, y),
        LargeMarginNearestNeighbor(tol=1e-9).fit(1000 * X + 5, y),
    )
    np.testing.assert_allclose(other.metric_ * 1e6, one.metric_, rtol=1e-4, atol=1e-6)
    assert other.scale_ == pytest.approx(1000 * one.scale_)
    scaled = LargeMarginNearestNeighbor(tol=1e-9, scale=1.0).fit(X / one.scale_, y)
    np.testing.assert_allclose(scaled.metric_ / one.scale_**2, one.metric_, rtol=1e-4, atol=1e-6)


# What it is worth


def test_neighbours_vote_better_under_the_learned_metric():
    X, y = planted(points=300)
    plain = KNeighborsClassifier(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    model = LargeMarginNearestNeighbor(tol=1e-4).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > plain + 0.1
    loud, quiet = model.metric_[2:, 2:], model.metric_[:2, :2]
    assert np.trace(loud) / 4 < np.trace(quiet) / 2, "the directions that tell nothing count less"


def test_every_task_gets_better():
    X, y, tasks = several(points=200)
    model = MultiTaskLargeMarginNearestNeighbor(tol=1e-4).fit(X[::2], y[::2], tasks[::2])
    for name in "abc":
        own = np.flatnonzero(tasks == name)
        train, test = own[::2], own[1::2]
        plain = KNeighborsClassifier(3).fit(X[train], y[train]).score(X[test], y[test])
        assert model.score(X[test], y[test], tasks=tasks[test]) > plain


def test_triplets_found_again_are_those_of_the_learned_metric():
    X, y = planted()
    once, again = (LargeMarginNearestNeighbor(tol=1e-6, refresh=r).fit(X, y) for r in (0, 2))
    assert np.abs(once.metric_ - again.metric_).max() > 1e-3 and again.n_iter_ > once.n_iter_
    assert again.status_ and again.gap_ <= 1e-6


# What a model tells


@pytest.mark.parametrize("kind", BOTH)
def test_components_and_distances_are_those_of_the_metric(kind):
    X, y = planted()
    model = kind(tol=1e-3).fit(X, y)
    L = model.components_ if kind is LargeMarginNearestNeighbor else model.components_[0]
    M = metric_of(model)
    np.testing.assert_allclose(L.T @ L, M, atol=1e-12)
    moved, difference = model.transform(X[:2]), X[0] - X[1]
    assert model.get_metric()(X[0], X[1]) == pytest.approx(np.sqrt(difference @ M @ difference))
    assert np.linalg.norm(moved[0] - moved[1]) == pytest.approx(np.sqrt(difference @ M @ difference))
    votes = model.predict_proba(X)
    np.testing.assert_allclose(votes.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[votes.argmax(axis=1)], model.predict(X))
    voters = KNeighborsClassifier(3).fit(model.transform(X), y)
    np.testing.assert_array_equal(voters.predict(model.transform(X)), model.predict(X))
    assert model.status_ is sw.Status.CONVERGED and model.n_iter_ >= 1 and model.result_.problem is None


def test_tasks_vote_among_themselves():
    X, y, tasks = several(points=60)
    model = MultiTaskLargeMarginNearestNeighbor(tol=1e-2)
    moved = model.fit_transform(X, y, tasks)
    np.testing.assert_array_equal(moved, model.transform(X, tasks))
    assert (model.predict(X, tasks) // 10 == np.searchsorted(model.tasks_, tasks)).all()
    only = tasks == "b"
    np.testing.assert_array_equal(model.predict(X[only], tasks[only]), model.predict(X, tasks)[only])
    M, difference = model.metrics_[1], X[0] - X[1]
    assert model.get_metric("b")(X[0], X[1]) == pytest.approx(np.sqrt(difference @ M @ difference))


def test_a_pipeline_a_search_a_copy_and_a_pickle():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300, 2::3], y[:300]
    model = make_pipeline(StandardScaler(), LargeMarginNearestNeighbor(tol=1e-2))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.85
    search = GridSearchCV(LargeMarginNearestNeighbor(tol=1e-1, n_impostors=2), {"l2": [1.0, 10.0]}, cv=2).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert clone(again).get_params() == again.get_params()


def test_threads_and_seeds_do_not_change_a_deterministic_fit():
    X, y, tasks = several(points=60)
    models = [MultiTaskLargeMarginNearestNeighbor(tol=1e-4, n_jobs=k).fit(X, y, tasks) for k in (1, 2, -1)]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].metrics_, other.metrics_)
    drawn = [
        MultiTaskLargeMarginNearestNeighbor(tol=1e-1, method="dspdc", random_state=seed).fit(X, y, tasks).metrics_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()


@pytest.mark.parametrize("given", [{"dtype": "float32"}, {}])
def test_float32_points_stay_float32(given):
    X, y = planted()
    wide = LargeMarginNearestNeighbor(tol=1e-4).fit(X, y)
    points = X if given else X.astype(np.float32)
    model = LargeMarginNearestNeighbor(tol=1e-4, **given).fit(points, y)
    assert model.status_ and model.transform(points).dtype == np.float32
    assert model.result_.primal == pytest.approx(wide.result_.primal, rel=1e-3)


def test_limits_and_ctrl_c():
    X, y = planted()
    with pytest.warns(sw.ConvergenceWarning, match="raise max_iter or max_seconds") as caught:
        model = LargeMarginNearestNeighbor(tol=1e-12, max_iter=2).fit(X, y)
    assert model.status_ is sw.Status.MAX_EPOCHS and caught[0].filename == __file__
    model = quietly(LargeMarginNearestNeighbor(tol=0.0, max_seconds=0.1, max_iter=10**9, refresh=5).fit, X, y)
    assert model.status_ is sw.Status.MAX_SECONDS
    with signal_after(0.3), pytest.raises(KeyboardInterrupt):
        LargeMarginNearestNeighbor(tol=0.0, max_iter=10**9, max_seconds=300, method="sdca").fit(X, y)


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    X, y = planted()
    model = LargeMarginNearestNeighbor(tol=1e-2).fit(pandas.DataFrame(X, columns=list("abcdef")), y)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert len(model.get_feature_names_out()) == model.components_.shape[0]


def test_scores_are_those_of_scikit_learn():
    X, y, tasks = several(points=30)
    model = MultiTaskLargeMarginNearestNeighbor(tol=1e-2).fit(X, y, tasks)
    weights = np.arange(len(y)) % 4
    want = accuracy_score(y, model.predict(X, tasks), sample_weight=weights)
    assert model.score(X, y, weights, tasks=tasks) == want
    assert model.score(X, y[:, None], tasks=tasks) == model.score(X, y, tasks=tasks)
    with pytest.raises(ValueError, match="inconsistent"):
        model.score(X, y[:1], tasks=tasks)


@pytest.mark.parametrize("kind", BOTH)
def test_more_impostors_than_points_are_all_there_are(kind):
    X, y = planted(points=30)
    model = kind(n_impostors=10**12, tol=1e-2).fit(X, y)
    assert model.n_triplets_ == 30 * 3 * 20


@pytest.mark.parametrize("units", [1e-140, 1e-30, 1e30, 1e140])
def test_units_may_be_extreme(units):
    X, y = planted(points=60)
    one, other = (LargeMarginNearestNeighbor(tol=1e-8, refresh=1).fit(own, y) for own in (X, units * X))
    assert other.scale_ == pytest.approx(units * one.scale_)
    np.testing.assert_allclose(other.metric_ * units**2, one.metric_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(other.predict(units * X), one.predict(X))


def test_ties_are_broken_alike_whatever_the_threads(monkeypatch):
    """OpenMP's threads race for points at the same distance: a search has one of them, however large it is."""
    seen = []

    def found(*given):
        seen.append({pool["user_api"]: pool["num_threads"] for pool in threadpool_info()})
        return search(*given)

    search = _neighbours._found
    monkeypatch.setattr(_neighbours, "_found", found)
    points = np.random.default_rng(0).integers(0, 3, (5000, 3)).astype(float)
    with threadpool_limits(2):
        _neighbours.triplets(points, np.arange(5000) % 2, np.array([0, 5000]), [lambda Z: Z], 2, 2, None)
    assert set(seen[0].values()) == {1}


def test_names_of_features_of_many_tasks():
    X, y, tasks = several(points=30)
    model = MultiTaskLargeMarginNearestNeighbor(tol=1e-1).fit(X, y, tasks)
    names = model.get_feature_names_out()
    assert len(names) == model.transform(X, tasks).shape[1] and names[0] == "multitasklargemarginnearestneighbor0"


def test_advice_for_what_diverges_is_not_more_time(monkeypatch):
    X, y = planted(points=30)
    monkeypatch.setattr(FISTA, "step", lambda self: exec("raise ZeroDivisionError"))
    with pytest.warns(sw.ConvergenceWarning, match="look for outliers") as caught:
        model = LargeMarginNearestNeighbor(method="fista").fit(X, y)
    assert model.status_ is sw.Status.DIVERGED and "max_iter" not in str(caught[0].message)

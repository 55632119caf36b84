"""Estimators among others: callbacks, data frames, threads, forks, Ctrl-C, many classes."""

import multiprocessing
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import southwell as sw
from estimator_data import quick, suitable
from signals import signal_after
from southwell import estimators

KINDS = list(estimators.ALL.values())


def data_for(model):
    if hasattr(model, "decision_function"):
        X, y = load_breast_cancer(return_X_y=True)
        return scale(X), y
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    return X * 10, suitable(type(model), y)


# Callbacks


class Diary:
    """A scikit-learn callback that writes down what it is told."""

    def __init__(self, enough: int = 10**9):
        self.begun, self.ended, self.models, self.enough, self.set_up, self.torn_down = [], [], [], enough, 0, 0

    def setup(self, estimator, context):
        self.set_up += 1

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context)

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.ended.append(context)
        if context.task_name == "round" and fitted_estimator is not None:
            self.models.append(fitted_estimator.predict(X))
        return context.task_name == "round" and context.task_id + 1 >= self.enough


@pytest.fixture
def callbacks():
    return pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


@pytest.mark.parametrize("kind", KINDS)
def test_callbacks_are_told_of_every_task(callbacks, kind):
    diary = Diary()
    model = quick(kind).set_callbacks(diary)
    X, y = data_for(model)
    model.fit(X, y)
    assert diary.set_up == diary.torn_down == 1
    assert {id(c) for c in diary.begun} == {id(c) for c in diary.ended} and len(diary.begun) == len(diary.ended)
    rounds = [c for c in diary.ended if c.task_name == "round"]
    assert len(rounds) >= 1 and diary.begun[0].task_name == "fit" and diary.ended[-1].task_name == "fit"
    if not model._chooses:
        assert len(diary.models) == len(rounds) and np.array_equal(diary.models[-1], model.predict(X))
    else:
        folds = 3 if "cv" in kind().get_params() else 1  # criteria have one path
        assert sum(c.task_name == "path" for c in diary.ended) == folds
    clone(model).fit(X, y)


def test_a_callback_can_end_a_fit(callbacks):
    X, y = load_breast_cancer(return_X_y=True)
    model = sw.LogisticRegression("l1", C=10.0).set_callbacks(Diary(enough=2)).fit(scale(X), y)
    assert model.status_ is sw.Status.STOPPED
    robust = sw.HuberRegressor(alpha=1.0).set_callbacks(Diary(enough=2)).fit(*load_diabetes(return_X_y=True))
    assert robust.status_ is sw.Status.STOPPED and robust.n_iter_ == 2
    digits = sw.LinearSVC(C=0.01).set_callbacks(diary := Diary()).fit(*load_digits(return_X_y=True))
    assert sum(c.task_name == "problem" for c in diary.ended) == 10 and digits.coef_.shape == (10, 64)


def test_scikit_learns_own_callbacks(callbacks, capsys):
    X, y = load_breast_cancer(return_X_y=True)
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    model = sw.LogisticRegression().set_callbacks(monitor).fit(scale(X), y)
    logs = monitor.get_logs()
    log = logs[0] if isinstance(logs, list) else logs
    assert log.data[-1]["accuracy"] == pytest.approx(model.score(scale(X), y))
    pipe = make_pipeline(StandardScaler(), sw.LogisticRegression())
    search = GridSearchCV(pipe, {"logisticregression__C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(Diary()).fit(X, y)


# Data frames


def test_data_frames_and_names():
    pandas = pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = sw.Lasso(alpha=0.5).fit(X, y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    assert model.predict(X).shape == (442,)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])
    pipe = make_pipeline(StandardScaler(), sw.Lasso(alpha=0.5)).set_output(transform="pandas").fit(X, y)
    assert isinstance(pipe[0].transform(X), pandas.DataFrame)
    assert pipe[-1].feature_names_in_.tolist() == X.columns.tolist()


# Threads and processes


def test_eight_threads_fit_at_once():
    models = [quick(kind) for kind in KINDS]
    alone = [clone(model).fit(*data_for(model)).coef_ for model in models]
    before = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            together = list(pool.map(lambda model: clone(model).fit(*data_for(model)).coef_, models))
            assert all(np.array_equal(*pair) for pair in zip(alone, together, strict=True))
    assert warnings.filters == before  # which belong to all threads


def _child(queue):
    model = sw.LassoCV(alphas=10, n_jobs=2)
    queue.put(model.fit(*data_for(model)).coef_)


def test_a_fork_after_a_fit():
    model = sw.LassoCV(alphas=10, n_jobs=2)
    coef = model.fit(*data_for(model)).coef_
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking while other threads live
        child = context.Process(target=_child, args=(queue,))
        child.start()
    assert np.array_equal(queue.get(timeout=20), coef)
    child.join(20)
    assert child.exitcode == 0


def hard(samples: int = 3000, features: int = 1500):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((samples, features)) + 3 * rng.standard_normal((samples, 1))
    return X, np.where(X @ rng.standard_normal(features) + 20 * rng.standard_normal(samples) > 0, 1, 0)


@pytest.mark.parametrize(
    "model",
    [
        sw.LogisticRegression("l1", C=1e4, tol=0.0, max_iter=10**8),
        sw.LinearSVC(loss="hinge", C=100.0, tol=0.0, max_iter=10**8),
        sw.SparseLinearClassifierCV("smooth_hinge", l1s=100, eps=1e-4, tol=1e-14, max_iter=10**8),
        sw.LogisticRegressionCV(penalty="l1", tol=1e-14, max_iter=10**8),
        sw.HuberRegressor(tol=0.0, max_iter=10**8),
        sw.ElasticNetCV(l1_ratio=[0.1, 0.5, 0.9], eps=1e-6, alphas=1000, tol=1e-14, max_iter=10**8),
    ],
    ids=lambda model: type(model).__name__,
)
def test_ctrl_c_ends_a_fit(model):
    X, y = hard()
    with signal_after(0.2), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


# Many classes


def test_many_sparse_models_take_little_memory():
    """A dense coefficient matrix alone would be 80 MB."""
    rng = np.random.default_rng(0)
    classes, features = 100, 100_000
    y = np.arange(2 * classes) % classes
    columns = np.column_stack([y, rng.integers(classes, features, (2 * classes, 5))])
    X = sp.csr_array((np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, 6)), (y.size, features))
    tracemalloc.start()
    model = sw.SparseLinearClassifier("squared_hinge", l1=1e-4, sparse_coef=True, tol=1e-3).fit(X, y)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert sp.issparse(model.coef_) and model.coef_.shape == (classes, features) and model.score(X, y) == 1.0
    with pytest.raises(AttributeError, match="are not kept"):
        _ = model.dual_coef_
    assert model.gap_ <= 1e-3 and model.dual_gap_.shape == (classes,)
    again = model.set_params(warm_start=True).fit(X, y)
    assert again.n_iter_ <= 1


def test_sparse_coefficients_are_the_dense_ones():
    X, y = load_digits(return_X_y=True)
    dense = sw.LinearSVC("l1", C=0.01).fit(X / 16, y)
    sparse = sw.LinearSVC("l1", C=0.01, sparse_coef=True).fit(sp.csr_array(X / 16), y)
    assert np.allclose(sparse.coef_.toarray(), dense.coef_, atol=1e-3)
    assert np.array_equal(sparse.predict(X / 16), sparse.densify().predict(X / 16))


def test_predictions_come_in_batches(monkeypatch):
    X, y = load_digits(return_X_y=True)
    model = sw.LinearSVC(C=0.01).fit(X, y)
    whole = model.predict(X)
    monkeypatch.setattr("southwell.estimators._classifier.AT_ONCE", 1000)
    for form in (np.asarray, sp.csr_array, sp.csc_array, sp.coo_array):
        assert np.array_equal(model.predict(form(X)), whole)

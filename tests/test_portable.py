"""Models leave southwell: as scikit-learn's, as tables, in pipelines of joblib and skops; DataFrames of polars."""

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import southwell as sw
from estimator_data import CLASSES, CLASSIFIERS, classes, numbers, quick, suitable

LINEAR = [kind for kind in CLASSES if hasattr(kind, "to_sklearn")]
IRIS, KIND = load_iris(return_X_y=True, as_frame=True)
SPECIES = load_iris().target_names[KIND]


def agree(model, X, **tolerance):
    """The same predictions from scikit-learn's own classes."""
    made = model.to_sklearn()
    assert type(made).__module__.startswith("sklearn.")
    np.testing.assert_array_equal(made.predict(X), model.predict(X)) if hasattr(model, "classes_") else None
    for name in ("predict_proba", "decision_function", "predict"):
        if hasattr(model, name) and not (name == "predict" and hasattr(model, "classes_")):
            limits = {"rtol": 1e-12, "atol": 1e-14} | tolerance
            np.testing.assert_allclose(getattr(made, name)(X), getattr(model, name)(X), **limits)
    assert hasattr(made, "predict_proba") == hasattr(model, "predict_proba")
    return made


def test_all_linear_estimators_are_tried():
    assert len(LINEAR) >= 20 and {sw.Lasso, sw.LogisticRegressionCV, sw.GroupLasso, sw.PoissonRegressor} <= {*LINEAR}


@pytest.mark.parametrize("kind", LINEAR)
def test_every_estimator_becomes_one_of_scikit_learn(kind):
    X, y = classes() if kind in CLASSIFIERS else numbers()
    agree(quick(kind).fit(X, suitable(kind, y)), X)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_several_classes(kind):
    made = agree(quick(kind).fit(IRIS, SPECIES), IRIS)
    assert made.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert made.feature_names_in_.tolist() == list(IRIS.columns)


@pytest.mark.parametrize("options", [{"multi_class": "ovr"}, {"multi_class": "multinomial"}])
def test_both_ways_of_several_classes_keep_their_probabilities(options):
    model = sw.LogisticRegression(C=0.1, **options).fit(IRIS, SPECIES)
    made = agree(model, IRIS)
    assert type(made).__name__ == ("OneVsRestClassifier" if options["multi_class"] == "ovr" else "LogisticRegression")


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_several_labels_and_sparse_coefficients(loss):
    labels = np.column_stack([KIND == 0, KIND != 1, KIND == 2]).astype(int)
    agree(sw.SparseLinearClassifier(loss, l1=0.01).fit(IRIS, labels), IRIS)
    agree(sw.SparseLinearClassifier(loss, l1=0.01, sparse_coef=True).fit(sp.csr_array(IRIS), KIND), sp.csr_array(IRIS))


def test_single_precision_stays():
    X, y = numbers()
    model = sw.Lasso(alpha=0.01).fit(X.astype(np.float32), y.astype(np.float32))
    assert agree(model, X.astype(np.float32), rtol=1e-5).predict(X.astype(np.float32)).dtype == np.float32


def test_the_other_model_needs_no_southwell(tmp_path):
    model = make_pipeline(StandardScaler(), sw.LogisticRegression()).fit(IRIS, SPECIES)
    model.steps[-1] = ("model", model[-1].to_sklearn())
    (tmp_path / "model.pickle").write_bytes(pickle.dumps((model, IRIS.to_numpy())))
    code = (
        "import sys, pickle; sys.modules['southwell'] = None; "
        f"model, X = pickle.load(open({str(tmp_path / 'model.pickle')!r}, 'rb')); print(model.predict(X)[-1])"
    )
    told = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "virginica"


def test_onnx_takes_it():
    convert = pytest.importorskip("skl2onnx").to_onnx
    runtime = pytest.importorskip("onnxruntime")
    X = IRIS.to_numpy(np.float32)
    model = make_pipeline(StandardScaler(), sw.LogisticRegression(penalty="l1").fit(X, KIND).to_sklearn())
    model[0].fit(X)
    session = runtime.InferenceSession(convert(model, X[:1], options={"zipmap": False}).SerializeToString())
    np.testing.assert_array_equal(session.run(None, {"X": X})[0], model.predict(X))


def test_models_that_are_not_fitted_are_refused():
    for ask in ("to_sklearn", "to_frame"):
        with pytest.raises(Exception, match="not fitted"):
            getattr(sw.Lasso(), ask)()


def test_tables_of_coefficients():
    model = sw.LogisticRegression().fit(IRIS, SPECIES)
    table = model.to_frame()
    assert [*table.columns] == [*model.classes_] and [*table.index] == [*IRIS.columns, "intercept"]
    np.testing.assert_array_equal(table.to_numpy(), np.column_stack([model.coef_, model.intercept_]).T)
    X, y = numbers()
    assert sw.Lasso(alpha=0.1).fit(X, y).to_frame().index[3] == "feature 3"
    tasks = sw.MultiTaskLasso(alpha=0.1).fit(X, np.column_stack([y, -y]))
    assert [*tasks.to_frame().columns] == ["target 0", "target 1"]
    sparse = sw.LinearSVC(sparse_coef=True).fit(IRIS, SPECIES)
    np.testing.assert_array_equal(sparse.to_frame()["setosa"][:-1], sparse.coef_.toarray()[0])


def pipelines():
    columns = make_column_transformer((StandardScaler(), [0, 2]), ("drop", [1]), remainder="passthrough")
    for last in (sw.LogisticRegression("l1"), sw.LinearSVC(), sw.LogisticRegressionCV(Cs=3, cv=3)):
        yield make_pipeline(columns, last).fit(IRIS, SPECIES)


def same(one, other):
    assert (one.predict(IRIS) == other.predict(IRIS)).all() and one[-1].status_ is other[-1].status_
    assert one[-1].gap_ == other[-1].gap_ and one[-1].status_ is other[-1].status_


def test_whole_pipelines_are_saved_by_joblib(tmp_path):
    for pipe in pipelines():
        joblib.dump(pipe, tmp_path / "pipe.joblib")
        same(pipe, joblib.load(tmp_path / "pipe.joblib"))


def test_whole_pipelines_are_saved_by_skops(tmp_path):
    io = pytest.importorskip("skops.io")
    for pipe in pipelines():
        io.dump(pipe, tmp_path / "pipe.skops")
        unknown = io.get_untrusted_types(file=tmp_path / "pipe.skops")
        assert unknown and all(name.startswith("southwell.") for name in unknown)
        same(pipe, io.load(tmp_path / "pipe.skops", trusted=unknown))


def test_frames_of_polars_in_and_names_out():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: IRIS[name].to_numpy() for name in IRIS})
    labels = polars.Series("species", SPECIES)
    model = sw.LogisticRegression().fit(frame, labels)
    assert model.feature_names_in_.tolist() == frame.columns and (model.predict(frame) == SPECIES).mean() > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    features = sw.features.RandomFourier(5).set_output(transform="polars").fit_transform(frame)
    assert isinstance(features, polars.DataFrame) and features.columns[0] == "randomfourier0"
    r = sw.solve(frame, labels, loss="softmax", l2=0.1)
    assert r.feature_names == frame.columns and (r.predict(frame) == SPECIES).mean() > 0.8
    path = sw.path(frame, labels, loss="softmax", n_points=3)
    assert path.feature_names == frame.columns
    with pytest.raises(ValueError, match="column 0 is 'petal width"):
        r.predict(frame[frame.columns[::-1]])


def test_names_of_learned_directions():
    metric = sw.metric.LargeMarginNearestNeighbor().set_output(transform="pandas").fit(IRIS, KIND)
    assert list(metric.transform(IRIS).columns) == list(metric.get_feature_names_out())


def test_a_model_file_is_left_as_it_is():
    path = Path(tempfile.mkdtemp()) / "model.southwell"
    model = sw.LogisticRegression().fit(IRIS, SPECIES)
    model.save(path)
    assert (sw.load(path).to_sklearn().predict(IRIS) == model.predict(IRIS)).all()

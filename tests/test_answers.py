"""What results say: predictions, names, tables, representations; labels of any kind."""

import html.parser
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import southwell as sw

X, Y = load_diabetes(return_X_y=True, as_frame=True)
CANCER, MALIGN = load_breast_cancer(return_X_y=True, as_frame=True)
IRIS, KIND = load_iris(return_X_y=True, as_frame=True)
SPECIES = load_iris().target_names[KIND]


def fitted(**options):
    return sw.solve(X, Y, **{"l1": 0.5, "intercept": True, **options})


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (lambda y: y, [0, 1]), (lambda y: 2 * y - 1, [-1, 1]), (lambda y: y == 1, [False, True]),
        (lambda y: np.where(y == 1, "benign", "malign"), ["benign", "malign"]),
        (lambda y: np.where(y == 1, 7.0, 3.0).astype(object), [3.0, 7.0]),
        (lambda y: y.astype("category"), [0, 1]), (lambda y: y.to_frame(), [0, 1]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_two_labels_of_any_kind(loss, labels, classes):
    given = labels(MALIGN)
    signs = np.where(np.asarray(given).ravel() == classes[1], 1.0, -1.0)
    A = CANCER / CANCER.abs().max()
    r, want = (sw.solve(A, b, loss=loss, l2=0.01, intercept=True) for b in (given, signs))
    np.testing.assert_array_equal(r.x, want.x)
    assert r.classes.tolist() == classes and r.classes.dtype == np.asarray(given).dtype
    margins = A.to_numpy() @ r.x + r.intercept
    np.testing.assert_allclose(r.decision_function(A), margins)
    np.testing.assert_array_equal(r.predict(A), np.array(classes)[(margins > 0).astype(int)])
    assert (r.predict(A) == np.asarray(given).ravel()).mean() > 0.9


@pytest.mark.parametrize("loss", ["softmax", "multiclass_hinge"])
def test_labels_of_many_classes(loss):
    r, want = (sw.solve(IRIS, b, loss=loss, l2=0.01, intercept=True) for b in (SPECIES, KIND))
    np.testing.assert_array_equal(r.x, want.x)
    margins = IRIS.to_numpy() @ r.x + r.intercept
    np.testing.assert_allclose(r.decision_function(IRIS), margins)
    np.testing.assert_array_equal(r.predict(IRIS), load_iris().target_names[margins.argmax(axis=1)])
    assert (want.predict(IRIS) == KIND).mean() > 0.9
    many = sw.solve_many(IRIS, SPECIES, loss="logistic", l2=0.01, intercept=True)
    one = np.column_stack([one.decision_function(IRIS) for one in many])
    np.testing.assert_allclose(many.decision_function(IRIS), one)
    np.testing.assert_array_equal(many.predict(IRIS), load_iris().target_names[one.argmax(axis=1)])


def test_several_labels_at_once():
    both = np.column_stack([KIND == 0, KIND == 2]).astype(int)
    table = sw.solve(IRIS, both, loss="logistic", l2=0.01, intercept=True)
    many = sw.solve_many(IRIS, both, loss="logistic", l2=0.01, intercept=True)
    assert table.classes.tolist() == [0, 1] and table.predict(IRIS).shape == (150, 2)
    np.testing.assert_array_equal(table.predict(IRIS), many.predict(IRIS))
    assert (many.predict(IRIS) == both).mean() > 0.9


def test_labels_reach_certificates_and_proofs(tmp_path):
    A = CANCER / CANCER.abs().max()
    r = sw.solve(A, np.where(MALIGN == 1, "benign", "malign"), loss="logistic", l2=0.01)
    assert r.problem.certify(r.x).primal == pytest.approx(r.primal, rel=1e-12) and r.prove().gap < 1e-6
    r.save_proof(tmp_path / "labels.proof")
    assert sw.check.verify(tmp_path / "labels.proof", A.to_numpy(), r.problem.targets).verified


def test_numbers_and_counts_are_predicted():
    r = fitted()
    np.testing.assert_allclose(r.predict(X), X.to_numpy() @ r.x + r.intercept)
    counts = sw.solve(X, np.floor(Y / 20), loss="poisson", l2=0.01, intercept=True)
    np.testing.assert_allclose(counts.predict(X), np.exp(counts.decision_function(X)))
    tasks = sw.solve(X, np.column_stack([Y, -Y]), l2=0.1, intercept=True)
    np.testing.assert_allclose(tasks.predict(X), X.to_numpy() @ tasks.x + tasks.intercept)


@pytest.mark.parametrize("intercept", [False, True])
def test_new_data_are_centred_and_multiplied_as_the_old(intercept):
    A, new = sp.random_array((60, 8), density=0.5, rng=np.random.default_rng(0)), np.ones((3, 8))
    b = np.arange(60.0)
    r = sw.solve(sw.Centred(sp.csr_array(A)), b, l2=0.1, intercept=intercept)
    np.testing.assert_allclose(r.predict(new), (new - A.toarray().mean(axis=0)) @ r.x + r.intercept)
    np.testing.assert_allclose(r.predict(sp.csc_array(new)), r.predict(new))
    U, V = np.random.default_rng(1).normal(size=(60, 3)), np.random.default_rng(2).normal(size=(3, 8))
    r = sw.solve(sw.Factorised(U, V), b, l2=0.1, intercept=intercept)
    np.testing.assert_allclose(r.predict(sw.Factorised(U[:5], V)), r.predict(U[:5] @ V))


def test_points_of_a_path_are_results():
    path = sw.path(X, Y, intercept=True, n_points=6, tol=1e-10)
    assert len([*path]) == 6 and path.feature_names == list(X.columns)
    for k, point in enumerate(path):
        again = sw.solve(X, Y, l1=path.l1s[k], intercept=True, tol=1e-10)
        np.testing.assert_allclose(point.x, again.x, atol=1e-4 * abs(again.x).max() + 1e-12)
        assert 0 <= point.relative_gap <= 1e-10 and point.scale == pytest.approx(again.scale)
        assert point.gap == pytest.approx(path.gaps[k] * path.scale, abs=1e-12) and point.nonzeros == path.nonzeros[k]
        np.testing.assert_allclose(path.predict(X)[:, k], point.predict(X))
    assert (path[-1].x == path[5].x).all() and path[np.int64(2)].nonzeros == path.nonzeros[2]
    warm = sw.solve(X, Y, l1=path.l1s[3], intercept=True, warm_start=path[3])
    assert warm.status
    for wrong, error in ((6, IndexError), (-7, IndexError), (slice(2), TypeError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(error, match="got"):
            path[wrong]


def test_a_path_takes_what_solve_takes():
    for options in ({"loss": "softmax"}, {"loss": "softmax", "penalty": sw.penalties.Groups(1.0)}):
        path = sw.path(IRIS, SPECIES, n_points=4, intercept=True, **options)
        kind = sw.BlockProblem(IRIS, SPECIES, options["loss"], options.get("penalty"), intercept=True)
        assert (path.x != sw.path(kind, n_points=4).x).nnz == 0
        assert path.predict(IRIS).shape == (150, 4) and path[3].predict(IRIS)[0] == "setosa"
    weights = np.arange(1.0, 443)
    path = sw.path(X, Y, l1s=[0.3, 0.1], l2s=0.2, sample_weight=weights)
    np.testing.assert_allclose(path[1].x, sw.solve(X, Y, l1=0.1, l2=0.2, sample_weight=weights).x, atol=0.1)
    with pytest.raises(TypeError, match="A Problem already holds"):
        sw.path(sw.Problem(X, Y), intercept=True)
    assert sw.lambda_max(IRIS, SPECIES, loss="softmax") == sw.lambda_max(sw.BlockProblem(IRIS, SPECIES, "softmax"))


# Names


class Frame:
    """What a DataFrame of another library looks like."""

    def __init__(self, values, columns):
        self.values, self.columns = values, columns

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


@pytest.mark.parametrize("wrap", [lambda A: A, lambda A: Frame(A.to_numpy(), list(A.columns)), sw.Centred])
def test_names_of_columns_are_kept(wrap):
    r = sw.solve(wrap(X), Y, l1=0.5, intercept=True)
    assert r.feature_names == list(X.columns) == list(r.to_frame().index[:-1])
    with pytest.raises(ValueError, match="column 0 is 's6' instead of 'age'"):
        r.predict(X[X.columns[::-1]])
    assert np.isfinite(r.predict(X.to_numpy())).all()
    assert sw.solve(X.to_numpy(), Y, l1=0.5).feature_names[:2] == ["feature 0", "feature 1"]
    assert sw.solve(X.set_axis(range(10), axis=1), Y, l1=0.5).feature_names[9] == "feature 9"


def test_what_cannot_be_predicted_is_refused():
    with pytest.raises(ValueError, match="A must have 10 columns, one a feature; got 4"):
        fitted().predict(IRIS)
    with pytest.raises(ValueError, match="NaN or infinity"):
        fitted().predict(np.full((2, 10), np.nan))
    with pytest.raises(ValueError, match="belongs to an estimator"):
        sw.Lasso(keep_dual=True).fit(X, Y).result_.predict(X)
    triplets = sw.metric.LargeMarginNearestNeighbor().fit(IRIS, KIND)
    with pytest.raises((TypeError, ValueError), match=r"Only results over features|belongs to an estimator"):
        triplets.result_.predict(IRIS)


# Tables


def test_tables_of_coefficients_and_histories():
    r = fitted()
    table = r.to_frame()
    assert table["coefficient"].tolist() == [*r.x, r.intercept] and table.index[-1] == "intercept"
    assert r.to_frame("history").shape == (r.history["gap"].size, len(r.history))
    assert list(fitted(intercept=False).to_frame().index) == list(X.columns)
    classes = sw.solve(IRIS, SPECIES, loss="softmax", l2=0.1, intercept=True)
    assert list(classes.to_frame().columns) == ["setosa", "versicolor", "virginica"]
    np.testing.assert_array_equal(classes.to_frame().to_numpy(), np.vstack([classes.x, classes.intercept]))
    many = sw.solve_many(IRIS, SPECIES, loss="hinge", l2=0.1, intercept=True)
    np.testing.assert_array_equal(many.to_frame()["virginica"], [*many[2].x, many[2].intercept])
    path = sw.path(X, Y, n_points=5)
    assert path.to_frame()["gap"].tolist() == path.gaps.tolist() and path.to_frame().shape[0] == 5
    rows = path.to_frame("coefficients")
    assert rows.index.name == "l1" and (rows["bmi"] == path.x.toarray()[:, 2]).all()
    tables = sw.path(IRIS, SPECIES, loss="softmax", n_points=3).to_frame("coefficients")
    assert tables.shape == (3, 12) and tables.columns[1] == "sepal length (cm), versicolor"
    for one in (r, path):
        with pytest.raises(ValueError, match="Unknown what 'histroy'"):
            one.to_frame("histroy")


def test_a_summary_is_sorted_and_has_the_certificate():
    r = fitted(l1=0.01)
    text = r.summary(top=4)
    lines = text.partition("coefficients\n")[2].splitlines()
    order = np.argsort(-abs(r.x))[:4]
    assert [line.split()[0] for line in lines[:4]] == [X.columns[j] for j in order]
    assert lines[4].split()[0] == "(intercept)" and f"{r.nonzeros - 4} smaller ones" in lines[5]
    assert f"{10 - r.nonzeros} of 10 features are zero" in lines[6]
    assert f"{r.dual:.9g}" in text and repr(r) in text and "strong convexity" not in text
    ridge = sw.solve(X, Y, l2=0.1, tol=1e-4)
    bound = float(ridge.summary().partition("<= ")[2].split(",")[0])
    assert np.linalg.norm(ridge.x - sw.solve(X, Y, l2=0.1, tol=1e-14).x) <= bound * 1.01


def test_pandas_is_needed_for_tables_only(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    r = sw.solve(X.to_numpy(), Y.to_numpy(), l1=0.5)
    assert r.summary()
    with pytest.raises(ImportError, match="pip install pandas"):
        r.to_frame()


class Cells(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize(
    "made",
    [
        fitted, lambda: sw.path(X, Y, n_points=3), lambda: sw.path(X, Y, n_points=3)[1],
        lambda: sw.solve_many(IRIS, KIND, loss="hinge", l2=0.1),
    ],
)  # fmt: skip
def test_html_says_what_the_text_says(made):
    one = made()
    cells = Cells(one._repr_html_())
    assert not cells.open
    assert "".join(cells.texts).replace(" ", "") == "".join(repr(one).split())


# Keywords


@pytest.mark.parametrize(
    ("function", "given", "meant"),
    [
        (sw.solve, "alpha", "l1=alpha"), (sw.solve, "C", r"1 / \(C \* n_samples\)"),
        (sw.solve, "rule", r"CoordinateDescent\(rule"), (sw.solve, "n_jobs", "n_threads"),
        (sw.solve, "max_iter", "max_epochs"), (sw.solve, "random_state", "seed"), (sw.solve, "toll", "mean 'tol'"),
        (sw.solve, "nonsense", "Known: A, b, callback"), (sw.path, "alpha", "l1s"), (sw.path, "l1", "l1s"),
        (sw.path, "l2", "l2s"), (sw.path, "n_alphas", "n_points"), (sw.solve_many, "groups", "penalty=.*Groups"),
        (sw.solve_many, "fit_intercept", "Give intercept"), (sw.lambda_max, "X", "Give A"),
        (sw.metric.MatrixRisk.solve, "n_jobs", "n_threads"),
        (sw.Lasso, "n_threads", "Give n_jobs"), (sw.LassoCV, "seed", "random_state"),
        (sw.LogisticRegression, "max_epochs", "max_iter"), (sw.Lasso, "l1", "Give alpha"),
        (sw.Ridge, "intercept", "fit_intercept"), (sw.Lasso, "alhpa", "mean 'alpha'"),
        (sw.SparseLinearRegressor, "alpha", "Known: .*l1, l2"),
    ],
)  # fmt: skip
def test_words_of_others_are_answered_with_the_right_one(function, given, meant):
    with pytest.raises(TypeError, match=rf"\(\) has no argument '{given}'\. .*{meant}"):
        function(**{given: 1})


def test_warnings_point_to_the_caller():
    for work in (
        lambda: sw.solve(X, Y, l1=1e-3, tol=0.0, max_epochs=1),
        lambda: sw.path(X, Y, n_points=3, tol=0.0, max_epochs=1, method="fista"),
        lambda: sw.solve_many(X, np.column_stack([Y, Y]), l1=1e-3, tol=0.0, max_epochs=1, method="fista"),
    ):
        with pytest.warns(sw.ConvergenceWarning) as caught:
            work()
        assert {one.filename for one in caught} == {__file__}

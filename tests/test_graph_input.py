"""What users bring to label propagation: too little, labels of all kinds, points, scikit-learn, mistakes."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks

import southwell as sw
from graphs import ENDS, PATH, harmonic, propagate
from southwell.graph import LabelPropagation

# Nothing, little, or too little to decide


def test_a_component_without_labels_stays_undecided():
    W = sp.block_diag([PATH, PATH[:3, :3], [[0.0]]], format="csr")
    y = np.concatenate([ENDS, [-1, -1, -1, -1]])
    with pytest.warns(UserWarning, match=r"4 of 9 nodes .* -1: 5, 6, 7, 8\. Components without a label: 2"):
        model = propagate(W, y, tol=1e-12)
    np.testing.assert_array_equal(model.transduction_[5:], -1)
    np.testing.assert_array_equal(model.label_distributions_[5:], 0.0)
    np.testing.assert_array_equal(model.node_error_bound_[5:], 0.0)
    np.testing.assert_allclose(model.label_distributions_[:5], harmonic(PATH, ENDS), atol=1e-8)
    to_decided, to_undecided, to_both, to_none = np.eye(9)[1], np.eye(9)[5], np.eye(9)[[1, 5]].sum(0), np.zeros(9)
    new = np.array([to_decided, to_undecided, to_both, to_none])
    assert model.predict(new).tolist() == [0, -1, 0, -1]
    np.testing.assert_allclose(model.predict_proba(new), [[0.75, 0.25], [0, 0], [0.75, 0.25], [0, 0]], atol=1e-8)


def test_many_undecided_nodes_are_not_all_listed():
    with pytest.warns(UserWarning, match=r"39 of 40 .*: 1, 2, 3, .* 10 and 29 more\.") as caught:
        LabelPropagation("precomputed").fit(np.zeros((40, 40)), np.where(np.arange(40) == 0, 1, -1))
    assert len(caught) == 1
    assert caught[0].filename == __file__, "it points at the call of fit"


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_a_graph_with_all_labels_is_learned(n_classes):
    y = np.arange(5) % n_classes
    model = propagate(PATH, y)
    np.testing.assert_array_equal(model.transduction_, y)
    np.testing.assert_array_equal(model.label_distributions_, np.eye(n_classes)[y])
    assert (model.results_, model.n_iter_, model.gap_, model.error_bound_) == ([], 0, 0.0, 0.0)


def test_one_class_alone_is_learned():
    model = propagate(PATH, [-1, -1, 7, -1, -1])
    assert model.classes_.tolist() == [7]
    assert model.transduction_.tolist() == [7] * 5
    np.testing.assert_array_equal(model.label_distributions_, 1.0)
    assert (model.results_, model.error_bound_) == ([], 0.0)


def test_where_only_one_class_is_met_nothing_is_solved():
    """Labels end walks: nodes 1 to 3 meet class 0 alone, 5 and 6 both."""
    W = np.diag(np.ones(7), k=1)
    model = propagate(W + W.T, [0, -1, -1, -1, 0, -1, -1, 1], tol=1e-12)
    np.testing.assert_array_equal(model.label_distributions_[:5, 0], 1.0)
    np.testing.assert_array_equal(model.node_error_bound_ > 0, np.isin(np.arange(8), [5, 6]))
    assert model.results_[0].x.size == 2


def test_a_class_no_free_node_touches():
    """Class 2 lives apart: its function is zero wherever something is free, and the zero model says so at once."""
    W = sp.block_diag([PATH, np.ones((2, 2))], format="csr")
    model = propagate(W, [*ENDS, 2, 2], tol=1e-12)
    np.testing.assert_array_equal(model.label_distributions_[:5, 2], 0.0)
    assert model.results_[2].epochs == 0


def test_one_node_is_learned():
    assert propagate([[0.0]], [3]).transduction_.tolist() == [3]


# Labels of all kinds


@pytest.mark.parametrize(("names", "mark", "options"), [
    (np.array([2.0, 5.0]), -1.0, {}),
    (np.array([-1, 1]), 0, {"unlabelled": 0}),
    (np.array(["no", "yes"]), "-1", {}),
    (np.array(["no", "yes"]), "?", {"unlabelled": "?"}),
    (np.array(["no", "yes"], dtype=object), -1, {}),
    (np.array(["no", "yes"], dtype=object), None, {"unlabelled": None}),
])  # fmt: skip
def test_labels_and_marks(names, mark, options):
    W = sp.block_diag([PATH, [[0.0]]], format="csr")
    y = np.append(names, mark if names.dtype != object else np.array([mark], dtype=object))[[0, -1, -1, -1, 1, -1]]
    with pytest.warns(UserWarning, match="1 of 6 nodes"):
        model = propagate(W, y, **options)
    np.testing.assert_array_equal(model.classes_, names)
    assert model.transduction_[[0, 1, 3, 4, 5]].tolist() == [*names[[0, 0, 1, 1]].tolist(), mark]


def test_lists_of_names_and_marks():
    assert propagate(PATH, ["a", -1, -1, "b", "b"]).transduction_.tolist() == ["a", "a", "b", "b", "b"]


@pytest.mark.parametrize(("y", "mark"), [([0, 1, 0, 1, 1], "?"), ([True, False, True, True, False], -1)])
def test_marks_that_cannot_occur(y, mark):
    assert propagate(PATH, y, unlabelled=mark).transduction_.tolist() == y


# Points


def moons(n=200, noise=0.2, seed=0):
    X, labels = make_moons(n, noise=noise, random_state=seed)
    return X, labels, np.where(np.arange(n) % 4 == 0, labels, -1)


@pytest.mark.parametrize("gamma", [None, 20.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, np.float32])
def test_points(gamma, form):
    X, labels, y = moons()
    model = LabelPropagation(n_neighbors=6, gamma=gamma, tol=1e-10).fit(form(X), y)
    assert np.mean(model.transduction_ == labels) > 0.9
    assert model.results_[0].x.size > 30
    W = kneighbors_graph(X, 6, mode="connectivity" if gamma is None else "distance")
    if gamma is not None:
        W.data = np.exp(-gamma * W.data**2)
    W = W.maximum(W.T)
    np.testing.assert_allclose(model.label_distributions_, harmonic(W, y), atol=1e-4 if form is np.float32 else 1e-6)
    assert model.n_features_in_ == 2
    new, truth, _ = moons(50, seed=1)
    assert np.mean(model.predict(form(new)) == truth) > 0.9
    np.testing.assert_allclose(model.predict_proba(form(new)).sum(axis=1), 1.0)


@pytest.mark.parametrize("gamma", [None, 2.0, 300.0])
def test_a_new_point_is_the_mean_of_its_neighbours(gamma):
    X, _, y = moons()
    model = LabelPropagation(n_neighbors=5, gamma=gamma).fit(X, y)
    new = np.array([[0.5, 0.5], [-1.0, 0.2], [30.0, 40.0]])
    for point, row in zip(new, model.predict_proba(new), strict=True):
        squared = ((X - point) ** 2).sum(axis=1)
        near = np.argsort(squared)[:5]
        weights = np.ones(5) if gamma is None else np.exp(-gamma * (squared[near] - squared[near[0]]))
        np.testing.assert_allclose(row, weights @ model.label_distributions_[near] / weights.sum(), atol=1e-7)


def test_points_that_coincide_are_close():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    y = np.array([0, -1, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1])
    model = LabelPropagation(n_neighbors=5, gamma=0.1, tol=1e-12).fit(X, y)
    np.testing.assert_array_equal(model.transduction_, np.repeat([0, 0, 1], 4))


# At home in scikit-learn


def no_graph(estimator):
    why = "a linear kernel, dense and of nearly equal weights, is not a graph to learn from"
    return {"check_classifiers_train": why} if estimator.affinity == "precomputed" else {}


@parametrize_with_checks(
    [LabelPropagation(), LabelPropagation(gamma=0.5), LabelPropagation("precomputed")], expected_failed_checks=no_graph
)
def test_the_checks_of_scikit_learn_pass(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(estimator)


def test_clone_pickle_and_cross_validation():
    X, labels, y = moons()
    model = LabelPropagation(gamma=3.0, rule="shuffled").fit(X, y)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.results_[0].gap == model.results_[0].gap
    assert cross_val_score(model, X, labels).mean() > 0.9
    assert cross_val_score(LabelPropagation("precomputed"), rbf_kernel(X, gamma=50.0), labels).mean() > 0.9


# Refusals


@pytest.mark.parametrize(("change", "match"), [
    ({"W": -PATH}, r"affinities must be >= 0.*smallest is -1\. Turn distances"),
    ({"W": sp.csr_array(-PATH)}, "affinities must be >= 0"),
    ({"W": np.triu(PATH * 3)}, r"symmetric; .* up to 3 \(its largest weight is 3\)\. Symmetrise it"),
    ({"W": sp.csr_array(np.triu(PATH))}, r"W\.maximum\(W\.T\)"),
    ({"W": PATH[:, :4]}, r"square.*\(5, 4\)"),
    ({"W": PATH + np.diag([np.nan] * 5)}, "NaN"),
    ({"W": np.where(PATH > 0, np.inf, 0)}, "infinity"),
    ({"y": -np.ones(5)}, r"all 5 nodes as unlabelled \(-1\)"),
    ({"y": ENDS, "unlabelled": 7, "W": PATH[:4]}, "square|entries"),
    ({"y": ENDS[:4]}, "y must have 5 entries, one for each row of X; got 4"),
    ({"y": None}, "y is None. Give labels, and -1"),
    ({"y": [0, np.nan, -1, -1, 1]}, "y contains NaN"),
    ({"y": [0.5, -1, -1, -1, 1.25]}, "Unknown label type"),
    ({"y": np.ones((5, 2))}, "1d array"),
    ({"affinity": "rbf"}, "Unknown affinity 'rbf'.*knn, precomputed"),
    ({"rule": "cyclicc"}, "Unknown rule 'cyclicc'. Did you mean 'cyclic'"),
    ({"method": "newton"}, "Unknown method 'newton'"),
    ({"tol": -1.0}, "tol must be >= 0"),
    ({"max_epochs": -1}, "max_epochs must be an integer >= 0"),
    ({"max_epochs": 2.5}, r"max_epochs must be an integer.*got 2\.5"),
    ({"max_seconds": 0}, "max_seconds must be > 0"),
    ({"random_state": -1}, "random_state must be an integer >= 0"),
    ({"affinity": "knn", "n_neighbors": 5}, "n_neighbors must be less than the number of samples, 5; got 5"),
    ({"affinity": "knn", "n_neighbors": 0}, "n_neighbors must be an integer >= 1"),
    ({"affinity": "knn", "gamma": 0.0}, "gamma must be > 0"),
])  # fmt: skip
def test_bad_parameters_and_graphs_are_refused(change, match):
    given = {"affinity": "precomputed", "W": PATH, "y": ENDS} | change
    W, y = given.pop("W"), given.pop("y")
    with pytest.raises(ValueError, match=match) as caught:
        LabelPropagation(**given).fit(W, y)
    assert len(str(caught.value)) < 700


def test_huge_labels_are_read_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="Unknown label type"):
            LabelPropagation(affinity="precomputed").fit(PATH, [1e200, -1, -1, -1, 1.5])


class Tolerance:
    def __float__(self):
        return 1e-9


def test_a_tolerance_may_be_anything_with_a_float():
    with pytest.warns(sw.ConvergenceWarning, match="tol is 1e-09"):
        LabelPropagation(affinity="precomputed", tol=Tolerance(), max_epochs=0).fit(PATH, ENDS)


def test_bad_new_points_are_refused():
    model = propagate(PATH, ENDS)
    with pytest.raises(ValueError, match="affinities must be >= 0"):
        model.predict([[0, -1, 0, 0, 0]])
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.predict([[0, 1, 0]])


@pytest.mark.parametrize(
    ("labels", "marker"),
    [
        (np.array([2**63 + 3, 2**62 + 1], np.uint64), 0),
        (np.array([2**60 + 1, 5]), -1.0),
        (np.array([1, 2], np.int8), -1),
    ],
)
def test_labels_keep_their_type_where_nodes_stay_undecided(labels, marker):
    y = np.full(4, marker).astype(labels.dtype)
    y[:2] = labels
    W = np.zeros((4, 4))
    W[0, 2] = W[2, 0] = 1.0  # node 3 is alone
    with pytest.warns(UserWarning, match="not joined"):
        model = LabelPropagation(affinity="precomputed", unlabelled=marker).fit(W, y)
    assert model.transduction_.dtype == labels.dtype
    assert model.transduction_.tolist() == [*labels.tolist(), labels.tolist()[0], int(marker)]


@pytest.mark.parametrize("to", [np.asarray, sp.csr_array])
def test_affinities_of_new_points_may_be_huge(to):
    W = np.array([[0, 0, 1.0], [0, 0, 3.0], [1.0, 3.0, 0]])
    model = LabelPropagation(affinity="precomputed").fit(W, [0, 1, -1])
    assert model.predict_proba(to([[1e308, 1e308, 0.0]])).tolist() == [[0.5, 0.5]]


def test_scikit_learn_is_imported_lazily():
    """And not before: importing southwell must not wait for scikit-learn."""
    code = "import sys, southwell as sw; assert 'sklearn' not in sys.modules; print(sw.graph.LabelPropagation.__name__)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "LabelPropagation\n"
    with pytest.raises(AttributeError, match="no attribute 'graf'"):
        _ = sw.graf

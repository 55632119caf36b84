"""Parameters of the wrong kind or beyond the range of numbers: refused in words that say what is allowed."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from estimator_data import quick, suitable
from southwell import features, graph, methods, metric, rules
from southwell._names import shown

A = np.random.default_rng(0).normal(size=(12, 4))
B = A[:, 0] + 0.1
LABELS = np.arange(12) % 2


class Rude:
    def __repr__(self):
        raise RuntimeError("no words")


def broken():
    matrix = sp.csr_array(A)
    matrix.data = None
    return matrix


ODD = {
    "10**400": 10**400, "-10**400": -(10**400), "10**5000": 10**5000, "2**63": 2**63, "array": np.array([1.0, 2.0]),
    "names": np.array(["knn", "precomputed"]), "empty": np.zeros(0), "dict": {1: 2}, "object": object(),
    "matrix": broken(), "nan": float("nan"), "complex": 1j, "set": {1}, "bytes": b"x", "rude": Rude(),
    "long double": np.longdouble("1e4000"), "list": [10**400], "long text": "x" * 10_000,
}  # fmt: skip
OUR_WORDS = ("must", "Unknown", "is a share", "either", "needs", "contains NaN", "broken", "Bounds", "more than")
NOT_OUR_WORDS = (
    "ambiguous", "incompatible function", "unhashable", "not supported between", "unsupported operand",
    "Exceeds the limit", "too large to convert", "no attribute",
)  # fmt: skip


def refused_or_taken(call) -> None:
    try:
        call()
    except (TypeError, ValueError) as error:
        text = str(error)
        assert any(words in text for words in OUR_WORDS), text
        assert not any(words in text for words in NOT_OUR_WORDS), text
        assert len(text) < 600, text[:100]


def parameters(function, skip=()) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in skip]


@pytest.mark.parametrize("name", parameters(sw.solve, ("A", "b", "callback")))
def test_solve_refuses_or_takes_odd_values(name):
    for odd in ODD.values():
        refused_or_taken(lambda odd=odd: sw.solve(A, B, **{"max_epochs": 3, name: odd}))


@pytest.mark.parametrize("name", parameters(sw.penalties.ElasticNet))
def test_the_elastic_net_refuses_or_takes_odd_values(name):
    for odd in ODD.values():
        refused_or_taken(lambda odd=odd: sw.solve(A, B, penalty=sw.penalties.ElasticNet(**{name: odd}), max_epochs=3))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("kind", [*methods.ALL.values()], ids=lambda kind: kind.__name__)
def test_methods_refuse_or_take_odd_values(kind, odd):
    for name in parameters(kind):
        refused_or_taken(lambda name=name: sw.solve(A, B, l2=0.1, method=kind(**{name: ODD[odd]}), max_epochs=3))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("kind", [*rules.ALL.values()], ids=lambda kind: kind.__name__)
def test_rules_refuse_or_take_odd_values(kind, odd):
    for name in parameters(kind):
        refused_or_taken(lambda name=name: kind(**{name: ODD[odd]}))


FITS = {
    "Lasso": (sw.Lasso, B), "GroupLasso": (sw.GroupLasso, B), "LogisticRegression": (sw.LogisticRegression, LABELS),
    "LinearSVC": (sw.LinearSVC, LABELS), "LassoCV": (sw.LassoCV, B),
    "SparseLinearClassifierCV": (sw.SparseLinearClassifierCV, LABELS),
    "LabelPropagation": (graph.LabelPropagation, LABELS), "RandomBinning": (features.RandomBinning, None),
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("fit", FITS)
def test_estimators_refuse_or_take_odd_values(fit, odd):
    kind, y = FITS[fit]
    theirs = {"random_state", "cv", "scoring", "copy_X", "unlabelled", "precompute", "dual", "solver"}  # scikit-learn's
    for name in kind().get_params(deep=False).keys() - theirs:
        refused_or_taken(lambda name=name: quick(kind).set_params(**{name: ODD[odd]}).fit(A, y))


NAMED = {
    "text": ("m", lambda: sw.losses.Huber().value("x", 1.0)),
    "numbers in texts": ("b", lambda: sw.losses.Huber().derivative(1.0, ["1"])),
    "nothing": ("b", lambda: sw.losses.Huber().value(1.0, None)),
    "complex": ("y", lambda: sw.losses.Squared().conjugate([1j], 1.0)),
    "sparse": ("m", lambda: sw.losses.Squared().value(sp.csr_array(A), 1.0)),
    "huge": ("b", lambda: sw.losses.Logistic().value(1.0, [10**400])),
    "ragged": ("m", lambda: sw.losses.Hinge().second_derivative([[1.0], [1.0, 2.0]], 1.0)),
    "shapes": ("m, b", lambda: sw.losses.Hinge().value(np.ones(3), np.ones(4))),
    "span of time": ("m", lambda: sw.losses.Hinge().value(np.timedelta64(1, "D"), 1.0)),
    "step of 0": ("step", lambda: sw.losses.Hinge().prox_conjugate(1.0, 0.0, 1.0)),
    "denormal step": ("step", lambda: sw.losses.Squared().prox_conjugate(2.0, 1e-320, 1.0)),
    "steps": ("step", lambda: sw.losses.Softmax().prox_conjugate([[1.0, 2.0]], [1.0, 2.0], [0])),
    "step of classes": ("step", lambda: sw.losses.Softmax().prox_conjugate([[1.0, 2.0]], -1.0, [0])),
    "q below 0": ("q", lambda: sw.losses.Squared().maximise(1.0, 1.0, -1.0, 1.0)),
    "table": ("m", lambda: sw.losses.Softmax().value("x", [0])),
    "infinite class": ("b", lambda: sw.losses.Softmax().value([[1.0, 2.0]], [np.inf])),
    "epochs in days": ("max_epochs", lambda: sw.solve(A, B, max_epochs=np.timedelta64(1, "D"))),
    "complex l1": ("l1", lambda: sw.solve(A, B, l1=np.array(1j))),
    "complex bounds": ("upper", lambda: sw.solve(A, B, penalty=sw.penalties.ElasticNet(0.1, upper=[1j] * 4))),
    "nested vectors": ("vectors", lambda: metric.LowRank([[1.0], [1.0, 2.0]])),
    "several marks": ("unlabelled", lambda: graph.LabelPropagation(unlabelled=np.zeros((0, 3))).fit(A, LABELS)),
    "texts as y": ("y", lambda: sw.HuberRegressor().fit(A, [b"a"] * 12)),
    "pair of alphas": ("alpha", lambda: sw.Ridge(alpha=(np.ones(3), 0.0)).fit(A, B)),
    "folds": ("cv", lambda: sw.LassoCV(cv=np.ones((3, 2))).fit(A, B)),
    "point": ("x", lambda: sw.BlockProblem(A, A[:, :2], penalty=sw.penalties.Groups(0.1)).certify([[10**400] * 2] * 4)),
    "path with NUL": ("'a.x00b'", lambda: sw.load("a\0b")),
    "path with half a character": (r"'.ud800'", lambda: sw.load("\ud800")),
    "grids": ("n_grids", lambda: features.RandomBinning(n_grids=2**62).fit_transform(A)),
    "frequencies": ("n_components", lambda: features.RandomFourier(n_components=2**62).fit(A)),
    "seed": ("random_state", lambda: features.RandomFourier(random_state=broken()).fit(A)),
    "weights": ("sample_weight", lambda: sw.Lasso().fit(A, B, sample_weight=1j)),
}  # fmt: skip


@pytest.mark.parametrize("case", NAMED)
@pytest.mark.filterwarnings("error")
def test_the_argument_is_named(case):
    name, call = NAMED[case]
    with pytest.raises((TypeError, ValueError), match=rf"\b{name} .*must|^{name} .*must"):
        call()


@pytest.mark.filterwarnings("error")
def test_infinite_answers_without_warnings():
    model = sw.PoissonRegressor().fit(A, LABELS)
    assert not np.isfinite(model.predict(np.sign(model.coef_)[None] * 1e308)).any()
    for step in (Fraction(1, 3), np.array(0.01)):
        sw.solve(A, B, l2=0.1, method=methods.SAGA(step=step), tol=1.0)


def test_what_the_issue_named():
    matrix = sp.csr_array(A)
    matrix.data = matrix.data.tolist()
    with pytest.raises(TypeError, match=r"A is broken: its data must be a NumPy array of numbers; got list\. Build it"):
        sw.solve(matrix, B)
    for given in (2**31, 2**63, 10**400):
        with pytest.raises(ValueError, match=r"n_threads must be an integer >= 1 \(and below 2\*\*31\); got "):
            sw.solve(A, B, n_threads=given)
        with pytest.raises(ValueError, match=r"n_threads must be an integer >= 1 \(and below 2\*\*31\); got "):
            sw.set_num_threads(given)
        with pytest.raises(ValueError, match=r"below 2\*\*31"):
            methods.SPDC(n_threads=given)
    for name in ("lower", "upper", "weights"):
        with pytest.raises(ValueError, match=rf"{name} must be numbers of at most 1\.79e308"):
            sw.solve(A, B, penalty=sw.penalties.ElasticNet(**{name: 10**400}))
    with pytest.raises(ValueError, match=r"Unknown affinity array.* Known: knn, precomputed"):
        graph.LabelPropagation(affinity=np.array(["knn", "knn"])).fit(A, LABELS)
    with pytest.raises(ValueError, match=r"Unknown affinity an array of shape .12, 4. and dtype float64. Known: knn"):
        graph.LabelPropagation(affinity=A).fit(A, LABELS)


def test_what_a_message_quotes():
    assert shown(3) == "3" and shown("abc") == "'abc'" and shown(None) == "None"
    assert shown(10**5000) == "an integer of 16610 bits" and shown(-(10**400)).startswith("an integer of ")
    assert shown(np.zeros((3, 4))) == "an array of shape (3, 4) and dtype float64"
    assert shown(Rude()) == "an object of type Rude"
    assert len(shown("x" * 10_000)) < 120 and len(shown(list(range(10_000)))) < 120


def test_a_C_whose_product_with_the_weights_overflows_is_refused_without_a_warning():
    for model in (sw.LogisticRegressionCV(Cs=np.full(3, 1e308), cv=3), sw.LogisticRegression(C=np.float64(1e308))):
        with pytest.raises(ValueError, match="must be between 1e-300 and 1e300"):
            model.fit(A, LABELS)


def test_equal_points_below_the_range_of_numbers_give_no_warning():
    model = metric.LargeMarginNearestNeighbor(n_neighbors=1)
    assert np.isfinite(model.fit(np.full((12, 4), 1e-320), LABELS).components_).all()


@pytest.mark.parametrize("kind", sw.estimators.ALL)
def test_an_array_is_no_method(kind):
    with pytest.raises((TypeError, ValueError), match="method"):
        model = quick(getattr(sw, kind), method=np.ones(4))
        model.fit(A, suitable(type(model), LABELS))

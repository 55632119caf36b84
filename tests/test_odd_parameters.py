"""Parameters of the wrong kind or beyond the range of numbers: refused in words that say what is allowed."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import features, graph, methods, rules
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


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", parameters(sw.solve, ("A", "b", "callback")))
def test_solve(name, odd):
    refused_or_taken(lambda: sw.solve(A, B, **{"max_epochs": 3, name: ODD[odd]}))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", parameters(sw.penalties.ElasticNet))
def test_elastic_net(name, odd):
    refused_or_taken(lambda: sw.solve(A, B, penalty=sw.penalties.ElasticNet(**{name: ODD[odd]}), max_epochs=3))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("kind", [*methods.ALL.values()], ids=lambda kind: kind.__name__)
def test_methods(kind, odd):
    for name in parameters(kind):
        refused_or_taken(lambda name=name: sw.solve(A, B, l2=0.1, method=kind(**{name: ODD[odd]}), max_epochs=3))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("kind", [*rules.ALL.values()], ids=lambda kind: kind.__name__)
def test_rules(kind, odd):
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
def test_estimators(fit, odd):
    kind, y = FITS[fit]
    theirs = {"random_state", "cv", "scoring", "copy_X", "unlabelled", "precompute", "dual", "solver"}  # scikit-learn's
    for name in kind().get_params(deep=False).keys() - theirs:
        refused_or_taken(lambda name=name: kind(**{name: ODD[odd]}).fit(A, y))


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

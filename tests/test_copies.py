"""Parts, problems and results can be copied, pickled and shown."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from long_solves import CD, made

PARTS = [
    *(loss() for loss in sw.losses.ALL.values()),
    sw.losses.Huber(2.5),
    sw.losses.Quantile(0.9),
    *(rule() for rule in sw.rules.ALL.values()),
    *(method() for method in sw.methods.ALL.values()),
    CD(side="dual", rule=sw.rules.Uniform(), coupling="mirror", shrinking=False),
]


@pytest.mark.parametrize("part", PARTS, ids=repr)
@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_parts_can_be_copied(part, twin):
    if isinstance(part, sw.losses.Loss):
        part.value([0.3], [1.0])  # with its compiled half already built
    other = twin(part)
    assert other == part and hash(other) == hash(part) and repr(other) == repr(part) and type(other) is type(part)
    if isinstance(part, sw.losses.Loss):
        np.testing.assert_array_equal(other.value([0.3, -2.0], [1.0, 1.0]), part.value([0.3, -2.0], [1.0, 1.0]))


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_penalties_can_be_copied(twin):
    A, b = made(d=5)
    penalty = sw.penalties.ElasticNet(0.1, 0.2, weights=np.arange(5.0), lower=-1, upper=np.ones(5))
    other = twin(penalty)
    assert repr(other) == repr(penalty)
    np.testing.assert_array_equal(sw.solve(A, b, penalty=other).x, sw.solve(A, b, penalty=penalty).x)


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_parts_are_frozen(part):
    with pytest.raises(AttributeError):
        part.side = part.q = part.delta = "else"


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, sw.Centred])
def test_problems_and_results_can_be_pickled(form):
    A, b = made()
    r = sw.solve(form(A), b, l1=0.02, intercept=True)
    for q in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r)):
        np.testing.assert_array_equal(q.x, r.x)
        assert q.status is r.status and repr(q) == repr(r)
        np.testing.assert_array_equal(sw.solve(q.problem).x, r.x)
        assert sw.solve(q.problem, warm_start=q).epochs <= 1


def test_a_result_is_shown_in_few_lines():
    A, b = made()
    text = repr(sw.solve(A, b, l1=0.02))
    assert "CONVERGED" in text and "gap" in text and "auto: primal" in text
    assert max(map(len, text.splitlines())) <= 120 and len(text.splitlines()) < 10
    assert "200 x 50" in repr(sw.Problem(A, b))


def test_statuses_are_true_only_when_proven():
    assert [s for s in sw.Status if s] == [sw.Status.CONVERGED]
    assert all(s.value.endswith(".") for s in sw.Status)

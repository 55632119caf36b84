"""Laws of selection rules, as their papers state them. The compiled solver takes no part."""

from itertools import product

import numpy as np
import pytest

from southwell import reference
from southwell.reference import rules


@pytest.mark.parametrize("rule", [*rules.SCORES, "uniform"])
def test_probabilities(rule):
    rng = np.random.default_rng(16)
    for c in (rng.random(9), np.where(rng.random(9) < 0.5, rng.random(9), 0.0), np.zeros(9)):
        p = reference.probabilities(rule, c)
        assert p.sum() == pytest.approx(1)
        assert (p >= 0).all()
        assert rule == "uniform" or not c.any() or ((p > 0) == (c > 0)).all()
    np.testing.assert_allclose(reference.probabilities(rule, np.zeros(9)), 1 / 9)


def test_mixed_probabilities():
    c = np.array([0.0, 3.0, 1.0])
    np.testing.assert_allclose(reference.probabilities("support_set", c), [0, 0.5, 0.5])
    np.testing.assert_allclose(reference.probabilities("adaptive", c), [0, 0.75, 0.25])
    np.testing.assert_allclose(reference.probabilities("ada_uniform", c), [0, 0.625, 0.375])
    for mix, rule in ((1.0, "support_set"), (0.0, "adaptive")):
        np.testing.assert_allclose(reference.probabilities("ada_uniform", c, mix), reference.probabilities(rule, c))
    with pytest.raises(ValueError, match="no sampled rule"):
        reference.probabilities("greedy", c)


def test_greedy():
    assert reference.greedy([1.0, 3.0, 2.0, 3.0]) == 1
    assert reference.greedy_in_turn([1.0, 3.0, 2.0, 3.0], 3) == [1, 3, 2]


@pytest.mark.parametrize("seed", range(8))
def test_hybrid_probabilities_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.append(np.arange(3), rng.integers(0, 3, 6)))
    c = rng.integers(0, 4, 9).astype(float)  # with ties
    blocks = [np.flatnonzero(labels == block) for block in range(3)]
    want = np.zeros(9)
    draws = list(product(*blocks))
    for draw in draws:
        want[draw[np.argmax(c[list(draw)])]] += 1 / len(draws)
    got = reference.hybrid_probabilities(c, labels)
    np.testing.assert_allclose(got, want, atol=1e-15)
    assert got.sum() == pytest.approx(1)


def test_hybrid_between_uniform_and_greedy():
    c = np.array([1.0, 3.0, 2.0, 3.0])
    np.testing.assert_allclose(reference.hybrid_probabilities(c, np.zeros(4)), 0.25)
    np.testing.assert_allclose(reference.hybrid_probabilities(c, np.arange(4)), [0, 1, 0, 0])

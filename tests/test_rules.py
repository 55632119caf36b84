"""Rules obey their laws, and the laws can fail."""

import numpy as np
import pytest

import southwell as sw
from southwell import _core
from southwell.testing import check_rule

BLIND = [name for name, rule in sw.rules.ALL.items() if rule.blind]


@pytest.mark.parametrize("rule", BLIND)
def test_rules_obey_their_laws(rule):
    check_rule(rule)
    check_rule(sw.rules.ALL[rule]())


@pytest.mark.parametrize("rule", BLIND)
def test_seeds_of_any_size(rule):
    for seed in (0, 2**31, 2**63, 2**64 - 1):
        assert sorted(set(_core.Rule(rule).draw(3, seed, 200))) == [0, 1, 2]


def forgetful(n, seed, count):
    """Draws uniformly, but never the same twice in a row."""
    rng, out = np.random.default_rng(seed), [0]
    while len(out) <= count:
        k = rng.integers(n)
        if n == 1 or k != out[-1]:
            out.append(k)
    return out[1:]


def sattolo(n, seed, count):
    """Shuffles with the classic mistake: only cyclic permutations."""
    rng, out = np.random.default_rng(seed), []
    while len(out) < count:
        order = np.arange(n)
        for i in range(n - 1, 0, -1):
            j = rng.integers(i)
            order[i], order[j] = order[j], order[i]
        out.extend(order)
    return out[:count]


def same_order(n, seed, count):
    """Shuffles once, then repeats that order."""
    return np.resize(np.random.default_rng(seed).permutation(n), count)


def seeded_by_count(n, seed, count):
    return np.random.default_rng([seed, count]).integers(n, size=count)


BROKEN = {
    "backwards": ("cyclic", lambda n, seed, count: np.arange(count)[::-1] % n),
    "beyond n": ("cyclic", lambda n, seed, count: np.arange(count) % (n + 1)),
    "never the last": (
        "uniform",
        lambda n, seed, count: np.random.default_rng(seed).integers(max(n - 1, 1), size=count),
    ),
    "ignores the seed": ("uniform", lambda n, seed, count: np.random.default_rng(0).integers(n, size=count)),
    "another stream each time": ("uniform", lambda n, seed, count: np.random.default_rng().integers(n, size=count)),
    "stream depends on its length": ("uniform", seeded_by_count),
    "no repeats": ("uniform", forgetful),
    "too even": ("uniform", lambda n, seed, count: (np.arange(count) + seed) % n),
    "uneven": ("uniform", lambda n, seed, count: (n * np.random.default_rng(seed).random(count) ** 1.1).astype(int)),
    "not a permutation": ("shuffled", lambda n, seed, count: np.random.default_rng(seed).integers(n, size=count)),
    "cyclic permutations only": ("shuffled", sattolo),
    "one order for ever": ("shuffled", same_order),
}


@pytest.mark.parametrize("case", BROKEN)
def test_the_laws_catch_faults(case):
    rule, draw = BROKEN[case]
    with pytest.raises(AssertionError, match="breaks a law"):
        check_rule(rule, draw=draw)

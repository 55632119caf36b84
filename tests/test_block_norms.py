"""Penalties on blocks with every norm and with the sign x >= 0 obey their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from southwell import _core, reference
from southwell.penalties import GroupPenalty, Groups, MaxGroups
from southwell.testing import check_block_penalty

NORMS = {penalty.norm: penalty for penalty in (Groups, MaxGroups)}
SIGNS = [False, True]
PARTS = {
    "norm": (0.3, 0.0, 0.0),
    "l1": (0.0, 0.2, 0.0),
    "l2": (0.0, 0.0, 0.4),
    "sparse group": (0.3, 0.2, 0.0),
    "elastic group": (0.3, 0.0, 0.4),
    "all": (0.3, 0.2, 0.4),
    "tiny l2": (0.3, 0.1, 1e-6),
    "little norm": (1e-4, 0.5, 0.0),
    "little l1": (0.5, 1e-4, 0.0),
}
NUMBERS = st.one_of(st.just(0.0), st.sampled_from([1.0, -1.0, 2.5]), st.floats(-100, 100, allow_subnormal=False))
VECTORS = st.integers(1, 8).flatmap(lambda n: hnp.arrays(float, n, elements=NUMBERS))
STRENGTHS = st.one_of(st.just(0.0), st.floats(1e-3, 10.0))
over_norms = pytest.mark.parametrize("norm", NORMS)
over_signs = pytest.mark.parametrize("positive", SIGNS)


def block(strength, l1, l2, norm, positive):
    return _core.BlockPenalty(strength, l1, l2, norm, positive)


# One block


def test_every_norm_has_a_class():
    assert set(NORMS) == set(reference.blocks.NORMS)
    assert {one.norm for one in GroupPenalty.__subclasses__()} == set(NORMS)


@over_norms
@over_signs
@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("name", PARTS)
def test_penalties_obey_their_laws(name, size, norm, positive):
    check_block_penalty(block(*PARTS[name], norm, positive), size)


@over_norms
@over_signs
@given(v=VECTORS)
def test_no_other_number_taken_from_all_leaves_a_smaller_norm(norm, positive, v):
    penalty, x = block(0.3, 0.0, 0.0, norm, positive), abs(v) if positive else v
    least = penalty.value(penalty.balance(x, x.size))
    for number in np.linspace(x.min(), x.max(), 21):
        assert least <= penalty.value(x - number) + 1e-15 * np.abs(x).max() * x.size


@over_signs
def test_both_ends_of_a_balanced_range_tie_to_the_last_bit(positive):
    """Newton steps move entries at the maximum together, and know them by their equal sizes."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        x = rng.normal(size=5) * 10.0 ** rng.integers(-3, 4)
        to = block(0.3, 0.0, 0.0, "maximum", positive).balance(abs(x) if positive else x, 5)
        assert to.min() == (0 if positive else -to.max())


@over_norms
@over_signs
@given(v=VECTORS, strength=STRENGTHS, l1=STRENGTHS, l2=STRENGTHS, step=st.floats(1e-3, 1e3))
def test_penalties_agree_with_the_reference(norm, positive, v, strength, l1, l2, step):
    core = block(strength, l1, l2, norm, positive)
    twin = reference.blocks.Block(np.arange(v.size), strength, l1, l2, norm, positive)
    assert core.value(v) == pytest.approx(twin.value(v), rel=1e-13)
    np.testing.assert_allclose(core.prox(v, step), twin.prox(v, step), rtol=1e-11, atol=1e-11)
    if abs(twin.excess(v)) > 1e-9 * (1 + np.abs(v).sum()):
        assert core.conjugate(v) == pytest.approx(twin.conjugate(v), rel=1e-8, abs=1e-18)
    if strength + l1 > 0:
        assert core.feasible_scale(v) == pytest.approx(twin.feasible_scale(v), rel=1e-9)


@over_signs
@given(v=VECTORS, radius=st.floats(1e-3, 300.0))
def test_the_prox_of_the_maximum_is_what_the_l1_ball_leaves(positive, v, radius):
    """Moreau: v less its projection on the l1 ball, which is found here by its optimality conditions alone."""
    p = block(radius, 0.0, 0.0, "maximum", positive).prox(v, 1.0)
    v = np.maximum(v, 0.0) if positive else v
    rest = v - p
    size = 1e-12 * (radius + np.abs(v).sum())
    assert np.abs(rest).sum() <= radius + size
    assert (rest * v >= 0).all()
    level = np.abs(p).max()
    assert (np.abs(p)[np.abs(rest) > size] >= level - size).all()  # lowered numbers lie at the level
    assert level <= size or np.abs(rest).sum() >= radius - size


@given(k=st.integers(1, 400), rate=st.floats(0.3, 0.999), share=st.floats(1e-9, 1.0), seed=st.integers(0, 9))
def test_the_level_of_numbers_of_all_sizes(k, rate, share, seed):
    """A geometric sequence has a kink at every scale."""
    v = np.random.default_rng(seed).permutation(rate ** np.arange(k))
    radius = share * v.sum()
    p = block(radius, 0.0, 0.0, "maximum", False).prox(v, 1.0)
    assert np.maximum(v - p.max(), 0).sum() == pytest.approx(radius, rel=1e-9)


@over_norms
@over_signs
@given(v=VECTORS, move=VECTORS, strength=STRENGTHS, l1=STRENGTHS)
def test_the_dual_norm_changes_no_faster_than_it_says(norm, positive, v, move, strength, l1):
    """What screening builds on: N*(soft(v + e, l1)) <= N*(soft(v, l1)) + c ||e||."""
    k = min(v.size, move.size)
    v, move = v[:k], move[:k]
    twin = reference.blocks.Block(np.arange(k), strength, l1, 0.0, norm, positive)
    most = 1.0 if norm == "euclidean" else np.sqrt(k)
    assert twin.excess(v + move) <= twin.excess(v) + most * np.linalg.norm(move) + 1e-9


@pytest.mark.parametrize("scale", [1e-170, 1e-30, 1e160])
@over_norms
def test_numbers_of_any_scale(scale, norm):
    one, other, v = block(0.5, 0.1, 0.0, norm, False), block(0.5 * scale, 0.1 * scale, 0.0, norm, False), [1.0, -2.0]
    v = np.array(v)
    assert one.value(scale * v) == pytest.approx(scale * one.value(v), rel=1e-12, abs=0)
    np.testing.assert_allclose(other.prox(scale * v, 1.0) / scale, one.prox(v, 1.0), rtol=1e-9)
    assert other.feasible_scale(scale * v) == pytest.approx(one.feasible_scale(v), rel=1e-9)

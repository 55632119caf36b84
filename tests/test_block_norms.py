"""Penalties on blocks with every norm, with signs, and within bounds where there is no norm, obey their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from southwell import _core, reference
from southwell.penalties import GroupPenalty, Groups, MaxGroups
from southwell.testing import check_block_penalty

NORMS = {penalty.norm: penalty for penalty in (Groups, MaxGroups)}
SIGNS = {"any": (-np.inf, np.inf), "positive": (0.0, np.inf), "negative": (-np.inf, 0.0)}
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
over_signs = pytest.mark.parametrize("sign", SIGNS)


def block(strength, l1, l2, norm, sign="any"):
    return _core.BlockPenalty(strength, l1, l2, norm, *SIGNS[sign])


def of_sign(v, sign):
    return {"any": v, "positive": abs(v), "negative": -abs(v)}[sign]


# One block


def test_every_norm_has_a_class():
    assert set(NORMS) == set(reference.blocks.NORMS)
    assert {one.norm for one in GroupPenalty.__subclasses__()} == set(NORMS)


@over_norms
@over_signs
@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("name", PARTS)
def test_penalties_obey_their_laws(name, size, norm, sign):
    check_block_penalty(block(*PARTS[name], norm, sign), size)


@over_norms
@over_signs
@given(v=VECTORS)
def test_no_other_number_taken_from_all_leaves_a_smaller_norm(norm, sign, v):
    penalty, x = block(0.3, 0.0, 0.0, norm, sign), of_sign(v, sign)
    least = penalty.value(penalty.balance(x, x.size))
    for number in np.linspace(x.min(), x.max(), 21):
        assert least <= penalty.value(x - number) + 1e-15 * np.abs(x).max() * x.size


@over_signs
def test_both_ends_of_a_balanced_range_tie_to_the_last_bit(sign):
    """Newton steps move entries at the maximum together, and know them by their equal sizes."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        x = rng.normal(size=5) * 10.0 ** rng.integers(-3, 4)
        to = block(0.3, 0.0, 0.0, "maximum", sign).balance(of_sign(x, sign), 5)
        assert -to.min() == to.max() if sign == "any" else 0 in (to.min(), to.max())


@over_norms
@over_signs
@given(v=VECTORS, strength=STRENGTHS, l1=STRENGTHS, l2=STRENGTHS, step=st.floats(1e-3, 1e3))
def test_penalties_agree_with_the_reference(norm, sign, v, strength, l1, l2, step):
    core = block(strength, l1, l2, norm, sign)
    twin = reference.blocks.Block(np.arange(v.size), strength, l1, l2, norm, *SIGNS[sign])
    assert core.value(v) == pytest.approx(twin.value(v), rel=1e-13)
    np.testing.assert_allclose(core.prox(v, step), twin.prox(v, step), rtol=1e-11, atol=1e-11)
    if abs(twin.excess(v)) > 1e-9 * (1 + np.abs(v).sum()):
        assert core.conjugate(v) == pytest.approx(twin.conjugate(v), rel=1e-8, abs=1e-18)
    if strength + l1 > 0:
        assert core.feasible_scale(v) == pytest.approx(twin.feasible_scale(v), rel=1e-9)


@over_signs
@given(v=VECTORS, radius=st.floats(1e-3, 300.0))
def test_the_prox_of_the_maximum_is_what_the_l1_ball_leaves(sign, v, radius):
    """Moreau: v less its projection on the l1 ball, which is found here by its optimality conditions alone."""
    p = block(radius, 0.0, 0.0, "maximum", sign).prox(v, 1.0)
    v = np.clip(v, *SIGNS[sign])
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
    p = block(radius, 0.0, 0.0, "maximum").prox(v, 1.0)
    assert np.maximum(v - p.max(), 0).sum() == pytest.approx(radius, rel=1e-9)


@over_norms
@over_signs
@given(v=VECTORS, move=VECTORS, strength=STRENGTHS, l1=STRENGTHS)
def test_the_dual_norm_changes_no_faster_than_it_says(norm, sign, v, move, strength, l1):
    """What screening builds on: N*(soft(v + e, l1)) <= N*(soft(v, l1)) + c ||e||."""
    k = min(v.size, move.size)
    v, move = v[:k], move[:k]
    twin = reference.blocks.Block(np.arange(k), strength, l1, 0.0, norm, *SIGNS[sign])
    most = 1.0 if norm == "euclidean" else np.sqrt(k)
    assert twin.excess(v + move) <= twin.excess(v) + most * np.linalg.norm(move) + 1e-9


@pytest.mark.parametrize("scale", [1e-170, 1e-30, 1e160])
@over_norms
def test_numbers_of_any_scale(scale, norm):
    one, other, v = block(0.5, 0.1, 0.0, norm), block(0.5 * scale, 0.1 * scale, 0.0, norm), [1.0, -2.0]
    v = np.array(v)
    assert one.value(scale * v) == pytest.approx(scale * one.value(v), rel=1e-12, abs=0)
    np.testing.assert_allclose(other.prox(scale * v, 1.0) / scale, one.prox(v, 1.0), rtol=1e-9)
    assert other.feasible_scale(scale * v) == pytest.approx(one.feasible_scale(v), rel=1e-9)


# Within bounds

ENDS = st.one_of(st.just(0.0), st.just(np.inf), st.floats(1e-3, 30.0))


@given(v=VECTORS, below=ENDS, above=ENDS, l1=STRENGTHS, l2=STRENGTHS, step=st.floats(1e-3, 1e3))
def test_bounds_without_a_norm_hold_each_number(v, below, above, l1, l2, step):
    """The block is then a sum over its numbers, of the penalty that problems of one target have."""
    core = _core.BlockPenalty(0.0, l1, l2, "euclidean", -below, above)
    net = _core.ElasticNet(l1, l2, *[np.empty(0)] * 2, np.full(v.size, -below), np.full(v.size, above), v.size)
    twin = reference.blocks.Block(np.arange(v.size), 0.0, l1, l2, "euclidean", -below, above)
    inside = np.clip(v, -below, above)
    assert core.value(inside) == pytest.approx(net.value(inside).sum(), rel=1e-13)
    assert np.isinf(core.value(v)) == (v != inside).any() == np.isinf(twin.value(v))
    np.testing.assert_allclose(core.prox(v, step), net.prox(v, step), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(core.prox(v, step), twin.prox(v, step), rtol=1e-11, atol=1e-11)
    if (abs(abs(v) - l1) > 1e-9 * (1 + abs(v))).all() or l2 > 0:
        assert core.conjugate(v) == pytest.approx(twin.conjugate(v), rel=1e-9, abs=1e-15)
        assert core.conjugate(v) == pytest.approx(net.total_conjugate(-v, 1.0), rel=1e-9, abs=1e-15)
    assert core.feasible_scale(v) == pytest.approx(twin.feasible_scale(v), rel=1e-9)
    if l2 > 0:
        x = core.conjugate_gradient(v)
        assert v @ x - core.value(x) == pytest.approx(core.conjugate(v), rel=1e-9, abs=1e-9)

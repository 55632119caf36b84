"""Penalties of blocks obey their laws, of one number are the elastic net, and the laws can fail."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from southwell import _core, reference
from southwell.penalties import ElasticNet, Groups
from southwell.testing import check_block_penalty

Block = _core.BlockPenalty
PARTS = {
    "norm": (0.3, 0.0, 0.0),
    "l1": (0.0, 0.2, 0.0),
    "l2": (0.0, 0.0, 0.4),
    "sparse group": (0.3, 0.2, 0.0),
    "elastic group": (0.3, 0.0, 0.4),
    "elastic net": (0.0, 0.2, 0.4),
    "all": (0.3, 0.2, 0.4),
    "tiny l2": (0.3, 0.1, 1e-6),
    "little norm": (1e-4, 0.5, 0.0),
    "little l1": (0.5, 1e-4, 0.0),
}
NUMBERS = st.one_of(st.just(0.0), st.floats(-100, 100, allow_subnormal=False))
VECTORS = st.integers(1, 8).flatmap(lambda n: hnp.arrays(float, n, elements=NUMBERS))
STRENGTHS = st.one_of(st.just(0.0), st.floats(1e-3, 10.0))


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("name", PARTS)
def test_penalties_obey_their_laws(name, size):
    check_block_penalty(Block(*PARTS[name]), size)


@given(v=VECTORS, strength=STRENGTHS, l1=STRENGTHS, l2=STRENGTHS, step=st.floats(1e-3, 1e3))
def test_penalties_agree_with_the_reference(v, strength, l1, l2, step):
    """The formulas, written out."""
    core, twin = Block(strength, l1, l2), reference.blocks.Block(np.arange(v.size), strength, l1, l2)
    assert core.value(v) == pytest.approx(twin.value(v), rel=1e-13)
    np.testing.assert_allclose(core.prox(v, step), twin.prox(v, step), rtol=1e-12, atol=1e-12)
    assert core.conjugate(v) == pytest.approx(twin.conjugate(v), rel=1e-9, abs=1e-20)
    assert core.feasible_scale(v) == pytest.approx(twin.feasible_scale(v), rel=1e-9)


@given(v=VECTORS, strength=STRENGTHS, l1=STRENGTHS, l2=st.floats(1e-3, 10.0))
def test_moreaus_identity_holds(v, strength, l1, l2):
    """v = prox of g + prox of its conjugate, which with l2 > 0 descends along its gradient to a fixed point."""
    g = Block(strength, l1, l2)
    p = g.prox(v, 1.0)
    np.testing.assert_allclose(g.conjugate_gradient(v - p), p, atol=1e-11 * (1 + np.abs(v).max()) / l2)


@given(v=VECTORS, strength=STRENGTHS, l1=STRENGTHS)
def test_feasible_scale_is_the_largest_by_bisection(v, strength, l1):
    g = Block(strength, l1, 0.0)
    lo, hi = 0.0, 1.0
    if np.isfinite(g.conjugate(v)):
        lo = 1.0
    for _ in range(60):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if np.isfinite(g.conjugate(middle * v)) else (lo, middle)
    if strength + l1 > 0:
        assert g.feasible_scale(v) == pytest.approx(lo, rel=1e-6)
    assert np.isfinite(g.conjugate(g.feasible_scale(v) * v))


@given(v=st.floats(-50, 50), l1=STRENGTHS, l2=STRENGTHS, share=st.floats(0, 1), step=st.floats(1e-3, 1e3))
def test_a_block_of_one_number_is_the_elastic_net(v, l1, l2, share, step):
    """A norm of one number is its size: strength and l1 add up."""
    block, net = Block(share * l1, l1 - share * l1, l2), ElasticNet(l1, l2).core(1)
    one = np.array([v])
    total = share * l1 + (l1 - share * l1)
    edge = abs(abs(v) - total) <= 1e-9 * (1 + abs(v)) or abs(abs(v) - step * total) <= 1e-9 * (1 + abs(v))
    assert block.value(one) == pytest.approx(net.value(one)[0], rel=1e-12)
    np.testing.assert_allclose(block.prox(one, step), net.prox(one, step), rtol=1e-9, atol=1e-12 * (1 + abs(v)))
    if not edge and l1 + l2 > 0:
        assert block.conjugate(one) == pytest.approx(net.conjugate(one)[0], rel=1e-6, abs=1e-20)
    if l1 > 0:
        pure = ElasticNet(l1).core(1)
        assert block.feasible_scale(one) == pytest.approx(pure.feasible_scale(one)[0], rel=1e-12)


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e-30, 1e30, 1e100, 1e140])
@given(v=VECTORS, strength=STRENGTHS, l1=STRENGTHS)
def test_scale_carries_through(scale, v, strength, l1):
    """g and its prox are of degree one where l2 = 0: huge and tiny numbers give the same, scaled."""
    one, other = Block(strength, l1, 0.0), Block(scale * strength, scale * l1, 0.0)
    v = np.where(np.abs(v) < 1e-3, 0.0, v)
    assert other.value(v) == pytest.approx(scale * one.value(v), rel=1e-12)
    assert one.value(scale * v) == pytest.approx(scale * one.value(v), rel=1e-12)
    np.testing.assert_allclose(other.prox(scale * v, 1.0) / scale, one.prox(v, 1.0), rtol=1e-9, atol=1e-11)
    assert other.feasible_scale(scale * v) == pytest.approx(one.feasible_scale(v), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-170, 1e160])
@pytest.mark.parametrize(
    "part",
    [
        "value",
        "prox",
        "scale",
    ],
)
def test_norms_of_numbers_whose_squares_overflow(scale, part):
    one, other, v = Block(0.5, 0.0, 0.0), Block(0.5 * scale, 0.0, 0.0), np.array([1.0, -2.0])
    with np.errstate(over="ignore"):
        if part == "value":
            assert one.value(scale * v) == pytest.approx(scale * one.value(v), rel=1e-12, abs=0)
        elif part == "prox":
            np.testing.assert_allclose(other.prox(scale * v, 1.0) / scale, one.prox(v, 1.0), rtol=1e-9)
        else:
            assert other.feasible_scale(scale * v) == pytest.approx(one.feasible_scale(v), rel=1e-9)


def test_zeros_and_ties():
    g, zero = Block(0.5, 0.1, 0.0), np.zeros(3)
    assert g.value(zero) == g.conjugate(zero) == 0
    assert not g.prox(zero, 1.0).any()
    assert g.feasible_scale(zero) == 1
    edge = np.array([0.6, 0.0, 0.0])  # soft(v, 0.1) has norm 0.5 but for rounding
    assert g.feasible_scale(edge) == pytest.approx(1.0, abs=1e-15)
    assert np.linalg.norm(g.prox(edge, 1.0)) <= 1e-15
    tied = g.prox(np.full(4, 3.0), 0.5)
    assert len(set(tied.tolist())) == 1 and tied[0] > 0


def test_prox_of_no_penalty_is_the_point():
    v = np.array([1e-300, 2.0, -3e200])
    np.testing.assert_array_equal(Block(0.0, 0.0, 0.0).prox(v[:2], 7.0), v[:2])


# Groups


def over(groups, d, width=1, **options):
    penalty = Groups(**({"strength": 0.5} | options), groups=groups)
    return penalty.over_blocks(d, width)


@given(
    labels=hnp.arrays(np.int64, st.integers(1, 9), elements=st.integers(-3, 3)), width=st.integers(1, 3),
    seed=st.integers(0, 99), l1=STRENGTHS,
)  # fmt: skip
def test_groups_scale_their_own_blocks(labels, width, seed, l1):
    """Contiguous or not, in any order: each group sees its rows."""
    z = np.random.default_rng(seed).normal(size=(labels.size, width)) * 3
    got = over(labels, labels.size, width, l1=l1).feasible_scales(z.ravel())
    block = Block(0.5, l1, 0.0)
    want = [block.feasible_scale(z[labels == label].ravel()) for label in np.unique(labels)]
    np.testing.assert_allclose(got, want, rtol=1e-13)


def test_labels_and_lists_say_the_same():
    names = Groups(1.0, groups=np.array(["b", "a", "b", "c", "a"]))
    lists = Groups(1.0, groups=[[4, 1], [0, 2], [3]])
    np.testing.assert_array_equal(names.group_of(5), lists.group_of(5))
    floats = Groups(1.0, groups=[0.5, -1.0, 0.5, 2.0, -1.0])
    np.testing.assert_array_equal(floats.group_of(5), lists.group_of(5))
    tuples = Groups(1.0, groups=((4, 1), np.array([0, 2]), range(3, 4)))
    np.testing.assert_array_equal(tuples.group_of(5), lists.group_of(5))
    np.testing.assert_array_equal(Groups(1.0).group_of(4), np.arange(4))


@given(x=hnp.arrays(float, (6, 2), elements=NUMBERS), strength=STRENGTHS, l1=STRENGTHS, l2=STRENGTHS)
def test_value_is_the_formula(x, strength, l1, l2):
    groups, weights = [[0, 5], [1], [2, 4, 3]], np.array([1.0, 2.0, 0.5])
    got = Groups(strength, l1, l2, groups, weights).value(x)
    want = strength * sum(w * np.linalg.norm(x[g]) for g, w in zip(groups, weights, strict=True))
    assert got == pytest.approx(want + l1 * np.abs(x).sum() + l2 / 2 * (x**2).sum(), rel=1e-12)
    sizes = Groups(strength, l1, l2, groups, "size").value(x)
    want = strength * sum(np.sqrt(len(g)) * np.linalg.norm(x[g]) for g in groups)
    assert sizes == pytest.approx(want + l1 * np.abs(x).sum() + l2 / 2 * (x**2).sum(), rel=1e-12)
    one = x[:, 0].copy()
    assert Groups(strength, l1, l2).value(one) == pytest.approx(ElasticNet(strength + l1, l2).value(one), rel=1e-12)


# The laws can fail.


class Broken:
    def __init__(self, method, change, parts):
        self.method, self.change, self.right = method, change, Block(*PARTS[parts])

    def __getattr__(self, name):
        answer = getattr(self.right, name)
        return (lambda *given: self.change(answer(*given), *given)) if name == self.method else answer


BROKEN = {
    "value scaled": Broken("value", lambda g, x: 1.001 * g, "all"),
    "value not convex": Broken("value", lambda g, x: g + 0.1 * np.sin(3 * x[0]) ** 2, "l1"),
    "value not 0 at 0": Broken("value", lambda g, x: g + 1e-9, "norm"),
    "prox scaled": Broken("prox", lambda p, v, step: 0.999 * p, "norm"),
    "prox leaves zero": Broken("prox", lambda p, v, step: p + 1e-5 * (p == 0), "sparse group"),
    "prox of the wrong step": Broken("prox", lambda p, v, step: p * (1 + 1e-4 * (step > 1)), "all"),
    "conjugate scaled": Broken("conjugate", lambda g, v: 1.001 * g, "all"),
    "conjugate finite outside": Broken("conjugate", lambda g, v: 0.0 if np.isinf(g) else g, "norm"),
    "conjugate infinite inside": Broken("conjugate", lambda g, v: g if v.any() else np.inf, "norm"),
    "gradient scaled": Broken("conjugate_gradient", lambda x, v: 1.001 * x, "elastic group"),
    "zero too far": Broken("surely_zero", lambda sure, v, radius: sure or radius < 0.6, "sparse group"),
    "never zero": Broken("surely_zero", lambda sure, v, radius: False, "norm"),
    "scale too large": Broken("feasible_scale", lambda t, v: min(1, 1.01 * t), "sparse group"),
    "scale too small": Broken("feasible_scale", lambda t, v: 0.99 * t, "sparse group"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_the_laws_catch_faults(case):
    with pytest.raises(AssertionError, match="breaks a law"):
        check_block_penalty(BROKEN[case], 3)

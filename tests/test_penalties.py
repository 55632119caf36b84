"""Penalties obey their laws, are what their formulas say, and the laws can fail."""

import numpy as np
import pytest

from southwell.penalties import ElasticNet
from southwell.testing import check_penalty
from southwell.testing._penalty_shape import check_shape, check_sums

inf = np.inf
PENALTIES = {
    "nothing": ElasticNet(),
    "l1": ElasticNet(l1=0.3),
    "l2": ElasticNet(l2=0.2),
    "both": ElasticNet(l1=0.3, l2=0.2),
    "tiny l2": ElasticNet(l1=0.1, l2=1e-5),
    "weights": ElasticNet(l1=0.3, l2=0.2, weights=[0.0, 1.0, 2.5, 0.1]),
    "weights of l1": ElasticNet(l1=0.3, weights=[0.0, 1.0, 2.5, 0.1]),
    "not negative": ElasticNet(l1=0.3, l2=0.2, lower=0.0),
    "not negative l1": ElasticNet(l1=0.3, lower=0.0),
    "box alone": ElasticNet(lower=-1.0, upper=2.0),
    "boxes": ElasticNet(l1=0.3, l2=0.2, lower=[-1.0, 0.5, -inf, 2.0], upper=[1.0, 1.0, -0.25, 2.0]),
    "boxes of l1": ElasticNet(l1=0.3, lower=[-1.0, 0.5, -inf, 2.0], upper=[1.0, inf, -0.25, 2.0]),
    "box and a free coordinate": ElasticNet(l1=1.0, weights=[0.0, 0.0, 0.0, 1.0], lower=[-inf, -1.0, 0.0, 0.0]),
}


# "l1" and "both" are coordinate 1 of those with weights.
@pytest.mark.parametrize("name", [name for name in PENALTIES if name not in ("l1", "both")])
def test_penalties_obey_their_laws(name):
    check_penalty(PENALTIES[name], 4)


def test_one_feature_obeys_the_laws():
    check_penalty(ElasticNet(l1=0.5, l2=0.1), 1)


def test_value_is_the_formula():
    x = np.array([-2.0, 0.0, 0.5, 3.0])
    core = PENALTIES["weights"].core(4)
    weights = np.array([0.0, 1.0, 2.5, 0.1])
    np.testing.assert_allclose(core.value(x), weights * (0.3 * np.abs(x) + 0.1 * x**2), rtol=1e-15)
    assert np.isinf(PENALTIES["boxes"].core(4).value(x)).tolist() == [True, True, True, True]
    assert PENALTIES["boxes"].core(4).value(np.array([-1.0, 1.0, -0.25, 2.0])).max() < inf


def test_prox_is_soft_thresholding():
    v = np.array([-2.0, 0.1, 0.5, 3.0])
    got = PENALTIES["both"].core(4).prox(v, 0.5)
    np.testing.assert_allclose(got, np.sign(v) * np.maximum(np.abs(v) - 0.15, 0) / 1.1, rtol=1e-15)


def test_weight_zero_is_free():
    core = ElasticNet(l1=0.3, l2=0.2, weights=[0.0, 1.0]).core(2)
    v = np.array([5.0, 5.0])
    assert core.value(v)[0] == 0
    assert core.prox(v, 3.0)[0] == 5
    assert core.conjugate(v)[0] == inf
    assert core.conjugate(0 * v)[0] == 0
    assert core.feasible_scale(v).tolist() == [0, 1]


def test_conjugate_towards_a_bound():
    """Pure L1 with an upper bound: above l1 the conjugate is linear, and only below -l1 is it infinite."""
    core = ElasticNet(l1=0.5, upper=2.0).core(2)
    np.testing.assert_allclose(core.conjugate(np.array([1.5, -0.5])), [2.0, 0.0])
    assert core.conjugate(np.array([1.5, -0.6]))[1] == inf
    assert core.feasible_scale(np.array([1.5, -1.0])).tolist() == [1.0, 0.5]


class Broken:
    """An elastic net with one method's answers changed."""

    def __init__(self, method, change, penalty):
        self.method, self.change, self.penalty = method, change, penalty

    def core(self, n):
        inner, method, change = self.penalty.core(n), self.method, self.change

        class Core:
            def __getattr__(self, name):
                right = getattr(inner, name)
                return (lambda *given: change(right(*given), *given)) if name == method else right

        return Core()


BROKEN = {
    "value not convex": Broken("value", lambda g, x: g + 0.01 * np.sin(x), PENALTIES["l1"]),
    "value scaled": Broken("value", lambda g, x: g * 1.001, PENALTIES["both"]),
    "value finite outside": Broken("value", lambda g, x: np.where(np.isinf(g), 9.0, g), PENALTIES["boxes"]),
    "prox scaled": Broken("prox", lambda p, v, step: p * 0.999, PENALTIES["l2"]),
    "prox leaves zero": Broken("prox", lambda p, v, step: p + 1e-5 * (p == 0), PENALTIES["l1"]),
    "prox of the wrong step": Broken("prox", lambda p, v, step: p + 1e-4 * (step > 1), PENALTIES["both"]),
    "prox outside the box": Broken("prox", lambda p, v, step: p - 1e-3, PENALTIES["not negative"]),
    "conjugate scaled": Broken("conjugate", lambda g, v: g * 1.001, PENALTIES["both"]),
    "conjugate finite outside": Broken("conjugate", lambda g, v: np.where(np.isinf(g), 0.0, g), PENALTIES["l1"]),
    "conjugate infinite inside": Broken("conjugate", lambda g, v: np.where(v == 0, inf, g), PENALTIES["l2"]),
    "scale too large": Broken("feasible_scale", lambda t, v: np.minimum(1, t * 1.01), PENALTIES["l1"]),
    "scale too small": Broken("feasible_scale", lambda t, v: t * 0.99, PENALTIES["l1"]),
    "scale above one": Broken("feasible_scale", lambda t, v: t + 0.5, PENALTIES["l2"]),
    "intercept costs": Broken("value", lambda g, x: g + 1.0 * (np.arange(g.size) >= 4), PENALTIES["l2"]),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_laws_catch_faults(case):
    with pytest.raises(AssertionError, match="breaks a law"):
        check_penalty(BROKEN[case], 4)


BROKEN_SHAPE = {
    "lower bound too low": Broken("lower", lambda lo, x: lo - 0.1, PENALTIES["box alone"]),
    "upper bound forgotten": Broken("upper", lambda hi, x: hi + inf, PENALTIES["boxes"]),
    "minimiser not the least": Broken("minimiser", lambda m, x: m + 0.1, PENALTIES["l2"]),
    "minimiser not the nearest": Broken("minimiser", lambda m, x: 0 * m, PENALTIES["nothing"]),
    "free though penalised": Broken("free", lambda f, x: f + 1, PENALTIES["l2"]),
    "slopes too large": Broken("greatest_slope", lambda s, x: s + 0.01, PENALTIES["both"]),
    "slopes at zero too few": Broken("greatest_slope", lambda s, x: s - 0.1 * (x == 0), PENALTIES["l1"]),
    "slopes end at a bound": Broken("least_slope", lambda s, x: np.maximum(s, -9.0), PENALTIES["box alone"]),
    "smooth at its kink": Broken("smooth_at", lambda s, x: s + (x == 0), PENALTIES["both"]),
    "gradient without l1": Broken("gradient", lambda d, x: d - 0.3 * np.sign(x), PENALTIES["both"]),
    "no curvature": Broken("curvature", lambda h, x: 0 * h, PENALTIES["l2"]),
    "kink too large": Broken("kink", lambda k, x: 2 * k, PENALTIES["l1"]),
    "zero stays too often": Broken("zero_is_optimal", lambda z, v: z + (np.abs(v) < 0.4), PENALTIES["l1"]),
    "zero stays never": Broken("zero_is_optimal", lambda z, v: 0 * z, PENALTIES["l1"]),
    "zero beyond its bounds": Broken("zero_is_optimal", lambda z, v: np.abs(v) < 0.3, PENALTIES["boxes"]),
    "moves cross the kink": Broken("held", lambda h, x, to: to, PENALTIES["l1"]),
    "moves leave the box": Broken("held", lambda h, x, to: to, PENALTIES["box alone"]),
    "reach too long": Broken("reach", lambda r, v: 1.1 * r, PENALTIES["both"]),
    "too convex": Broken("strong_convexity", lambda mu, x: mu + 0.1, PENALTIES["both"]),
    "ridge twice": Broken("value_with_ridge", lambda g, x, mu: g + mu / 2 * x**2, PENALTIES["l1"]),
    "ridge forgotten": Broken("prox_with_ridge", lambda p, v, step, mu: p * (1 + step * mu), PENALTIES["l1"]),
    "within too wide": Broken("value_within", lambda g, x, lo, hi: np.minimum(g, 99.0), PENALTIES["l1"]),
    "maximiser of another centre": Broken("conjugate_gradient", lambda u, v, mu, x: u - 0.1 * mu, PENALTIES["l1"]),
    "maximiser without slack": Broken("least_maximiser", lambda u, v, slack: u + 0.1, PENALTIES["both"]),
    "bregman too large": Broken("bregman", lambda d, x, u, v: d + 0.01, PENALTIES["both"]),
    "shrinkage too weak": Broken("shrunk", lambda x, v, step: 1.01 * x, PENALTIES["both"]),
    "shrinkage of the conjugate": Broken("shrunk_conjugate_gradient", lambda x, v, mu: 1.01 * x, PENALTIES["both"]),
    "sum of values": Broken("total_value", lambda total, x: 1.01 * total, PENALTIES["both"]),
    "sum of conjugates": Broken("total_conjugate", lambda total, z, scale: total + 1, PENALTIES["both"]),
    "scale of all": Broken("total_feasible_scale", lambda t, z, ridge: 0.99 * t, PENALTIES["l1"]),
    "scale that counts the ridge": Broken("total_feasible_scale", lambda t, z, ridge: 1.0 + 0 * t, PENALTIES["l2"]),
}


@pytest.mark.parametrize("case", BROKEN_SHAPE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_laws_of_shapes_and_sums_catch_faults(case):
    """Without the other laws, which take longer."""
    broken = BROKEN_SHAPE[case]
    core, box = broken.core(4), broken.penalty.by_coefficient(4, False)[2:]
    draws = np.random.default_rng(0)
    rows = np.concatenate([draws.normal(size=(15, 4)) * scale for scale in (0.01, 0.3, 2.0)])
    with pytest.raises(AssertionError, match="breaks a law"):
        check_shape(broken, core, rows, box)
        check_sums(broken, core, rows, box)

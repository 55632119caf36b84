"""Penalties obey their laws, are what their formulas say, and the laws can fail."""

import numpy as np
import pytest

from southwell.penalties import ElasticNet
from southwell.testing import check_penalty

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

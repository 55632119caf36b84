"""Losses obey their laws, are the losses their names promise, and the laws can fail."""

import pickle
from dataclasses import fields

import numpy as np
import pytest

import southwell as sw
from southwell.testing import check_loss

L = sw.losses
LOSSES = [
    *(loss() for loss in L.ALL.values()),
    L.SmoothHinge(0.01), L.SmoothHinge(7.0), L.Huber(0.05), L.Huber(12.0), L.Quantile(0.02), L.Quantile(0.9),
    L.EpsilonInsensitive(0.0), L.EpsilonInsensitive(2.5), L.Tweedie(1.02), L.Tweedie(1.3), L.Tweedie(1.9),
    L.NegativeBinomial(0.05), L.NegativeBinomial(40.0),
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_obey_their_laws(loss):
    check_loss(loss)


# phi(m; b) as a person would write it, for m and b of moderate size.
FORMULAS = {
    L.Squared(): lambda m, b: (m - b) ** 2 / 2,
    L.Logistic(): lambda m, b: np.log(1 + np.exp(-b * m)),
    L.Hinge(): lambda m, b: np.maximum(0, 1 - b * m),
    L.SquaredHinge(): lambda m, b: np.maximum(0, 1 - b * m) ** 2 / 2,
    L.SmoothHinge(0.5): lambda m, b: np.select([b * m >= 1, b * m >= 0.5], [0, (1 - b * m) ** 2], 1 - b * m - 0.25),
    L.Huber(0.8): lambda m, b: np.where(np.abs(m - b) <= 0.8, (m - b) ** 2 / 2, 0.8 * np.abs(m - b) - 0.32),
    L.Quantile(0.3): lambda m, b: 0.3 * np.maximum(b - m, 0) + 0.7 * np.maximum(m - b, 0),
    L.EpsilonInsensitive(0.2): lambda m, b: np.maximum(0, np.abs(m - b) - 0.2),
    L.SquaredEpsilonInsensitive(0.2): lambda m, b: np.maximum(0, np.abs(m - b) - 0.2) ** 2 / 2,
    L.Poisson(): lambda m, b: np.exp(m) - b * m,
    L.ModifiedHuber(): lambda m, b: np.where(b * m >= -1, np.maximum(0, 1 - b * m) ** 2, -4 * b * m),
    L.Gamma(): lambda m, b: m + b * np.exp(-m),
    L.Tweedie(1.3): lambda m, b: np.exp(0.7 * m) / 0.7 + b * np.exp(-0.3 * m) / 0.3,
    L.NegativeBinomial(2.5): lambda m, b: (b + 2.5) * np.log(1 + np.exp(m) / 2.5) - b * m,
}


def test_every_class_is_a_loss_of_the_core():
    assert {loss.name for loss in (*L._core.losses(), *L._core.class_losses())} == {*L.ALL, *L.OF_CLASSES}
    for name, loss in (L.ALL | L.OF_CLASSES).items():
        assert loss.name == name and [f.name for f in fields(loss)] == [
            p.name for p in (loss().traits.parameter,) if p is not None
        ]


@pytest.mark.parametrize("name", L.ALL)
def test_value_is_the_formula(name):
    loss = next((known for known in FORMULAS if known.name == name), None)
    if loss is None:
        pytest.skip("no formula was written for it here")
    targets = {"real": [-1.3, 0.0, 2.0], "signs": [-1.0, 1.0], "counts": [0.0, 1.0, 5.0],
               "positive": [0.01, 1.0, 5.0]}[loss.targets]  # fmt: skip
    m, b = np.meshgrid(np.linspace(-8, 8, 331), targets)
    np.testing.assert_allclose(loss.value(m, b), FORMULAS[loss](m, b), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_shapes_broadcast(loss):
    b = 1.0
    assert loss.value(np.zeros((3, 1)), np.full(4, b)).shape == (3, 4)
    assert np.ndim(loss.derivative(0.0, b)) == 0
    assert loss.maximise(np.zeros(5), 0.0, np.ones((2, 1)), b).shape == (2, 5)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_pickles_after_use(loss):
    value = loss.value(0.3, 1.0)
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert again.value(0.3, 1.0) == value


def test_logistic_keeps_its_digits_far_out():
    loss = L.Logistic()
    m = np.array([30.0, 100.0, 700.0])
    np.testing.assert_allclose(loss.value(m, 1.0), np.exp(-m), rtol=1e-12)
    np.testing.assert_allclose(loss.derivative(m, 1.0), -np.exp(-m), rtol=1e-12)
    np.testing.assert_allclose(loss.value(-m, 1.0), m, rtol=1e-12)


@pytest.mark.parametrize(
    ("m", "y0", "q", "b"),
    [
        (3.5859, 0.0, 25.208, -1.0),
        (30.0, 0.0, 100.0, -1.0),
        (-30.0, 0.0, 100.0, 1.0),
        (-30.0, 1.0, 1e6, -1.0),
        (-1000.0, 1.0, 1e6, -1.0),
    ],
)
def test_logistic_maximise_from_an_end_of_the_domain(m, y0, q, b):
    """Newton from y0 at an end starts on the flat of the sigmoid and must not bounce between the ends."""
    loss = L.Logistic()
    y = loss.maximise(m, y0, q, b)
    best = np.linspace(0, -b, 100_001)
    values = best * m - loss.conjugate(best, b) - q / 2 * (best - y0) ** 2
    assert y == pytest.approx(best[values.argmax()], abs=1e-4)


def broken(base, method, change):
    """``base`` with one method's answers changed."""

    def wrong(self, *arguments):
        return change(getattr(super(type(self), self), method)(*arguments), *arguments)

    return type(f"Broken{method.title()}", (base,), {method: wrong})()


BROKEN = {
    "value off by a little": broken(L.Logistic, "value", lambda v, m, b: v * (1 + 1e-6)),
    "value not convex": broken(L.Squared, "value", lambda v, m, b: v + 1e-4 * np.sin(30 * m)),
    "derivative scaled": broken(L.Logistic, "derivative", lambda v, m, b: v * 1.001),
    "derivative shifted": broken(L.Squared, "derivative", lambda v, m, b: v + 1e-4),
    "second derivative of the other side": broken(L.Poisson, "second_derivative", lambda v, m, b: v * 1.01),
    "second derivative above its bound": broken(L.Hinge, "second_derivative", lambda v, m, b: v + 1.0),
    "conjugate scaled": broken(L.Logistic, "conjugate", lambda v, y, b: v * 1.0001),
    "conjugate finite outside": broken(L.Hinge, "conjugate", lambda v, y, b: np.where(np.isinf(v), b * y, v)),
    "conjugate infinite inside": broken(L.Huber, "conjugate", lambda v, y, b: np.where(y == 0, np.inf, v)),
    "maximise ignores y0": broken(L.Squared, "maximise", lambda v, m, y0, q, b: v - y0 * q / (1 + q)),
    "maximise off by 1e-9": broken(L.Logistic, "maximise", lambda v, m, y0, q, b: v * (1 - 1e-9)),
    "maximise wrong at q = 0": broken(L.Poisson, "maximise", lambda v, m, y0, q, b: np.where(q == 0, v + 1, v)),
    "maximise outside": broken(L.SmoothHinge, "maximise", lambda v, m, y0, q, b: v - 1e-6 * b),
    "prox scaled": broken(L.Quantile, "prox_conjugate", lambda v, v0, step, b: v * 0.99),
    "prox of the wrong step": broken(L.Huber, "prox_conjugate", lambda v, v0, step, b: v + 1e-3 * step),
    "overflow": broken(L.Logistic, "value", lambda v, m, b: np.log1p(np.exp(-b * np.asarray(m)))),
    "wrong limit": broken(L.Logistic, "derivative", lambda v, m, b: np.where(np.abs(m) > 500, 0.0, v)),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_laws_catch_faults(case):
    with pytest.raises(AssertionError, match="breaks a law"):
        check_loss(BROKEN[case])


class TooSmooth(L.Logistic):
    smoothness = 0.2


class Jumps(L.Hinge):
    smooth, smoothness = True, 1.0


@pytest.mark.parametrize("loss", [TooSmooth(), Jumps()], ids=repr)
def test_laws_catch_a_wrong_smoothness(loss):
    with pytest.raises(AssertionError, match="smoothness"):
        check_loss(loss)


class Traits:
    """The traits of a loss, but for some."""

    def __init__(self, loss, **changes):
        self.loss, self.changes = loss, changes

    def __getattr__(self, name):
        return self.changes.get(name, getattr(self.loss, name))


@pytest.mark.parametrize(
    ("base", "changes", "law"),
    [
        (L.Logistic, {"self_concordance": 0.5}, "self_concordance"),
        (L.Huber, {"quadratic": True}, "quadratic"),
        (L.Hinge, {"targets": "real", "piecewise": True, "quadratic": True}, "quadratic"),
    ],
)
def test_laws_catch_a_wrong_trait(base, changes, law):
    loss = type("Boastful", (base,), {"traits": Traits(base().traits, **changes)})()
    with pytest.raises(AssertionError, match=law):
        check_loss(loss)


def test_the_logistic_conjugate_keeps_its_digits_where_it_is_tiny():
    """t log t + (1 - t) log(1 - t): what 1 - t loses by rounding would be more than the whole."""
    t = 10.0 ** -np.arange(1, 16, 0.5)
    exact = (t * np.log(t) + (1 - t) * np.log1p(-t)).astype(float)
    got = sw.losses.Logistic().conjugate(-t, np.ones_like(t))
    assert np.abs(got / exact - 1).max() <= 3e-15

"""Losses over several margins obey their laws, are the losses their names promise, and the laws can fail."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import southwell as sw
from southwell import _core
from southwell.testing import check_block_loss
from southwell.testing.blocks import Tasks

L = sw.losses
CLASSES = [L.Softmax(), L.MulticlassHinge(), L.MulticlassHinge(0.01), L.MulticlassHinge(7.0)]
SMOOTH = [name for name in L.ALL if L.get(name).smooth]
LAWS = [
    *((loss, k) for loss in CLASSES for k in (2, 3, 50)),
    *((Tasks(L.get(name)), k) for name in SMOOTH for k in (1, 3)),
]


@pytest.mark.parametrize(("loss", "width"), LAWS, ids=str)
def test_losses_obey_their_laws(loss, width):
    check_block_loss(loss, width)


def tables(k, far=20.0):
    return hnp.arrays(float, (4, k), elements=st.floats(-far, far, allow_subnormal=False))


@given(m=tables(3))
def test_value_is_the_formula(m):
    b = np.array([0, 1, 2, 1])
    own = m[np.arange(4), b]
    np.testing.assert_allclose(L.Softmax().value(m, b), np.log(np.exp(m).sum(axis=1)) - own, rtol=1e-12, atol=1e-12)
    # The hinge within corner/2 * ||p - e_b||^2 <= corner of the one with corners.
    sharp = np.maximum(0, (m - own[:, None] + 1 - np.eye(3)[b]).max(axis=1))
    for corner in (1.0, 0.01):
        value = L.MulticlassHinge(corner).value(m, b)
        assert (value <= sharp + 1e-12).all() and (value >= sharp - corner - 1e-12).all()


@given(m=tables(2), y=hnp.arrays(float, 4, elements=st.floats(0, 1)))
def test_two_classes_are_one_margin(m, y):
    """Softmax is the logistic loss of the difference, the multi-class hinge the smooth hinge with twice the corner."""
    b = np.array([0, 1, 1, 0])
    signs = np.where(b == 1, 1.0, -1.0)
    margin = m[:, 1] - m[:, 0]
    pairs = [(L.Softmax(), L.Logistic()), *((L.MulticlassHinge(c), L.SmoothHinge(2 * c)) for c in (1.0, 0.05, 3.0))]
    for wide, one in pairs:
        np.testing.assert_allclose(wide.value(m, b), one.value(margin, signs), rtol=1e-11, atol=1e-13)
        first = one.derivative(margin, signs)
        np.testing.assert_allclose(wide.derivative(m, b), np.stack([-first, first], axis=1), rtol=1e-11, atol=1e-13)
        dual = -signs * y
        np.testing.assert_allclose(
            wide.conjugate(np.stack([-dual, dual], axis=1), b), one.conjugate(dual, signs), rtol=1e-12, atol=1e-14
        )


def test_the_logistic_digits_are_kept_far_out():
    far = np.array([30.0, 100.0, 700.0])
    m, b = np.stack([far, 0 * far, 0 * far - 1e4], axis=1), np.zeros(3, int)
    np.testing.assert_allclose(L.Softmax().value(m, b), np.exp(-far), rtol=1e-12, atol=1e-306)
    np.testing.assert_allclose(L.Softmax().derivative(m, b)[:, 0], -np.exp(-far), rtol=1e-12, atol=1e-306)
    np.testing.assert_allclose(L.Softmax().value(-m, np.full(3, 2)), 0.0, atol=1e-306)
    np.testing.assert_allclose(L.Softmax().value(m, b + 1), far, rtol=1e-12)


@given(shift=st.floats(-1e6, 1e6), m=tables(5))
def test_a_constant_added_to_all_margins_changes_nothing(shift, m):
    b = np.array([0, 1, 4, 2])
    for loss in CLASSES[:2]:
        np.testing.assert_allclose(loss.value(m + shift, b), loss.value(m, b), atol=1e-9 * (1 + abs(shift)))
        np.testing.assert_allclose(loss.derivative(m + shift, b), loss.derivative(m, b), atol=1e-9 * (1 + abs(shift)))


@given(m=tables(6), seed=st.integers(0, 100))
def test_names_of_classes_do_not_matter(m, seed):
    b, order = np.array([0, 1, 5, 2]), np.random.default_rng(seed).permutation(6)
    for loss in CLASSES:
        np.testing.assert_allclose(loss.value(m[:, order], np.argsort(order)[b]), loss.value(m, b), rtol=1e-12)


@pytest.mark.parametrize("loss", CLASSES, ids=repr)
def test_ties_share_alike(loss):
    y = loss.derivative(np.array([[0.0, 2.0, 2.0, 2.0]]), [0])[0]
    assert y[1] == y[2] == y[3] > 0


@pytest.mark.parametrize("corner", [1.0, 0.01, 1e-6])
@pytest.mark.parametrize("far", [1e3, 1e6, 1e10, 1e17])
def test_the_hinge_grows_as_far_as_numbers_go(corner, far):
    loss = L.MulticlassHinge(corner)
    m, b = np.array([[0.0, far, -far], [0.0, far, far], [far, far, far], [0.0, far, far + corner / 4]]), [0, 0, 0, 0]
    ahead = (m[3, 2] - m[3, 1]) / corner / 2
    rounding = 1e-6 + np.finfo(float).eps * far / corner  # 1 is added to margins
    y = loss.derivative(m, b)
    np.testing.assert_allclose(y[:2], [[-1.0, 1.0, 0.0], [-1.0, 0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(y[3], [-1.0, 0.5 - ahead, 0.5 + ahead], atol=rounding)
    np.testing.assert_allclose(y[2], loss.derivative(0 * m, b)[2], atol=rounding)
    assert loss.value(m, b)[:2] == pytest.approx([far, far], rel=2 / far + 1e-12)
    assert np.isfinite(loss.conjugate(y, b)).all()


@pytest.mark.parametrize("q", [1.0, 100.0, 1e3, 1e4, 1e6, 1e10])
def test_softmax_maximise_of_two_classes_is_that_of_the_logistic_loss(q):
    """<y, m> - phi*(y) - (q/2) ||y||^2 with y = (-t, t) has twice the q."""
    rng = np.random.default_rng(0)
    m, t = rng.normal(size=(20, 2)), rng.uniform(0, 1, 20)
    t[:3] = 0.0, 1.0, 0.5
    got = L.Softmax().maximise(m, np.stack([-t, t], axis=1), q, np.zeros(20, int))
    want = L.Logistic().maximise(m[:, 1] - m[:, 0], t, 2 * q, -1.0)
    np.testing.assert_allclose(got, np.stack([-want, want], axis=1), rtol=1e-9, atol=1e-12)


@given(
    y=hnp.arrays(float, (12, 3), elements=st.floats(0.001, 1.0)),
    s=hnp.arrays(float, 12, elements=st.floats(0.01, 1.0)),
    b=hnp.arrays(np.int64, 12, elements=st.integers(0, 2)),
)
def test_balance_of_classes(y, s, b):
    b[:3] = 0, 1, 2
    s, y = s / s.sum(), y / y.sum(axis=1, keepdims=True) - np.eye(3)[b]
    for loss in CLASSES[:2]:
        got = loss.over(b, 3, s).balance(y.ravel()).reshape(12, 3)
        assert np.abs(s @ got).max() <= 1e-15 * 12
        assert np.isfinite(loss.conjugate(got, b)).all()
        assert (got + np.eye(3)[b]).min() >= -1e-15


def test_balance_of_one_sample_a_class_alone():
    """Where one class has next to no weight its samples still balance."""
    b, s = np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 1.0, 1e-12])
    s /= s.sum()
    y = np.array([[-0.5, 0.5], [-1.0, 1.0], [0.0, 0.0], [0.3, -0.3]])
    got = L.Softmax().over(b, 2, s).balance(y.ravel()).reshape(4, 2)
    assert np.abs(s @ got).max() <= 1e-15
    assert np.isfinite(L.Softmax().conjugate(got, b)).all()


@pytest.mark.parametrize("loss", CLASSES, ids=repr)
def test_pickles_and_compares(loss):
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert again.value(np.eye(3), [0, 1, 2]).tolist() == loss.value(np.eye(3), [0, 1, 2]).tolist()


def test_samples_without_weight_do_not_count():
    m, b = np.array([[0.0, 1.0], [1e308, -1e308]]), np.array([0, 1])
    for loss in CLASSES:
        over = loss.over(b, 2, np.array([1.0, 0.0]))
        assert over.value(m.ravel()) == loss.value(m[:1], b[:1])[0]
    over = _core.task_loss(L.Squared().core, 2, np.zeros(4), np.array([1.0, 0.0]), np.empty(0))
    assert over.value(np.array([1.0, 2.0, 1e300, 1e300])) == 2.5


@pytest.mark.parametrize("name", SMOOTH)
def test_tasks_are_sums_over_their_columns(name):
    loss, rng = L.get(name), np.random.default_rng(0)
    m, s = rng.normal(size=(9, 4)), rng.dirichlet(np.ones(9))
    b = np.where(rng.random((9, 4)) < 0.5, 1.0, {"counts": 0.0, "positive": 3.0}.get(loss.targets, -1.0))
    over = _core.task_loss(loss.core, 4, b.ravel(), s, np.empty(0))
    assert over.value(m.ravel()) == pytest.approx(s @ loss.value(m, b).sum(axis=1), rel=1e-14)
    np.testing.assert_allclose(over.derivative(m.ravel()), loss.derivative(m, b).ravel(), rtol=1e-14, atol=1e-15)
    y = loss.derivative(m, b)
    assert over.conjugate(y.ravel(), 0.5) == pytest.approx(s @ loss.conjugate(0.5 * y, b).sum(axis=1), rel=1e-13)
    assert over.smoothness == loss.smoothness


# The laws can fail.


def broken(base, method, change):
    def wrong(self, *arguments):
        return change(getattr(super(type(self), self), method)(*arguments), *arguments)

    return type(f"Broken{method.title()}", (base,), {method: wrong})()


BROKEN = {
    "value scaled": broken(L.Softmax, "value", lambda v, m, b: v * (1 + 1e-6)),
    "value of another class": broken(L.MulticlassHinge, "value", lambda v, m, b: v + np.asarray(m)[:, 0] * 1e-6),
    "derivative shifted": broken(L.Softmax, "derivative", lambda y, m, b: y + 1e-6),
    "derivative scaled": broken(L.MulticlassHinge, "derivative", lambda y, m, b: y * (1 - 1e-6)),
    "second derivative not coupled": broken(
        L.Softmax, "second_derivative", lambda H, m, b: H * np.eye(H.shape[1])
    ),
    "second derivative negative": broken(L.MulticlassHinge, "second_derivative", lambda H, m, b: -H),
    "conjugate scaled": broken(L.Softmax, "conjugate", lambda v, y, b: v * 1.0001),
    "conjugate finite outside": broken(L.MulticlassHinge, "conjugate", lambda v, y, b: np.where(np.isinf(v), 9.0, v)),
    "conjugate infinite at 0": broken(
        L.Softmax, "conjugate", lambda v, y, b: np.where((np.asarray(y) == 0).all(axis=1), np.inf, v)
    ),
    "maximise ignores y0": broken(L.MulticlassHinge, "maximise", lambda v, m, y0, q, b: v if q else v + 1e-3),
    "maximise off by a little": broken(L.MulticlassHinge, "maximise", lambda v, m, y0, q, b: v * (1 - 1e-9)),
    "prox scaled": broken(L.MulticlassHinge, "prox_conjugate", lambda v, *_: v * 0.99),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_laws_catch_faults(case):
    with pytest.raises(AssertionError, match="breaks a law"):
        check_block_loss(BROKEN[case], 3)


class TooSmooth(L.Softmax):
    smoothness = 0.3


def test_laws_catch_a_wrong_smoothness():
    with pytest.raises(AssertionError, match="smoothness"):
        check_block_loss(TooSmooth(), 3)


@pytest.mark.parametrize("method", ["balance", "into_domain"])
def test_laws_catch_a_wrong_domain(method):
    class Wrong(L.MulticlassHinge):
        def over(self, *given):
            right = super().over(*given)

            class Over:
                def __getattr__(self, name):
                    answer = getattr(right, name)
                    return (lambda y: answer(y) + 1e-6) if name == method else answer

            return Over()

    with pytest.raises(AssertionError, match="breaks a law"):
        check_block_loss(Wrong(), 3)

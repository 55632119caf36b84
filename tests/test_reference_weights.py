"""Reference saddle methods: weights are repetitions, and perturbed steps are what brute force finds."""

import numpy as np
import pytest

import southwell as sw
from saddle_laws import (
    BOUNDED,
    D,
    N,
    batches,
    blocks,
    data_of,
    net_of,
    norms_of,
    optimum,
    rows,
)
from southwell import reference
from southwell.penalties import ElasticNet

COPIES = np.array([1, 3, 1, 2, 1, 1, 4, 1, 2, 1, 1, 2, 1])


@pytest.mark.parametrize("copies", [np.full(N, 1), np.full(N, 2), COPIES])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_weights_are_repetition_where_all_samples_move(loss, copies, small):
    """DSPDC counts samples in its prox weight n / sigma, so sigma grows with them."""
    p, net = small(loss), net_of("elastic net")
    p.s, which = copies / copies.sum(), np.repeat(np.arange(N), copies)
    total, (tau, sigma, theta) = which.size, (0.1, 0.4, 0.8)
    more = p.A[which], p.b[which], np.full(total, 1 / total), p.loss, net
    some = batches(D, 3, 30)
    pairs = [
        (
            reference.spdc(*data_of(p, net), [range(N)] * 30, (tau, sigma, theta)),
            reference.spdc(*more, [range(total)] * 30, (tau, sigma, theta)),
        ),
        (
            reference.dspdc(*data_of(p, net), [(range(N), J) for J in some], (tau, sigma * N, theta)),
            reference.dspdc(*more, [(range(total), J) for J in some], (tau, sigma * total, theta)),
        ),
        (
            reference.dgpd(*data_of(p, net), 30, picks=(2, N), q=20.0)[:2],
            reference.dgpd(*more, 30, picks=(2, total), q=20.0)[:2],
        ),
    ]
    for (x, y), (x_more, y_more) in pairs:
        assert np.abs(x).max() > 0.01
        np.testing.assert_allclose(x_more, x, atol=1e-12)
        np.testing.assert_allclose(y_more, y[which], atol=1e-12)


def test_weights_scale_rows(small):
    """For the squared loss the problem without weights is at hand: rows sqrt(w_i) a_i, targets and duals alike."""
    p, net, steps = small("squared"), net_of("elastic net"), (0.1, 0.4, 0.8)
    root, order = np.sqrt(N * p.s), rows(N, 40)
    plain = root[:, None] * p.A, root * p.b, np.full(N, 1 / N), p.loss, net
    prob = reference.spdc_probabilities(norms_of(p))
    calls = [
        lambda *data: reference.spdc(*data, batches(N, 3, 40), steps),
        lambda *data: reference.spdc(*data, order[:, None], steps, probabilities=prob),
        lambda *data: reference.dspdc(*data, blocks(3, 2, 40), (0.1, 4.0, 2.0)),
        lambda *data: reference.saga(*data, order, 0.02),
        lambda *data: reference.sag(*data, order, 0.02),
        lambda *data: reference.svrg(*data, order, 0.02, 11),
        lambda *data: reference.dgpd(*data, 40, picks=(2, 3))[:2],
    ]
    for call in calls:
        (x, y), (x_plain, y_plain) = call(*data_of(p, net)), call(*plain)
        assert np.abs(x).max() > 0.01
        np.testing.assert_allclose(x_plain, x, atol=1e-12)
        np.testing.assert_allclose(y_plain, root * y, atol=1e-12)


METHODS = {
    "spdc": lambda data, **options: reference.spdc(*data, batches(N, 2, 50), (0.1, 0.4, 0.8), **options),
    "dspdc": lambda data, **options: reference.dspdc(*data, blocks(3, 2, 50), (0.1, 4.0, 2.0), **options),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_perturbation_around_0_is_another_problem(method, small):
    """The hinge with (corner/2) y^2 at its conjugate is the smooth hinge; (dx/2) x^2 adds to l2."""
    p, go = small("hinge"), METHODS[method]
    net, more = net_of(ElasticNet(l1=0.05, l2=0.1)), net_of(ElasticNet(l1=0.05, l2=0.4))
    smooth = sw.losses.SmoothHinge(corner=0.7)
    got = go((p.A, p.b, p.s, p.loss, net), perturb=(0.3, 0.7))
    for one, other in zip(got, go((p.A, p.b, p.s, smooth, more)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", BOUNDED)
def test_a_perturbation_around_the_solution_keeps_it(loss, method, small):
    p, net = small(loss), net_of("elastic net")
    best = optimum(p, net)
    start = {"x": best[0], "y": best[1], "perturb": (0.4, 0.6)}
    here = METHODS[method](data_of(p, net), centre=best, **start)
    away = METHODS[method](data_of(p, net), centre=(best[0] + 0.1, best[1] + 0.1), **start)
    for at, off, want in zip(here, away, best, strict=True):
        np.testing.assert_allclose(at, want, atol=1e-9)
        assert np.abs(off - want).max() > 1e-3


def test_the_arguments_stay_as_they_were(small):
    p, net = small("squared"), net_of("elastic net")
    x, y = np.full(D, 0.1), np.full(N, 0.2)
    for method in METHODS.values():
        method(data_of(p, net), x=x, y=y)
    reference.dgpd(*data_of(p, net), 5, x=x, y=y)
    for method in (reference.saga, reference.sag):
        method(*data_of(p, net), [0, 1], 0.1, x)
    reference.svrg(*data_of(p, net), [0, 1], 0.1, 1, x)
    assert (x == 0.1).all()
    assert (y == 0.2).all()

"""Laws of the cone, its penalty and the forms of the data: brute force, Fenchel-Young, adjointness, definitions."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from metrics import FORMS, in_cone, measurements, problem, symmetric
from southwell.metric import LowRank, _cone
from southwell.metric._norms import Norms, top_eigenvalue
from southwell.metric._penalty import ConePenalty
from southwell.metric._workers import Workers, slabs

SEEDS = st.integers(0, 10**6)


# The cone and its penalty


@hypothesis.given(seed=SEEDS, d=st.integers(1, 6), size=st.sampled_from([1e-8, 1.0, 1e6]))
def test_the_projection_is_the_nearest_point_of_the_cone(seed, d, size):
    rng = np.random.default_rng(seed)
    T = size * symmetric(rng, 3, d)
    X = _cone.project(T)
    for near, far in zip(X, T, strict=True):
        rest = near - far
        assert np.linalg.eigvalsh(near).min() >= -1e-13 * size and np.linalg.eigvalsh(rest).min() >= -1e-13 * size
        assert abs(np.vdot(near, rest)) <= 1e-11 * size**2
        for other in size * in_cone(rng, 20, d):
            assert np.linalg.norm(near - far) <= np.linalg.norm(other - far) + 1e-12 * size
    np.testing.assert_allclose(_cone.positive_squares(T), np.sum(X**2, axis=(1, 2)), rtol=1e-10, atol=1e-25 * size**2)


@pytest.mark.parametrize("values", [(1.0, 2.0, 3.0), (-1.0, -2.0, -3.0), (0.0, 0.0, 0.0), (-1.0, 0.0, 2.0)])
def test_the_projection_of_a_diagonal_clips_it(values):
    np.testing.assert_allclose(_cone.project(np.diag(values)[None])[0], np.diag(np.maximum(values, 0.0)), atol=1e-15)


def penalty_of(rng, p=2, d=3) -> ConePenalty:
    return ConePenalty(rng.uniform(0.1, 3.0, p), symmetric(rng, p, d), symmetric(rng, p, d))


@hypothesis.given(seed=SEEDS)
def test_the_conjugate_bounds_all_products_and_meets_one(seed):
    rng = np.random.default_rng(seed)
    g, V = penalty_of(rng), 3 * symmetric(rng, 2, 3)
    conjugate, peak = g.conjugate(V), g.peak(V)
    assert conjugate == pytest.approx(np.vdot(V, peak) - g.value(peak), rel=1e-9, abs=1e-9)
    for size in (0.0, 0.1, 1.0, 10.0):
        for X in size * in_cone(rng, 10, 2, 3):
            assert conjugate >= np.vdot(V, X) - g.value(X) - 1e-10 * (1 + abs(conjugate))


@hypothesis.given(seed=SEEDS, step=st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_proximal_step_beats_all_others(seed, step):
    rng = np.random.default_rng(seed)
    g, V, X = penalty_of(rng), symmetric(rng, 2, 3), in_cone(rng, 2, 3)

    def objective(Q):
        return np.vdot(V, Q) + g.value(Q) + g.l2 @ np.sum((Q - X) ** 2, axis=(1, 2)) / (2 * step)

    best = g.prox(X, V, step)
    for size in (0.0, 1e-4, 1e-2, 1.0):
        for other in _cone.project((best + size * symmetric(rng, 20, 2, 3)).reshape(-1, 3, 3)).reshape(-1, 2, 3, 3):
            assert objective(best) <= objective(other) + 1e-11 * abs(objective(best)) + 1e-12
    np.testing.assert_allclose(g.prox(X[1:], V[1:], step, np.array([1])), best[1:], rtol=1e-13)


# The forms of the data


def batches(data):
    n, p = data.n_samples, data.n_blocks
    some, odd = np.array([0, n // 3, n - 1]), np.arange(1, n, 2)
    yield from (
        (rows, blocks) for rows in (None, some, odd) for blocks in (None, np.array([p - 1]), np.arange(0, p, 2))
    )


@pytest.mark.parametrize("form", FORMS)
def test_products_are_those_of_the_matrices(form):
    data, D = measurements(form)
    rng = np.random.default_rng(1)
    X, c = symmetric(rng, data.n_blocks, data.size), rng.normal(size=data.n_samples)
    for rows, blocks in batches(data):
        own, at = slice(None) if blocks is None else blocks, slice(None) if rows is None else rows
        want = np.einsum("ipab,pab->i", D[at][:, own], X[own])
        adjoint = np.einsum("i,ipab->pab", c[at], D[at][:, own])
        for exact in (False, True):
            np.testing.assert_allclose(data.apply(X[own], rows, blocks, exact=exact), want, atol=1e-11)
            np.testing.assert_allclose(data.adjoint(c[at], rows, blocks, exact=exact), adjoint, atol=1e-11)
    np.testing.assert_allclose(data.squares.toarray(), np.sum(D**2, axis=(2, 3)), rtol=1e-10, atol=1e-10)


@hypothesis.given(seed=SEEDS, form=st.sampled_from(FORMS))
def test_products_are_adjoint(seed, form):
    data, _ = measurements(form, seed)
    rng = np.random.default_rng(seed)
    X, c = symmetric(rng, data.n_blocks, data.size), rng.normal(size=data.n_samples)
    there, back = c @ data.apply(X), np.vdot(data.adjoint(c), X)
    assert there == pytest.approx(back, rel=1e-10, abs=1e-9 * np.linalg.norm(c) * np.linalg.norm(X))


@pytest.mark.parametrize("form", FORMS)
def test_float32_rounds_products_but_not_exact_ones(form):
    data, D = measurements(form, dtype=np.float32)
    rng = np.random.default_rng(1)
    X, c = symmetric(rng, data.n_blocks, data.size), rng.normal(size=data.n_samples)
    want, adjoint = np.einsum("ipab,pab->i", D, X), np.einsum("i,ipab->pab", c, D)
    assert 0 < abs(data.apply(X) - want).max() < 1e-3
    np.testing.assert_allclose(data.apply(X, exact=True), want, atol=1e-11)
    np.testing.assert_allclose(data.adjoint(c, exact=True), adjoint, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_products_do_not_depend_on_the_number_of_threads(form):
    data, _ = measurements(form)
    rng = np.random.default_rng(1)
    X, c = symmetric(rng, data.n_blocks, data.size), rng.normal(size=data.n_samples)
    one = data.apply(X), data.adjoint(c)
    with Workers(3) as workers:
        other = data.apply(X, workers=workers), data.adjoint(c, workers=workers)
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


def test_low_rank_takes_terms_in_any_order():
    rng = np.random.default_rng(0)
    vectors, c = rng.normal(size=(20, 3)), rng.normal(size=20)
    samples, blocks, order = rng.integers(0, 5, 20), rng.integers(0, 2, 20), rng.permutation(20)
    one = LowRank(vectors, c, samples, blocks)
    other = LowRank(vectors[order], c[order], samples[order], blocks[order])
    np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-14)


# What steps are made of


@pytest.mark.parametrize("form", FORMS)
def test_norms_hold_for_every_batch_tried(form):
    data, D = measurements(form)
    rng = np.random.default_rng(2)
    s, l2 = rng.uniform(0.3, 2.0, data.n_samples), rng.uniform(0.2, 2.0, data.n_blocks)
    s /= s.sum()
    norms = Norms(data, s, l2)
    A = np.sqrt(s.size * s)[:, None, None, None] * D / np.sqrt(l2)[:, None, None]
    whole = A.reshape(len(A), -1)
    np.testing.assert_allclose(norms.rows, np.linalg.norm(whole, axis=1), rtol=1e-10)
    top = norms.coupling(data.n_samples, data.n_blocks)
    assert 1 <= top / np.linalg.norm(whole, 2) ** 2 <= 1.1 * norms.MARGIN + 1
    for m, q in ((1, 1), (3, 1), (5, min(2, data.n_blocks)), (data.n_samples, data.n_blocks)):
        bound = norms.coupling(m, q)
        for _ in range(20):
            I, J = rng.choice(len(A), m, replace=False), rng.choice(data.n_blocks, q, replace=False)
            assert np.linalg.norm(A[I][:, J].reshape(m, -1), 2) ** 2 <= bound * (1 + 1e-9)
    beta = norms.overlap(data.n_samples)  # A A' is at most beta times its diagonal
    rest = beta * np.diag(norms.rows**2) - whole @ whole.T
    assert np.linalg.eigvalsh(rest).min() >= -0.02 * norms.rows.max() ** 2
    assert norms.overlap(1) == 1.0


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_the_top_eigenvalue(n):
    rng = np.random.default_rng(n)
    M = in_cone(rng, n) if n > 1 else np.ones((1, 1))
    assert 0.98 <= top_eigenvalue(lambda v: M @ v, n) / np.linalg.eigvalsh(M)[-1] <= 1.05
    assert top_eigenvalue(lambda v: 0 * v, n) == 0.0


@hypothesis.given(size=st.integers(0, 100), width=st.integers(1, 50), entries=st.integers(1, 200))
def test_slabs_cover_all_rows_once(size, width, entries):
    rows = [i for where in slabs(size, width, entries) for i in range(where.start, where.stop)]
    assert rows == list(range(size))


def test_the_certificate_is_that_of_the_definition():
    """P and D by plain formulas, with weights, centres, linear parts and l2 of their own."""
    risk, rng = problem(), np.random.default_rng(5)
    x, y = in_cone(rng, 3, 4), -risk.targets * rng.uniform(0, 1, 30)
    D = risk.data.flat.reshape(30, 3, 4, 4)
    g = risk.penalty
    m, W = np.einsum("ipab,pab->i", D, x), np.einsum("i,ipab->pab", risk.weights * y, D)
    primal = risk.weights @ risk.loss.value(m, risk.targets)
    dual = -risk.weights @ risk.loss.conjugate(y, risk.targets)
    for j in range(3):
        primal += g.l2[j] / 2 * np.sum((x[j] - g.centre[j]) ** 2) + np.vdot(g.linear[j], x[j])
        T = g.centre[j] - (W[j] + g.linear[j]) / g.l2[j]
        values, vectors = np.linalg.eigh(T)
        Q = vectors * np.maximum(values, 0) @ vectors.T
        dual -= np.vdot(-W[j] - g.linear[j], Q) - g.l2[j] / 2 * np.sum((Q - g.centre[j]) ** 2)
    proof = risk.certify(x, y)
    assert proof.primal == pytest.approx(primal, rel=1e-12) and proof.dual == pytest.approx(dual, rel=1e-12)
    assert proof.gap == proof.primal - proof.dual > 0

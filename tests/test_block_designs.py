"""Products with several vectors at once are those with the dense matrix, whatever way data are stored."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import southwell as sw


def sparse(make, index):
    def convert(A):
        A = make(A)
        A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
        return A

    return convert


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "csr32": sparse(sp.csr_array, np.int32),
    "csc32": sparse(sp.csc_array, np.int32),
    "csr64": sparse(sp.csr_matrix, np.int64),
    "csc64": sparse(sp.csc_matrix, np.int64),
}
WIDTHS = [1, 2, 3, 7, 8, 9, 20, 33]
NUMBERS = st.one_of(st.just(0.0), st.floats(-100.0, 100.0, width=32, allow_subnormal=False))
MATRICES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=8).flatmap(
    lambda s: hnp.arrays(float, s, elements=NUMBERS)
)


def frame(A, dense, intercept, centred=False):
    """A problem over A, and what its layouts stand for in the core's own coordinates."""
    problem = sw.Problem(sw.Centred(A) if centred else A, np.zeros(dense.shape[0]), intercept=intercept)
    full = dense if problem.shifts is None else dense + problem.shifts
    return problem, np.column_stack([full, np.ones((len(dense), int(intercept)))])


def agree(layout, full, width, rng, rounding, means=0.0):
    n, d = full.shape
    X, U = rng.normal(size=(d, width)), rng.normal(size=(n, width))
    AX = layout.apply_wide(X.ravel(), width).reshape(n, width)
    AU = layout.adjoint_wide(U.ravel(), width).reshape(d, width)
    size = 1 + np.abs(full).max() + 2 * np.abs(means).max()  # of what was added to make an entry
    np.testing.assert_allclose(AX, full @ X, rtol=0, atol=rounding * size * d)
    np.testing.assert_allclose(AU, full.T @ U, rtol=0, atol=rounding * size * n)
    assert (AX * U).sum() == pytest.approx((X * AU).sum(), abs=rounding * size * n * d * width)
    # One at a time they are the same, but for the order of sums.
    for c in {0, width // 2, width - 1}:
        np.testing.assert_allclose(layout.apply(X[:, c].copy()), AX[:, c], rtol=0, atol=rounding * size * d)
        np.testing.assert_allclose(layout.adjoint(U[:, c].copy()), AU[:, c], rtol=0, atol=rounding * size * n)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
@given(dense=MATRICES, width=st.sampled_from(WIDTHS), intercept=st.booleans(), centred=st.booleans())
def test_products_agree_with_numpy_in_every_layout(layout, dtype, dense, width, intercept, centred):
    problem, full = frame(LAYOUTS[layout](dense.astype(dtype)), dense, intercept, centred)
    for by_columns in (True, False):
        agree(problem.layout(by_columns), full, width, np.random.default_rng(0), 1e-14, dense)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(700, 30), (30, 700), (1, 40), (1500, 1), (1025, 513)])
def test_products_of_long_fibers_agree_with_numpy(layout, shape, width):
    """Longer than the stretches in which shifted columns are read."""
    rng = np.random.default_rng(1)
    dense = rng.normal(size=shape) * (rng.random(shape) < 0.3) + 3
    for intercept in (False, True):
        problem, full = frame(LAYOUTS[layout](dense), dense, intercept)
        for by_columns in (True, False):
            agree(problem.layout(by_columns), full, width, rng, 1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_without_entries_are_zero(layout):
    problem, full = frame(LAYOUTS[layout](np.zeros((5, 4))), np.zeros((5, 4)), True)
    for by_columns in (True, False):
        agree(problem.layout(by_columns), full, 3, np.random.default_rng(2), 1e-15)


def test_large_means_lose_no_digits():
    dense = 1e6 + np.random.default_rng(0).normal(size=(600, 3))
    dense[:, 2] = 1e6
    for order in (np.ascontiguousarray, np.asfortranarray):
        problem, full = frame(order(dense), dense, True)
        assert np.abs(full[:, 2]).max() == 0
        for by_columns in (True, False):
            agree(problem.layout(by_columns), full, 9, np.random.default_rng(2), 1e-13)


def test_read_only_views_and_other_formats():
    full = np.random.default_rng(1).normal(size=(12, 10)).round(2)
    full.setflags(write=False)
    for A in (full[::2, 1::3], full.T, sp.coo_array(full), sp.lil_array(full), sp.bsr_array(full)):
        dense = A.toarray() if sp.issparse(A) else np.array(A)
        problem, _ = frame(A, dense, False)
        agree(problem.ready_layout(), dense, 5, np.random.default_rng(3), 1e-14)


@pytest.mark.parametrize("width", [0, -1, 2])
def test_sizes_that_do_not_fit_are_refused(width):
    layout = sw.Problem(np.ones((5, 4)), np.zeros(5)).ready_layout()
    for product, size in ((layout.apply_wide, 4), (layout.adjoint_wide, 5)):
        with pytest.raises((ValueError, TypeError)):
            product(np.ones(size * 3), width)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["classes", "tasks", "groups"])
def test_several_threads_give_the_same_bits(layout, kind):
    rng = np.random.default_rng(5)
    n, d = 3000, 80
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    m = dense[:, :4] @ rng.normal(size=(4, 3)) + rng.normal(size=(n, 3))
    b, loss = {"classes": (m.argmax(axis=1), "softmax"), "tasks": (m, "squared"), "groups": (m[:, 0], "huber")}[kind]
    penalty = sw.penalties.Groups(0.02, groups=np.arange(d) // 4, l2=1e-3)
    problem = sw.BlockProblem(LAYOUTS[layout](dense), b, loss, penalty, intercept=True)
    results = [sw.solve(problem, tol=1e-8, n_threads=threads) for threads in (1, 2, 3, 7)]
    for r in results[1:]:
        np.testing.assert_array_equal(r.x, results[0].x)
        np.testing.assert_array_equal(r.y, results[0].y)
        assert r.gap == results[0].gap
    sw.set_num_threads(2)
    try:
        np.testing.assert_array_equal(sw.solve(problem, tol=1e-8).x, results[0].x)
    finally:
        sw.set_num_threads(None)

"""Unpenalised columns beyond the number of which a Gram matrix is factored."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import _core

MANY = _core.FACTORED_COLUMNS + 50
ROWS = 2 * MANY


def near_twins(distance, rng):
    """Unit columns and two that differ by `distance` times a column; targets along the difference; and the optimum.

    The unit columns fit their rows exactly, so two columns on the other rows are left.
    """
    u, v = rng.standard_normal((2, ROWS))
    twin = u + distance * v
    A = sp.hstack([sp.eye(ROWS, MANY - 2), sp.csc_array(np.column_stack([u, twin]))], format="csc")
    b = v + 0.1 * rng.standard_normal(ROWS)
    u, difference, left = (
        column[MANY - 2 :]
        for column in (u.astype(np.longdouble), twin.astype(np.longdouble) - u, b.astype(np.longdouble))
    )
    for column in (u, difference - u * (u @ difference) / (u @ u)):
        if column.any():
            left = left - column * (column @ left) / (column @ column)
    return A, b, float(left @ left / (2 * ROWS))


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("distance", [1e-6, 1e-8, 1e-10, 1e-12, 1e-14])
def test_no_bound_is_above_the_optimum_of_nearly_dependent_columns(distance, blocks):
    A, b, optimum = near_twins(distance, np.random.default_rng(0))
    problem = sw.BlockProblem(A, np.column_stack([b, 2 * b])) if blocks else sw.Problem(A, b)
    optimum *= 5 if blocks else 1
    with pytest.warns(sw.ConvergenceWarning, match=f"{MANY} coefficients are unpenalised.*Remove dependent columns"):
        r = sw.solve(problem, tol=1e-6, max_epochs=20)
    assert r.status is not sw.Status.CONVERGED
    assert r.dual <= optimum * (1 + 1e-12)


def well_conditioned(rng):
    A = sp.random_array((ROWS + 500, MANY), density=0.004, format="csc", rng=rng, data_sampler=rng.standard_normal)
    return A + sp.eye_array(*A.shape, format="csc")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_well_conditioned_columns_are_proven(loss, intercept):
    rng = np.random.default_rng(1)
    A = well_conditioned(rng)
    b = A @ rng.standard_normal(A.shape[1]) + 3 * rng.standard_normal(A.shape[0])
    if loss == "logistic":
        b, A = np.sign(b + 5 * rng.logistic(size=b.size)), A.tocsr()
    r = sw.solve(A, b, loss=loss, intercept=intercept, tol=1e-6)
    assert r.status is sw.Status.CONVERGED


@pytest.mark.parametrize(
    ("form", "intercept"),
    [(sp.csc_array, False), (sp.csc_array, True), (sp.csr_array, True), (sp.csc_array.toarray, True)],
)
def test_copies_and_zero_columns_are_dropped(form, intercept):
    """Leaving them out changes nothing."""
    rng = np.random.default_rng(2)
    A = well_conditioned(rng)
    b = A @ rng.standard_normal(A.shape[1]) + rng.standard_normal(A.shape[0])
    more = sp.hstack([A, A[:, :7], sp.csc_array((A.shape[0], 3)), A[:, :2]], format="csc")
    few = sw.solve(A, b, intercept=intercept, tol=1e-8)
    many = sw.solve(form(more), b, intercept=intercept, tol=1e-8)
    assert few.status is many.status is sw.Status.CONVERGED
    assert abs(few.primal - many.primal) <= 2e-8 * few.scale


def test_blocks_of_many_unpenalised_features_are_proven():
    rng = np.random.default_rng(3)
    A = well_conditioned(rng)
    b = rng.standard_normal((A.shape[0], 2))
    assert sw.solve(A, b, intercept=True, tol=1e-6).status is sw.Status.CONVERGED


@pytest.mark.parametrize("size", [1, 2, 30, 120])
@pytest.mark.parametrize("least", [1.0, 0.1, 1e-3, 1e-5, 1e-9, 0.0])
def test_the_least_eigenvalue_is_bounded_from_below(size, least):
    """Within a factor of 16 where it is found, and not found where it is tiny."""
    rng = np.random.default_rng(size)
    values = np.append(np.linspace(min(2 * least + 0.01, 1), 2, size - 1), least)
    basis = np.linalg.qr(rng.standard_normal((size, size)))[0]
    bound = _core.least_eigenvalue_above(basis * values @ basis.T)
    assert bound < max(least, 1e-300) or bound == 0
    if least >= 1e-3:
        assert bound >= min(least, 1.0) / 17
    if least <= 1e-9:
        assert bound == 0

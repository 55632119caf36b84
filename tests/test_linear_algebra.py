"""Gram matrices and Cholesky factors, made of blocks that the BLAS of SciPy multiplies."""

import subprocess
import sys

import numpy as np
import pytest

import southwell as sw
from southwell import _blas, _core

_blas.use()
SIZES = [1, 2, 31, 32, 33, 64, 65, 100, 193]


def positive_definite(size, seed=0):
    rows = np.random.default_rng(seed).normal(size=(size, size + 5))
    return rows @ rows.T / size + 0.1 * np.eye(size)


def test_blas_of_scipy_is_used():
    sw.Problem(np.eye(2), [1.0, 2.0])
    assert _core.has_blas()


def test_scipy_is_imported_with_the_first_data():
    code = (
        "import sys, southwell as sw; assert not [name for name in sys.modules if name.startswith('scipy')]; "
        "assert sw.solve([[1.0], [2.0]], [1.0, 2.0]).status; assert 'scipy.linalg' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
def test_the_factor_solves_systems(size, part):
    H, x = positive_definite(size), np.random.default_rng(1).normal(size=size)
    assert np.allclose(_core.solve_symmetric(H, H @ x, int(part * size)), x, rtol=0, atol=1e-11)


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_factor_without_a_row(size, place):
    H, gone = positive_definite(size), int(place * (size - 1))
    rest = np.delete(np.delete(H, gone, 0), gone, 1)
    x = np.random.default_rng(1).normal(size=size - 1)
    assert np.allclose(_core.solve_symmetric(H, rest @ x, 0, gone), x, rtol=0, atol=1e-10)


@pytest.mark.parametrize("size", [2, 33, 70])
@pytest.mark.parametrize("one_by_one", [0, 2])
def test_dependent_rows_are_refused(size, one_by_one):
    rows = np.random.default_rng(0).normal(size=(size, 2 * size))
    rows[-1] = rows[: size - 1].sum(axis=0)
    assert _core.solve_symmetric(rows @ rows.T, np.ones(size), one_by_one) is None


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("length", [1, 3, 255, 256, 257, 600])
@pytest.mark.parametrize("part", [0.0, 0.4])
def test_inner_products_agree_with_numpy(count, length, part):
    lines, first = np.random.default_rng(2).normal(size=(count, length)), int(part * count)
    found = np.tril(_core.inner_products(lines, first).reshape(count, count))
    expected = np.tril(lines @ lines.T)
    expected[:first] = 0
    assert np.allclose(found, expected, rtol=0, atol=1e-12 * length)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_newton_steps_on_dense_data_do_not_depend_on_threads(loss):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(1500, 400)) + rng.normal(size=(1500, 1))
    b = np.sign(A @ rng.normal(size=400))
    found = [sw.solve(A, b, loss=loss, l1=1e-3, tol=1e-10, n_threads=n).x for n in (1, 2, 3)]
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()

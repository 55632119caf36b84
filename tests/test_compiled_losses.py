"""Compiled losses of one's own: addresses, functions of ctypes, numba, and C++ from the headers that are shipped."""

import ctypes
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import southwell as sw

Compiled = sw.losses.Compiled
SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.POINTER(ctypes.c_double)] * 3)


def batch(function):
    def loop(n, m, b, out):
        for i in range(n):
            out[i] = function(m[i], b[i])

    return SIGNATURE(loop)


VALUE, DERIVATIVE = batch(lambda m, b: (m - b) ** 2 / 2), batch(lambda m, b: m - b)


@pytest.mark.parametrize("given", [
    (VALUE, DERIVATIVE), (ctypes.cast(VALUE, ctypes.c_void_p).value, ctypes.cast(DERIVATIVE, ctypes.c_void_p).value),
], ids=["functions", "addresses"])  # fmt: skip
def test_it_is_solved_like_the_built_in_one(given):
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(60, 8)), rng.normal(size=60)
    got, want = sw.solve(A, b, loss=Compiled(*given), l1=0.05), sw.solve(A, b, l1=0.05)
    assert got.status and got.primal == pytest.approx(want.primal, abs=2e-6 * want.scale)


@pytest.mark.parametrize("given", [None, 0, -1, "value", True, int, 3.5])
def test_what_is_no_function_is_refused(given):
    with pytest.raises(TypeError, match="value must be a Python function"):
        Compiled(given, DERIVATIVE)


def test_wrong_functions_are_refused_too():
    with pytest.raises(ValueError, match="not that of its value"):
        sw.solve(np.eye(2), [0.0, 1.0], loss=Compiled(VALUE, batch(lambda m, b: 3 * (m - b))), l1=0.1)


def test_addresses_are_not_pickled():
    import pickle

    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Compiled(VALUE, DERIVATIVE))


def test_numba_compiles_python_functions():
    pytest.importorskip("numba")
    loss = Compiled(
        lambda m, b: max(-b * m, 0.0) + math.log1p(math.exp(-abs(m))), lambda m, b: -b / (1 + math.exp(b * m)),
        targets="signs", name="logit",
    )  # fmt: skip
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(80, 8)), rng.choice([-1.0, 1.0], 80)
    got, want = (sw.solve(A, b, loss=one, l1=0.01, intercept=True) for one in (loss, "logistic"))
    assert got.status and got.primal == pytest.approx(want.primal, abs=2e-6 * want.scale)


def test_without_numba_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    with pytest.raises(ImportError, match=r"southwell\[numba\]"):
        Compiled(lambda m, b: m, DERIVATIVE)


MINE = """
#include "core/losses/batch.hpp"
struct PseudoHuber {
  static double value(double m, double b) { return std::sqrt(1 + (m - b) * (m - b)) - 1; }
  static double derivative(double m, double b) { return (m - b) / std::sqrt(1 + (m - b) * (m - b)); }
  static double second_derivative(double m, double b) { return std::pow(1 + (m - b) * (m - b), -1.5); }
};
SOUTHWELL_BATCH(pseudo_huber, PseudoHuber)
"""


def test_the_headers_that_are_shipped_make_one(tmp_path):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    assert (Path(sw.get_include()) / "core" / "concepts.hpp").is_file()
    (tmp_path / "mine.cpp").write_text(MINE)
    options = ["-std=c++20", "-O2", "-shared", "-fPIC", f"-I{sw.get_include()}"]
    subprocess.run([compiler, *options, "mine.cpp", "-o", "mine.so"], cwd=tmp_path, check=True)
    made = ctypes.CDLL(str(tmp_path / "mine.so"))
    loss = Compiled(made.pseudo_huber_value, made.pseudo_huber_derivative, made.pseudo_huber_second_derivative)
    m = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(loss.value(m, 0 * m), np.sqrt(1 + m**2) - 1)
    assert sw.solve(np.eye(3), [1.0, 5.0, 9.0], loss=loss, l1=0.01).status

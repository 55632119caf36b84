"""Damaged sparse matrices are refused in words at every public entry, before compiled code reads them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from broken_sparse import DAMAGES, damaged
from southwell._sparse import sound

SCRIPT = Path(__file__).with_name("broken_sparse.py")
RNG = np.random.default_rng(0)
A = RNG.normal(size=(12, 6)) * (RNG.random((12, 6)) < 0.6)
FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]


def outcomes(first: int, every: int) -> tuple[list[tuple[str, str]], int | None]:
    """What the cases from ``first`` on came to, in a process of their own, and which one ended that process."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(first), str(every)], capture_output=True, text=True, check=False, timeout=850,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    cases, said = {}, {}
    for line in done.stdout.splitlines():
        number, mark, rest = line.partition("|") if "|" in line.split("=")[0] else line.partition("=")
        (cases if mark == "|" else said)[int(number)] = rest
    assert cases, done.stderr[-2000:]
    ended = max(cases) if done.returncode != 0 else None
    told = [(case, said.get(number, f"the process ended with {done.returncode}")) for number, case in cases.items()]
    return told, ended


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_every_entry_refuses_every_damage(every):
    """In another process, which is started again behind a case that ended it."""
    told, ended = outcomes(0, every)
    for _ in range(20):
        if ended is None:
            break
        more, ended = outcomes(ended + 1, every)
        told += more
    assert len(told) > 15_000 // every
    wrong = [f"{case}: {said}" for case, said in told if said != "'refused'"]
    assert not wrong, f"{len(wrong)} of {len(told)}:\n" + "\n".join(wrong[:50])


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("form", ["array", "matrix"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.bool_])
def test_sound_matrices_are_read_as_they_are(kind, form, dtype):
    given = getattr(sp, f"{kind}_{form}")(A.astype(dtype))
    read = sound(given)
    assert read.format == (kind if kind == "csc" else "csr") and read.dtype == dtype
    assert isinstance(read, sp.spmatrix) == (form == "matrix")
    np.testing.assert_array_equal(read.toarray(), A.astype(dtype))
    read.check_format(full_check=True)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_arrays_are_shared(kind):
    given = getattr(sp, f"{kind}_array")(A)
    read = sound(given)
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(read, name), getattr(given, name))
    assert read.has_canonical_format


def test_order_and_repetition_are_noticed():
    given = sp.csr_array((np.ones(3), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))
    read = sound(given)
    assert not read.has_canonical_format
    np.testing.assert_array_equal(read.toarray(), [[2.0, 0.0, 1.0]])


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (0, 5), (5, 0)])
def test_matrices_without_entries_are_read(kind, shape):
    read = sound(getattr(sp, f"{kind}_array")(shape))
    assert read.shape == shape and read.nnz == 0


def test_diagonals_beyond_the_corners_are_empty():
    given = sp.dia_array((np.ones((3, 4)), [0, 3, -2]), shape=(3, 4))
    plain = given.toarray()
    given.offsets = np.array([0, 3, -(2**40)])
    plain[2, 0] = 0.0
    np.testing.assert_array_equal(sound(given).toarray(), plain)


def test_unsigned_and_wide_indices_are_read():
    for index in (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int64):
        given = sp.csr_array(A)
        given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
        np.testing.assert_array_equal(sound(given).toarray(), A)


@pytest.mark.parametrize("kind", FORMATS)
def test_the_message_names_what_was_given(kind):
    name = next(iter(DAMAGES[kind]))
    with pytest.raises((TypeError, ValueError), match=r"^targets is broken: .* Build it again"):
        sound(damaged(kind, name, A, as_matrix=False), "targets")


def test_estimators_speak_of_x_and_y():
    bad = sp.csr_array(A)
    bad.indices[0] = 2**31 - 1
    model = sw.Lasso(alpha=0.1).fit(A, A[:, 0])
    with pytest.raises(ValueError, match=r"^X is broken: "):
        model.predict(bad)
    with pytest.raises(ValueError, match=r"^y is broken: "):
        sw.Lasso().fit(A, bad)
    with pytest.raises(ValueError, match=r"^Y is broken: "):
        sw.solve_many(A, bad)

"""Proof files: what is written, and that nothing damaged or about other data is verified."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import southwell as sw
from proofs import contents, edit, pack, solved
from southwell.check import matrices, verify
from southwell.cli import main
from southwell.penalties import ElasticNet
from southwell.proof_files import write_proof
from test_check import lasso_by_hand


@pytest.fixture
def exact(tmp_path):
    """A proof whose claims are the optimum itself: any other problem or point makes them false."""
    return lasso_by_hand(tmp_path)


def up(value):
    return np.nextafter(value, np.inf)


def down(value):
    return np.nextafter(value, -np.inf)


def change_text(*keys, to):
    def change(text, _):
        for key in keys[:-1]:
            text = text[key]
        text[keys[-1]] = to(text[keys[-1]]) if callable(to) else to

    return change


def change_array(name, place, to):
    def change(_, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = to(arrays[name][place])

    return change


def hexed(to):
    return lambda text: float(to(float.fromhex(text))).hex()


SMALLEST = {
    f"{name}{list(place)} {to.__name__}": change_array(name, place, to)
    for name, places in {
        "x": [(0, 0), (1, 0)], "y": [(0, 0), (1, 0), (3, 0)], "weights": [(0,), (3,)], "b": [(0, 0), (3, 0)],
    }.items()
    for place in places
    for to in (up, down)
}  # fmt: skip
SMALLEST |= {
    f"{key} {to.__name__}": change_text(*keys, key, to=hexed(to))
    for *keys, key, to in [
        ("problem", "penalty", "l1", up), ("problem", "penalty", "l1", down), ("problem", "penalty", "l2", up),
        ("claims", "primal_at_most", down), ("claims", "dual_at_least", up),
    ]
}  # fmt: skip


@pytest.mark.parametrize("name", SMALLEST)
@pytest.mark.parametrize("rehash", [False, True])
def test_the_smallest_change_of_a_number_is_refused(exact, name, rehash):
    path, other, A, b = exact
    edit(path, other, SMALLEST[name], rehash)
    verdict = verify(other, A, b)
    assert not verdict
    assert verdict.reasons


def replaced(name, value):
    return lambda text, arrays: arrays.update({name: value(arrays[name])})


def with_array(name, value):
    """A further array, which takes the last number."""

    def change(text, arrays):
        text["arrays"][name] = len(arrays)
        arrays[name] = value

    return change


LARGE = {
    "nan in x": change_array("x", (0, 0), lambda _: np.nan),
    "infinity in y": change_array("y", (0, 0), lambda _: np.inf),
    "nan in weights": change_array("weights", 0, lambda _: np.nan),
    "negative weight": change_array("weights", 0, lambda _: -0.25),
    "an intercept without one": change_array("intercept", 0, lambda _: 1e-300),
    "x of another shape": replaced("x", lambda x: x[:1]),
    "x flat": replaced("x", np.ravel),
    "y of another shape": replaced("y", lambda y: np.vstack([y, y])),
    "x in float32": replaced("x", lambda x: x.astype(np.float32)),
    "x of objects": replaced("x", lambda x: np.array(["1.375", "0.625"]).reshape(2, 1)),
    "l1 negative": change_text("problem", "penalty", "l1", to=(-0.25).hex()),
    "l1 nan": change_text("problem", "penalty", "l1", to="nan"),
    "l1 a number": change_text("problem", "penalty", "l1", to=0.25),
    "l1 not as hex writes it": change_text("problem", "penalty", "l1", to="0x1p-2"),
    "another penalty": change_text("problem", "penalty", "kind", to="groups"),
    "an unknown penalty": change_text("problem", "penalty", "kind", to="none"),
    "another loss": change_text("problem", "loss", to="epsilon_insensitive"),
    "a loss of other targets": change_text("problem", "loss", to="hinge"),
    "an unknown loss": change_text("problem", "loss", to="zero"),
    "a loss that is no text": change_text("problem", "loss", to=["squared"]),
    "a parameter": change_text("problem", "parameter", to=(1.0).hex()),
    "an intercept": change_text("problem", "intercept", to=True),
    "an intercept of 1": change_text("problem", "intercept", to=1),
    "more samples": change_text("problem", "samples", to=5),
    "huge samples": change_text("problem", "samples", to=10**30),
    "no features": change_text("problem", "features", to=0),
    "more outputs": change_text("problem", "outputs", to=2),
    "centred data": change_text("problem", "data", to="centred"),
    "factorised data": change_text("problem", "data", to="factorised"),
    "primal infinite": change_text("claims", "primal_at_most", to="inf"),
    "primal below dual": change_text("claims", "primal_at_most", to=(0.5).hex()),
    "dual far above primal": change_text("claims", "dual_at_least", to=(1e3).hex()),
    "dual much above": change_text("claims", "dual_at_least", to=hexed(lambda v: v + 1)),
    "a later version": change_text("version", to=2),
    "version true": change_text("version", to=True),
    "another format": change_text("format", to="southwell model"),
    "a hash of A": change_text("sha256", "A", to="0" * 64),
    "a hash of b": change_text("sha256", "b", to="0" * 64),
    "a hash of weights": change_text("sha256", "weights", to=None),
    "no claims": lambda text, _: text.pop("claims"),
    "one more key": lambda text, _: text.update(remark="trust me"),
    "one more array": with_array("means", np.zeros(2)),
    "bounds without x": with_array("upper", np.array([1.0, 1.0])),
    "bounds without room": with_array("lower", np.array([np.inf, 0.0])),
    "penalty weights": with_array("penalty_weights", np.array([1.0, up(1.0)])),
    "names of arrays swapped": change_text("arrays", to=lambda a: a | {"x": a["y"], "y": a["x"]}),
    "one array twice": change_text("arrays", to=lambda a: a | {"x": a["y"]}),
    "arrays in a list": change_text("arrays", to=[0, 1, 2, 3, 4]),
    "deeply nested": change_text("problem", to=lambda p: json.loads("[" * 400 + "]" * 400)),
}


@pytest.mark.parametrize("name", LARGE)
def test_damage_is_refused_with_a_reason(exact, name):
    path, other, A, b = exact
    edit(path, other, LARGE[name], rehash=name == "negative weight")
    verdict = verify(other, A, b)
    assert not verdict
    assert all(verdict.reasons)
    assert verdict.gap == np.inf
    assert "NOT VERIFIED" in str(verdict)


def test_what_is_written_is_what_is_read(exact):
    path, _, A, b = exact
    verdict = verify(path, A, b)
    assert verdict
    assert "4 samples of equal weight, 2 features, 1 output, matrix data; squared loss" in verdict.statement
    text, arrays = contents(path)
    assert (text["format"], text["version"], text["written_by"]) == (
        "southwell proof", 1, f"southwell {sw.__version__}",
    )  # fmt: skip
    assert {name: array.shape for name, array in arrays.items()} == {
        "x": (2, 1), "intercept": (1,), "y": (4, 1), "weights": (4,), "b": (4, 1),
    }  # fmt: skip


# The file as bytes


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(data=st.data())
def test_flipped_bits_are_refused_or_change_nothing(exact, data):
    """A bit of a date in the archive's folder says nothing about the proof; all others are noticed."""
    path, other, A, b = exact
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, 8 * len(content) - 1))
    content[place // 8] ^= 1 << place % 8
    other.write_bytes(content)
    if verify(other, A, b):
        (text, arrays), (own_text, own_arrays) = contents(path), contents(other)
        assert text == own_text
        assert all(np.array_equal(arrays[name], own_arrays[name]) for name in arrays)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True))
def test_truncated_files_are_refused(exact, share):
    path, other, A, b = exact
    content = path.read_bytes()
    other.write_bytes(content[: int(share * len(content))])
    assert not verify(other, A, b)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_files_of_anything_are_refused(exact, content):
    _, other, A, b = exact
    other.write_bytes(content)
    assert not verify(other, A, b)


def test_members_that_are_swapped_compressed_missing_or_double_are_refused(exact):
    path, other, A, b = exact
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    pack(other, members)
    assert verify(other, A, b)
    names = [name for name in members if name != "proof.json"]
    for first in names:
        for second in names[names.index(first) + 1 :]:
            pack(other, members | {first: members[second], second: members[first]})
            assert not verify(other, A, b), (first, second)
    for name in members:
        pack(other, {key: content for key, content in members.items() if key != name})
        assert not verify(other, A, b)
    pack(other, members | {"9.npy": members["0.npy"]})
    assert not verify(other, A, b)
    pack(other, members | {"proof.json": b"[1]"})
    assert not verify(other, A, b)
    pack(other, members | {"proof.json": members["proof.json"][:-1] + b', "version": 1}'})
    assert not verify(other, A, b)
    with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert "compressed" in verify(other, A, b).reasons[0]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
def test_only_regular_files_are_read(exact, tmp_path):
    _, _, A, b = exact
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        assert verify(path, A, b).reasons == ("it is not a regular file",)
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "nothing", A, b)


# The data


def test_the_hash_does_not_depend_on_layout_width_or_stored_zeros():
    A = np.array([[0.0, 1.5, 0.0], [-2.0, 0.0, 0.25], [0.0, 0.0, 0.0], [0.0, 7.0, 1.0]])
    places = [0, 1, 1, 3, 3, 2, 0], [1, 0, 2, 1, 2, 1, 0]
    with_zeros = sp.coo_matrix(([1.5, -2, 0.25, 7, 1, 0.0, -0.0], places), (4, 3))
    negative_zeros = np.where(A == 0, -0.0, A)
    wide = sp.csr_array(A)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    unsorted = sp.csr_array(A)
    unsorted.indices[1:3], unsorted.data[1:3] = unsorted.indices[1:3][::-1].copy(), unsorted.data[1:3][::-1].copy()
    forms = [
        A, negative_zeros, np.asfortranarray(A), A.astype(np.float32), A[::-1][::-1], A.astype(">f8"), A.tolist(),
        sp.csr_array(A), sp.csc_matrix(A), sp.coo_array(A), sp.csc_array(A.astype(np.float32)), with_zeros, wide,
        unsorted,
    ]  # fmt: skip
    hashes = {matrices.Matrix(form, "A").sha256 for form in forms}
    assert len(hashes) == 1
    others = [A.T, A[:3], np.pad(A, ((0, 0), (0, 1))), np.where(A == 7, up(7.0), A), A[:, [0, 2, 1]]]
    assert len(hashes | {matrices.Matrix(form, "A").sha256 for form in others}) == 6


def test_the_hash_does_not_depend_on_slabs(monkeypatch):
    A = sp.random(50, 40, 0.2, random_state=0, format="csr")
    whole = [matrices.Matrix(form, "A") for form in (A, A.toarray())]
    monkeypatch.setattr(matrices, "SLAB", 7)
    parts = [matrices.Matrix(form, "A") for form in (A, A.toarray())]
    assert len({m.sha256 for m in whole + parts}) == 1
    v = [list(range(1, 41))]
    assert parts[0].times(v) == parts[1].times(v) == whole[0].times(v)
    assert parts[0].transposed_times([list(range(50))]) == whole[1].transposed_times([list(range(50))])


def test_other_data_are_refused(exact):
    path, _, A, b = exact
    for other in (A[:3], A.T, np.where(A < 0, up(-1.0), A), np.where(A < 0, np.nan, A), (A, A), np.eye(4)):
        assert not verify(path, other, b)
    for other in (b[:3], np.where(b == 3, up(3.0), b), np.full(4, np.inf), np.column_stack([b, b])):
        assert not verify(path, A, other)
    assert not verify(path, sw.Centred(A), b)
    assert not verify(path, sw.Factorised(A, np.eye(2)), b)
    for bad in ("A", None, A.astype(complex), [[1.0], [1.0, 2.0]], sp.lil_array(A), np.zeros((2, 2, 2))):
        with pytest.raises(TypeError):
            verify(path, bad, b)


@pytest.mark.parametrize("part, value", [("indices", 2**31 - 1), ("indices", -1), ("indptr", 9), ("indptr", -1)])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_broken_sparse_matrices_are_refused(exact, part, value, form):
    path, _, A, b = exact
    broken = form(A)
    getattr(broken, part)[1] = value
    assert "broken" in verify(path, broken, b).reasons[0]


def test_duplicates_are_refused(exact):
    path, _, _, b = exact
    double = sp.coo_array((np.ones(3), ([0, 1, 1], [0, 1, 1])), (4, 2))
    assert "sum_duplicates" in verify(path, double, b).reasons[0]


def test_sample_weights_must_be_those_of_the_proof(tmp_path):
    A, b, w = np.eye(4, 2) + 1, np.arange(4.0), np.array([1.0, 2, 0, 4])
    path = tmp_path / "answer.proof"
    solved(sw.Problem(A, b, penalty=ElasticNet(0.1), sample_weight=w), path)
    assert verify(path, A, b, sample_weight=w)
    assert verify(path, A, b, sample_weight=1e-3 * w)
    for other in (None, w + 1, w[:3], -w, 0 * w, np.array([1.0, 2, 0, 4 * (1 + 1e-10)])):
        assert not verify(path, A, b, sample_weight=other)


@pytest.mark.parametrize(
    "change",
    [{"x": [1.0]}, {"x": [np.nan, 0]}, {"x": ["a", "b"]}, {"y": [1.0]}, {"intercept": 1.0}, {"primal": np.nan},
     {"dual": np.inf}, {"primal": 0.5, "dual": 1.0}],
)  # fmt: skip
def test_what_cannot_be_a_proof_is_not_written(change, tmp_path):
    problem = sw.Problem(np.eye(3, 2), np.arange(3.0), penalty=ElasticNet(0.1))
    given = {"x": [0.0, 0.0], "intercept": 0.0, "y": [0.0] * 3, "primal": 1.0, "dual": 0.0} | change
    with pytest.raises((TypeError, ValueError)):
        write_proof(tmp_path / "answer.proof", problem, **given)
    assert list(tmp_path.iterdir()) == []


# The command, and the folder alone


def saved(tmp_path, exact):
    path, _, A, b = exact
    sp.save_npz(tmp_path / "A.npz", sp.csc_array(A))
    np.save(tmp_path / "b.npy", b)
    np.save(tmp_path / "other.npy", b + 1)
    return str(path), str(tmp_path / "A.npz"), str(tmp_path / "b.npy"), str(tmp_path / "other.npy")


def test_the_command(exact, tmp_path, capsys):
    path, A, b, other = saved(tmp_path, exact)
    assert main(["check", path, A, b]) == 0
    assert capsys.readouterr().out.startswith("VERIFIED: the optimum is within 0 of P(x)\n")
    assert main(["check", path, A, other]) == 1
    assert capsys.readouterr().out.startswith("NOT VERIFIED\n  because   b is not the one of the proof")
    assert main(["check", path, A, b, "--sample-weight", b]) == 1
    assert main(["check", path, A, A, b]) == 1
    for arguments in ([path, A, path], [path, A, A + "x"], [A + "x", A, b], [path, str(tmp_path), b]):
        capsys.readouterr()
        assert main(["check", *arguments]) == 2
        assert capsys.readouterr().err.startswith("The check could not be made: ")


ALONE = """
import runpy, sys
sys.path[:0] = {path!r}
sys.argv = ["check", *{arguments!r}]
try:
    runpy.run_module("check", run_name="__main__")
except SystemExit as leaving:
    assert leaving.code == {code}, leaving.code
assert not [name for name in sys.modules if name.split(".")[0] in ("southwell", "scipy", "sklearn", "_core")]
"""


def test_the_folder_runs_alone_without_southwell_and_scipy(exact, tmp_path):
    alone = tmp_path / "alone"
    shutil.copytree(Path(sw.__file__).parent / "check", alone / "check", ignore=shutil.ignore_patterns("__pycache__"))
    path, A, b, other = saved(tmp_path, exact)
    for arguments, code, word in (([path, A, b], 0, "VERIFIED"), ([path, A, other], 1, "NOT VERIFIED")):
        program = ALONE.format(path=[str(alone), str(Path(np.__file__).parent.parent)], arguments=arguments, code=code)
        done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(word)

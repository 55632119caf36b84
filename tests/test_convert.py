"""``southwell convert``: a store holds the data of its files; an interruption leaves the old store or none."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import southwell as sw
from southwell.cli import main
from southwell.data import Store, convert, streams


def rows(tmp_path, n=400, name="data.svm", seed=0, base=1):
    rng = np.random.default_rng(seed)
    A = sp.csr_array(rng.normal(size=(n, 12)) * (rng.random((n, 12)) < 0.3))
    dump_svmlight_file(A, rng.integers(0, 2, n), str(tmp_path / name), zero_based=base == 0)
    return tmp_path / name


@pytest.fixture
def small(monkeypatch):
    """Small chunks and batches, so that little data make many of them."""
    monkeypatch.setattr(streams, "CHUNK", 4096)
    monkeypatch.setattr(convert, "LIMIT", 4096)


def same_as_loaded(store, path, **options):
    data, found = sw.data.load(path, **options), Store.open(store, check="checksums").load()
    ours, theirs = (A.toarray() if sp.issparse(A) else A for A in (found.A, data.A))
    np.testing.assert_array_equal(ours, theirs)
    for name in ("targets", "weights", "qid"):
        one, other = getattr(found, name), getattr(data, name)
        if sp.issparse(other):
            one, other = one.toarray(), other.toarray()
        np.testing.assert_array_equal(one, other)
    assert found.feature_names == data.feature_names


TABLE = "size,city,weight,label\n" + "".join(
    f"{k},{'XYZ'[k % 3]},{k % 5},{'no' if k % 4 else 'yes'}\n" for k in range(900)
)


@pytest.mark.parametrize(
    ("content", "options", "arguments"),
    [
        (None, {}, []), (TABLE, {}, []), (TABLE, {"weight": "weight"}, ["--weight", "weight"]),
        (TABLE, {"text": "hash", "n_hashed": 8}, ["--text", "hash", "--hashed", "8"]),
        (TABLE.replace(",X,", ",,"), {"missing": "zero"}, ["--missing", "zero"]),
        ("1 5:1\n" * 2000 + "1 0:1\n", {}, []),  # that indices begin at 0 is seen late
        ("1 5:1\n" * 2000 + "1,2 3:1\n", {}, []),  # and here that rows have several targets
        ("1 5:1\n 5:2\n" * 2000 + "1,2 3:1\n", {}, []), ("1 qid:3 5:1\n" * 50, {"zero_based": True}, ["--base", "0"]),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_store_holds_what_load_gives(tmp_path, small, capsys, content, options, arguments):
    path = rows(tmp_path) if content is None else tmp_path / "file"
    if content is not None:
        path.write_text(content)
    assert main(["convert", str(path), str(tmp_path / "s"), "--json", *arguments]) == 0
    told = json.loads(capsys.readouterr().out)
    same_as_loaded(tmp_path / "s", path, **options)
    assert told["rows"] == Store.open(tmp_path / "s").shape[0]


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_converted_in_parts(tmp_path, small, order):
    A = np.asarray(np.random.default_rng(0).normal(size=(3000, 7)), order=order)
    np.save(tmp_path / "a.npy", A)
    assert main(["convert", str(tmp_path / "a.npy"), str(tmp_path / "s"), "--target", "0"]) == 0
    same_as_loaded(tmp_path / "s", tmp_path / "a.npy", target=0)


def test_large_data_make_several_shards(tmp_path, monkeypatch):
    path = rows(tmp_path)
    options = convert.Options(n_threads=2)
    convert.convert([path], tmp_path / "s", options, shard_bytes=2048)
    assert len(Store.open(tmp_path / "s").shards()) > 3
    same_as_loaded(tmp_path / "s", path)


def test_parquet_is_converted(tmp_path, small):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": np.arange(500.0), "c": list("xy") * 250, "y": np.arange(500)})
    frame.to_parquet(tmp_path / "p")
    assert main(["convert", str(tmp_path / "p"), str(tmp_path / "s")]) == 0
    same_as_loaded(tmp_path / "s", tmp_path / "p")


def test_rows_are_appended_and_replaced(tmp_path, capsys):
    one, two = rows(tmp_path), rows(tmp_path, 100, "two.svm", 1)
    store = str(tmp_path / "s")
    assert main(["convert", str(one), store]) == 0
    assert "400 rows, 12 columns" in capsys.readouterr().out
    assert main(["convert", str(two), store]) == 2
    assert "already" in capsys.readouterr().err
    assert main(["convert", str(two), store, "--append"]) == 0
    assert Store.open(store).shape == (500, 12)
    assert main(["convert", str(one), str(two), store, "--overwrite", "--float32"]) == 0
    assert Store.open(store).shape == (500, 12) and Store.open(store).dtype == np.float32


def test_errors_name_the_file_and_leave_nothing(tmp_path, small, capsys):
    good, bad = rows(tmp_path), tmp_path / "bad.svm"
    bad.write_text("1 1:1\n" * 5000 + "1 1:x\n")
    assert main(["convert", str(good), str(bad), str(tmp_path / "s")]) == 2
    assert "bad.svm: line 5001, column 5: 'x' is not a number" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["bad.svm", "data.svm"]


def test_what_cannot_be_read_in_parts_is_refused_if_it_is_large(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("southwell.data.arrays.IN_MEMORY", 100)
    sp.save_npz(tmp_path / "s.npz", sp.eye_array(50, format="csr"))
    assert main(["convert", str(tmp_path / "s.npz"), str(tmp_path / "s")]) == 2
    assert "Store.write" in capsys.readouterr().err


def in_a_child(work):
    """The number of a forked process that does this work. A fork begins at once, where a new process would import."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return child


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes to fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("mode", ["new", "append", "overwrite"])
def test_a_killed_conversion_leaves_the_old_store_or_none(tmp_path, mode, small):
    path, store = rows(tmp_path, 400), tmp_path / "room" / "s"
    arguments = ["convert", str(path), str(store), "--threads", "1"]
    store.parent.mkdir()
    whole = time.monotonic()
    assert main(arguments) == 0
    whole = time.monotonic() - whole
    if mode == "new":
        shutil.rmtree(store)
    else:
        arguments.append(f"--{mode}")
    made, moments = 0, np.random.default_rng(0).uniform(0, 1.2 * whole, 25)
    for moment in moments:
        child = in_a_child(lambda: main(arguments))
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if mode == "new" and not store.exists():
            with pytest.raises(FileNotFoundError, match="interrupted"):
                Store.open(store)
            continue
        made += mode == "append"
        n = Store.open(store, check="checksums").shape[0]
        assert n % 400 == 0 and 400 <= n <= 400 * (1 + made)
        if mode == "new":
            shutil.rmtree(store)
    before = Store.open(store).shape[0] if store.exists() else 0
    assert main(arguments) == 0
    assert Store.open(store, check="checksums").shape[0] == (before + 400 if mode == "append" else 400)
    named = {entry["name"] for entry in _named(store)}
    assert set(os.listdir(store)) == {*named, "manifest.json"} and os.listdir(store.parent) == ["s"]


def _named(store):
    text = json.loads((store / "manifest.json").read_text())
    groups = [*(shard["files"] for shard in text["shards"]), text["statistics"]]
    return [one for files in groups for one in files.values()]


def test_an_interrupt_says_how_to_go_on(tmp_path, small, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("southwell.data.writing.npy.write_values", interrupt)
    assert main(["convert", str(rows(tmp_path)), str(tmp_path / "s")]) == 130
    assert "No store was made. Run the same command to begin again" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["data.svm"]


@pytest.mark.own_memory
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    line = b" ".join(b"%d:%d.5" % (k * 97 + 1, k) for k in range(400))
    (tmp_path / "large.svm").write_bytes(b"".join(b"1 %b\n" % line for _ in range(30_000)))
    code = (
        "import re, sys\nfrom southwell.cli import main\ncode = main()\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, "convert", str(tmp_path / "large.svm"), str(tmp_path / "s")],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Store.open(tmp_path / "s").entries == 12_000_000  # 144 MB
    assert int(done.stdout.split()[-1]) < 500_000  # kB; getrusage would count the memory of this process too


def test_the_terminal_sees_progress(tmp_path, monkeypatch, small):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    ticks = iter(range(10**6))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    assert main(["convert", str(rows(tmp_path, 3000)), str(tmp_path / "s")]) == 0
    assert " rows, " in terminal.getvalue() and terminal.getvalue().endswith("\r")

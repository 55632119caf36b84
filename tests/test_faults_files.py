"""Disks that are full or read-only, folders and files that vanish, and files that change while they are read."""

import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import southwell as sw
from southwell.model_files import archive


def fitted(n_features=20, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((40, n_features))
    return sw.Lasso(alpha=0.1).fit(A, A[:, 0] + 0.1 * rng.standard_normal(40))


def equal(model, other) -> bool:
    return np.array_equal(model.coef_, other.coef_) and model.intercept_ == other.intercept_


IN_A_PROCESS = """
import errno, os, sys
sys.path[:0] = {tests!r}
import numpy as np
from test_faults_files import equal, fitted
import southwell as sw
folder = {folder!r}
small, large = fitted(), fitted(20_000)
path = os.path.join(folder, "model")
small.save(path)
{fault}
try:
    large.save(path)
except OSError as error:
    assert error.errno == errno.{errno}, error
else:
    raise AssertionError("it was saved")
{mended}
assert os.listdir(folder) == ["model"], os.listdir(folder)
assert equal(sw.load(path), small) and equal(fitted(), small)
small.save(path)
print("well")
"""


def said(folder, errno, fault="", mended="", before=()) -> str:
    """What a process of its own says that could not save a model."""
    tests = [os.path.dirname(__file__), *sys.path]
    code = IN_A_PROCESS.format(tests=tests, folder=str(folder), errno=errno, fault=fault, mended=mended)
    done = subprocess.run([*before, sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def small_disk(tmp_path):
    """The words before a command that runs it with a disk of 64 KiB at tmp_path, which ends with it."""
    mount = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size=64k tmpfs {tmp_path} && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*mount, "true"], capture_output=True).returncode:
        pytest.skip("mounting a small disk takes unshare and its permission")
    return mount


def test_a_full_disk_leaves_the_old_file(tmp_path, small_disk):
    assert said(tmp_path, "ENOSPC", before=small_disk) == "well"


def test_a_disk_that_became_read_only(tmp_path, small_disk):
    remount = 'assert os.system(f"mount -o remount,{} {{folder}}") == 0'
    words = said(tmp_path, "EROFS", remount.format("ro"), remount.format("rw"), small_disk)
    assert words == "well"


def test_a_limit_on_the_size_of_files(tmp_path):
    pytest.importorskip("resource")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))"
    lifted = "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))"
    assert said(tmp_path, "EFBIG", limit, lifted) == "well"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_is_no_place_for_a_model():
    with pytest.raises(FileExistsError, match="not a regular file"):
        fitted().save("/dev/full")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_folder_that_vanishes_in_the_middle(call, tmp_path, monkeypatch):
    model, folder, real = fitted(), tmp_path / "folder", getattr(archive.os, call)
    folder.mkdir()

    def vanish(*arguments):
        shutil.rmtree(folder)
        return real(*arguments)

    monkeypatch.setattr(archive.os, call, vanish)
    with pytest.raises(FileNotFoundError):
        model.save(folder / "model")
    assert not folder.exists()
    monkeypatch.undo()
    folder.mkdir()
    model.save(folder / "model")
    assert equal(sw.load(folder / "model"), model)


def test_a_file_replaced_while_it_is_read(tmp_path):
    """A reader gets one model or the other, never a mixture."""
    models, path, over = [fitted(seed=k) for k in range(2)], tmp_path / "model", threading.Event()
    models[0].save(path)

    def replace():
        while not over.is_set():
            for model in models:
                model.save(path)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(60):
            read = sw.load(path)
            assert any(equal(read, model) for model in models)
    finally:
        over.set()
        thread.join()


def test_a_file_cut_off_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "model"
    fitted(2000).save(path)
    real = archive._check

    def cut(members, size):
        os.truncate(path, size // 3)
        real(members, size)

    monkeypatch.setattr(archive, "_check", cut)
    with pytest.raises(ValueError, match="cannot be loaded"):
        sw.load(path)


def test_memory_that_runs_out_is_no_fault_of_the_file(tmp_path, monkeypatch):
    fitted().save(tmp_path / "model")

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(archive, "_array", fail)
    with pytest.raises(MemoryError):
        sw.load(tmp_path / "model")


@pytest.mark.parametrize("change", ["unlinked", "replaced"])
def test_the_file_of_mapped_data_goes_away_during_a_solve(change, tmp_path):
    """What is mapped stays what it was. (Cutting the file off instead kills the process; see Problem.)"""
    rng = np.random.default_rng(0)
    A, path = np.asfortranarray(rng.standard_normal((3000, 40))), tmp_path / "data.npy"
    np.save(path, A)
    b = A[:, 0] + rng.standard_normal(3000)
    mapped = np.load(path, mmap_mode="r")

    def callback(progress):
        if change == "unlinked":
            path.unlink(missing_ok=True)
        else:
            np.save(tmp_path / "other.npy", np.zeros_like(A))
            os.replace(tmp_path / "other.npy", path)

    r = sw.solve(mapped, b, l1=0.01, callback=callback)
    assert r.status is sw.Status.CONVERGED
    np.testing.assert_array_equal(r.x, sw.solve(A, b, l1=0.01).x)

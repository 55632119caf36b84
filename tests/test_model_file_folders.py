"""Where models are written and read: only regular files; and what a killed process left is cleaned up."""

import contextlib
import hashlib
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import southwell as sw
from southwell.model_files import files

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a Unix")
PART = re.compile(r"\.southwell-[0-9a-f]{8}-[0-9a-f]{32}\.part")


@pytest.fixture(scope="module")
def model():
    X, y = load_diabetes(return_X_y=True)
    return sw.Lasso(alpha=0.5).fit(X, y)


def parts(folder) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir() if path.name.endswith(".part"))


def run(code: str, *arguments, **options) -> subprocess.CompletedProcess:
    """In another process, given up after minutes where it hangs."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True, text=True,
        check=False, timeout=300, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, **options,
    )  # fmt: skip


@pytest.fixture
def odd(tmp_path):
    """Names of what is not a regular file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as server:
        before = Path.cwd()
        os.chdir(tmp_path)  # the address of a socket is short
        try:
            server.bind("socket")
        finally:
            os.chdir(before)
        yield {
            "pipe": tmp_path / "pipe", "folder": tmp_path / "folder", "link": tmp_path / "link",
            "socket": tmp_path / "socket", "null": Path("/dev/null"), "zero": Path("/dev/zero"),
        }  # fmt: skip


@pytest.mark.own_memory
def test_only_regular_files_are_read(odd):
    """In another process, with little memory: a pipe would block it, /dev/zero fill it."""
    code = """
        import resource, sys
        import southwell as sw
        sw.Lasso
        resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))
        for path in sys.argv[1:]:
            try:
                sw.load(path)
            except ValueError as error:
                print(error)
    """
    done = run(code, *odd.values())
    assert done.returncode == 0, done.stderr
    kinds = {"pipe": "a pipe", "folder": "a folder", "link": "a pipe", "socket": "a socket", "null": "a device"}
    lines = done.stdout.splitlines()
    assert len(lines) == len(odd)
    for (name, path), line in zip(odd.items(), lines, strict=True):
        assert (
            line == f"'{path}' cannot be loaded: it is {kinds.get(name, 'a device')}, and only regular files are read."
        )


def test_a_pipe_with_a_writer_is_refused_too(odd):
    writer = os.open(odd["pipe"], os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(writer, b"PK")
        with pytest.raises(ValueError, match="it is a pipe"):
            sw.load(odd["pipe"])
    finally:
        os.close(writer)


def test_a_pipe_that_takes_the_name_meanwhile_is_refused(odd, monkeypatch):
    regular = os.stat(__file__)
    monkeypatch.setattr(files.os, "stat", lambda *given, **options: regular)
    with pytest.raises(files.Refused, match="a pipe"):
        files.open_regular(odd["pipe"])


def test_only_regular_files_are_replaced(model, odd, tmp_path):
    for name, path in odd.items():
        kind = stat.S_IFMT(path.stat().st_mode)
        with pytest.raises(FileExistsError, match="not a regular file"):
            model.save(path)
        assert stat.S_IFMT(path.stat().st_mode) == kind, name
    assert parts(tmp_path) == []


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError):
        sw.load(tmp_path / "nothing")


KILLED = """
    import os, signal, sys
    import southwell as sw
    from southwell.model_files import archive
    from sklearn.datasets import load_diabetes

    def fill(file, *content):
        file.write(b"half of it")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    archive._fill = fill
    sw.Lasso(alpha=0.5).fit(*load_diabetes(return_X_y=True)).save(sys.argv[1])
"""


def test_the_next_save_removes_what_a_killed_process_left(model, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    before = path.read_bytes()
    assert run(KILLED, path).returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    (left,) = parts(tmp_path)
    assert PART.fullmatch(left)
    sw.load(path)  # which reads, and removes nothing
    assert parts(tmp_path) == [left]
    model.save(tmp_path / "another")
    assert parts(tmp_path) == [] and sorted(os.listdir(tmp_path)) == ["another", "model"]


def test_what_another_is_writing_stays(model, tmp_path):
    with files.replacing(tmp_path / "slow") as file:
        file.write(b"begun")
        (own,) = parts(tmp_path)
        model.save(tmp_path / "model")  # as another process would
        assert parts(tmp_path) == [own]
        file.write(b", and done")
    assert (tmp_path / "slow").read_bytes() == b"begun, and done" and parts(tmp_path) == []


def test_what_is_not_ours_stays(model, tmp_path):
    elsewhere = hashlib.sha256(b"another machine").hexdigest()[:8]
    ours = files._prefix()
    secret = tmp_path / "secret"
    secret.write_text("mine")
    names = [
        f".southwell-{elsewhere}-{'0' * 32}.part", ".southwell-notes.part", "thesis.part", f"{ours}{'0' * 31}.part",
        f"{ours}{'0' * 32}.part.old", f".southwell-{'0' * 32}.part",
    ]  # fmt: skip
    for name in names:
        (tmp_path / name).write_text("keep")
    link = tmp_path / f"{ours}{'1' * 32}.part"
    link.symlink_to(secret)
    pipe = tmp_path / f"{ours}{'2' * 32}.part"
    os.mkfifo(pipe)
    model.save(tmp_path / "model")
    assert all((tmp_path / name).read_text() == "keep" for name in names)
    assert link.is_symlink() and secret.read_text() == "mine" and pipe.is_fifo()
    assert sw.load(tmp_path / "model").coef_.tolist() == model.coef_.tolist()


@pytest.mark.parametrize("lock", [None, False])
def test_without_a_lock_nothing_is_removed(lock, model, tmp_path, monkeypatch):
    left = tmp_path / f"{files._prefix()}{'0' * 32}.part"
    left.write_text("somebody's")
    own = files.lock
    monkeypatch.setattr(files, "lock", lambda d: own(d) if os.fstat(d).st_size == 0 else lock)
    model.save(tmp_path / "model")
    assert left.read_text() == "somebody's"


def test_a_part_taken_for_abandoned_is_begun_again(model, tmp_path, monkeypatch):
    """Between its creation and its lock another save may remove it."""
    own, removed = files.lock, []

    def lock(descriptor):
        if not removed:
            removed.extend(parts(tmp_path))
            (tmp_path / removed[0]).unlink()
        return own(descriptor)

    monkeypatch.setattr(files, "lock", lock)
    model.save(tmp_path / "model")
    assert len(removed) == 1 and os.listdir(tmp_path) == ["model"]
    sw.load(tmp_path / "model")


def test_the_file_is_on_disk_before_its_name_and_the_name_at_the_end(model, tmp_path, monkeypatch):
    events, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(
        files.os, "fsync",
        lambda d: (events.append("folder" if stat.S_ISDIR(os.fstat(d).st_mode) else "file"), fsync(d))[1],
    )  # fmt: skip
    monkeypatch.setattr(files.os, "replace", lambda *given: (events.append("rename"), replace(*given))[1])
    model.save(tmp_path / "model")
    assert events == ["file", "rename", "folder"]


def test_a_folder_that_cannot_be_synced(model, tmp_path, monkeypatch):
    fsync = os.fsync

    def failing(number):
        def sync(descriptor):
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                raise OSError(number, "no")
            fsync(descriptor)

        return sync

    monkeypatch.setattr(files.os, "fsync", failing(22))  # EINVAL: this file system does not do that
    model.save(tmp_path / "model")
    monkeypatch.setattr(files.os, "fsync", failing(5))  # EIO: the disk failed
    with pytest.raises(OSError, match="no"):
        model.save(tmp_path / "model")
    sw.load(tmp_path / "model")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_save_that_fails_leaves_nothing(error, model, tmp_path, monkeypatch):
    def fail(*_):
        raise error("disk full")

    monkeypatch.setattr("southwell.model_files.archive._fill", fail)
    with pytest.raises(error):
        model.save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_processes_that_save_side_by_side(tmp_path):
    code = """
        import os, sys
        import numpy as np
        import southwell as sw
        model = sw.Lasso(alpha=0.1).fit(np.eye(20), np.arange(20.0))
        for name in ("a", "b", "a"):
            if os.fork() == 0:
                for k in range(40):
                    model.save(sys.argv[1] + "/" + name + str(k % 3))
                os._exit(0)
        sys.exit(any(os.wait()[1] for _ in range(3)))
    """
    assert run(code, tmp_path).returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["a0", "a1", "a2", "b0", "b1", "b2"]
    for name in os.listdir(tmp_path):
        assert np.isfinite(sw.load(tmp_path / name).coef_).all()

"""Files on disk: only regular files are read, and files are written atomically.

A file is written under a temporary name in the same folder, ``.southwell-<host>-<random>.part``, and then renamed. A
process that is killed meanwhile leaves this part file behind; the next save into the folder removes it. A part file is
removed only if its name contains the name of this machine and if no process holds its lock, which the system releases
when a process ends. If a file system or a platform has no such locks, part files are not removed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import re
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # not on Unix
    fcntl = None

WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip


class Refused(ValueError):
    """A file that cannot be read; the message says why."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file. Others are refused: a pipe would block, a device may be endless."""
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:  # a NUL, or characters that file names cannot have
        raise Refused(f"it must be the name of a file ({error})") from None
    refuse_kind(mode)  # before opening, which can have side effects on devices
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        refuse_kind(os.fstat(descriptor).st_mode)  # again, as another file may have replaced it
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def refuse_kind(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise Refused(f"it is {KINDS.get(stat.S_IFMT(mode), 'something else')}, and only regular files are read")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which replaces ``path`` at the end, if there was no error, and is then on disk."""
    name = part_name(path)
    try:
        while (file := _locked(os.open(name, WRITE_NEW, 0o666))) is None:
            name = part_name(path)
        with file:
            _remove_parts(path.parent)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if path.exists():
                os.chmod(name, stat.S_IMODE(path.stat().st_mode))
            if fcntl is None:
                file.close()  # Windows cannot rename an open file
            os.replace(name, path)  # while it is locked, so that no other process removes it
        sync_folder(path.parent)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def part_name(path: Path) -> Path:
    """A name in the same folder, for a file that is not complete."""
    return path.parent / f"{_prefix()}{uuid.uuid4().hex}.part"


def is_part(name: str) -> bool:
    """Whether ``part_name`` gives such names on this machine."""
    return re.fullmatch(re.escape(_prefix()) + r"[0-9a-f]{32}\.part", name) is not None


def _prefix() -> str:
    return f".southwell-{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}-"


def _locked(descriptor: int) -> BinaryIO | None:
    """The file, locked while it is open; None if another save has just removed it as abandoned."""
    file = os.fdopen(descriptor, "wb")
    if lock(descriptor) is False or os.fstat(descriptor).st_nlink == 0:
        file.close()
        return None
    return file


def lock(descriptor: int) -> bool | None:
    """Lock a file: False if another process has the lock, None if locks are not supported."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_parts(folder: Path) -> None:
    """Remove the part files of killed processes of this machine. Errors are ignored."""
    with contextlib.suppress(OSError):
        for name in [entry.path for entry in os.scandir(folder) if is_part(entry.name)]:
            with contextlib.suppress(OSError):
                _remove_if_abandoned(name)


def _remove_if_abandoned(name: str) -> None:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(name, flags)
    try:
        own = os.fstat(descriptor)
        if not stat.S_ISREG(own.st_mode) or lock(descriptor) is not True:
            return
        # Its writer may have renamed it before the lock was released: then this name no longer exists.
        if os.path.samestat(own, os.stat(name, follow_symlinks=False)):
            os.unlink(name)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Write the folder, with the new name, to disk too, if the system supports it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError:  # the folder cannot be opened, as on Windows
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno == errno.EIO:  # other errors mean that the file system cannot sync folders
            raise
    finally:
        os.close(descriptor)

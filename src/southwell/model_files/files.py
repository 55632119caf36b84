"""Files on disk: only regular ones are read, and one that is written appears when it is complete.

A file is written under a name of its own in the same folder, ``.southwell-<host>-<random>.part``, and then renamed. A
process that is killed meanwhile leaves that part behind; the next save into the folder removes it. A part is removed
only if its name says that it was written on a machine of the same name as this one and if no process holds its lock,
which the system gives up when a process ends. Where a file system or a platform has no such locks, parts stay.
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
except ImportError:  # not a Unix
    fcntl = None

WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip


class Refused(ValueError):
    """A file that is not understood; the message says why."""


def open_regular(path: Path) -> BinaryIO:
    """The file, if it is a regular one: a pipe would block, a device may have no end."""
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:  # a NUL, or characters that names of files do not have
        raise Refused(f"it must be the name of a file ({error})") from None
    refuse_kind(mode)  # before it is opened, which some devices notice
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        refuse_kind(os.fstat(descriptor).st_mode)  # another file may have taken the name
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def refuse_kind(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise Refused(f"it is {KINDS.get(stat.S_IFMT(mode), 'something else')}, and only regular files are read")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of ``path`` at the end, if all went well, and is then on disk."""
    name = _part(path)
    try:
        while (file := _locked(os.open(name, WRITE_NEW, 0o666))) is None:
            name = _part(path)
        with file:
            _remove_parts(path.parent)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if path.exists():
                os.chmod(name, stat.S_IMODE(path.stat().st_mode))
            if fcntl is None:
                file.close()  # Windows renames no open file
            os.replace(name, path)  # while it is locked, so that no other process takes it for abandoned
        _sync_folder(path.parent)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def _part(path: Path) -> Path:
    """A name in the same folder, for a file that is not complete."""
    return path.parent / f"{_prefix()}{uuid.uuid4().hex}.part"


def _prefix() -> str:
    return f".southwell-{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}-"


def _locked(descriptor: int) -> BinaryIO | None:
    """The file, locked as long as it is open; None if another save has just taken it for abandoned."""
    file = os.fdopen(descriptor, "wb")
    if _lock(descriptor) is False or os.fstat(descriptor).st_nlink == 0:
        file.close()
        return None
    return file


def _lock(descriptor: int) -> bool | None:
    """Lock a file: False if another has the lock, None if there are no locks here."""
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
    """Remove what killed processes of this machine left. Whatever cannot be removed is left: it is not our task."""
    ours = re.compile(re.escape(_prefix()) + r"[0-9a-f]{32}\.part")
    with contextlib.suppress(OSError):
        for name in [entry.path for entry in os.scandir(folder) if ours.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _remove_if_abandoned(name)


def _remove_if_abandoned(name: str) -> None:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(name, flags)
    try:
        own = os.fstat(descriptor)
        if not stat.S_ISREG(own.st_mode) or _lock(descriptor) is not True:
            return
        # Its writer may have renamed it before the lock was free: then the name is gone.
        if os.path.samestat(own, os.stat(name, follow_symlinks=False)):
            os.unlink(name)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Put the new name on disk too, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError:  # folders that cannot be read, or not be opened, as on Windows
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno == errno.EIO:  # others say that this file system does not sync folders
            raise
    finally:
        os.close(descriptor)

"""Folders that are written whole: locked while they are written, cleared of what killed writers left, and renamed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from ..model_files import files


@contextlib.contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """An empty folder beside ``path``, which gets this name at the end if there was no error."""
    _remove_abandoned(path.parent)
    part, lock = _new_part(path)
    try:
        yield part
        files.sync_folder(part)
        os.rename(part, path)  # while it is locked, so that no other process removes it
        files.sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    finally:
        _close(lock)


def _new_part(path: Path) -> tuple[Path, int | None]:
    """A new folder and its lock. Another process may take it for an abandoned one before it is locked."""
    while True:
        part = files.part_name(path)
        part.mkdir()
        with contextlib.suppress(FileNotFoundError):
            lock = _open(part)
            if (lock is None or files.lock(lock) is not False) and part.exists():
                return part, lock
            _close(lock)


def _open(folder: Path) -> int | None:
    """A descriptor to lock, if the system has locks."""
    return None if files.fcntl is None else os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The only writer of a folder, where the system has locks."""
    descriptor = _open(folder)
    try:
        if descriptor is not None and files.lock(descriptor) is False:
            raise ValueError(f"{folder}: another process is writing to it. Wait until it has ended.")
        yield
    finally:
        _close(descriptor)


def _remove_abandoned(parent: Path) -> None:
    """Remove the part folders of killed processes of this machine. Errors are ignored."""
    if files.fcntl is None:
        return
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(parent)):
            if files.is_part(entry.name) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    descriptor = _open(folder)
    try:
        if descriptor is None or files.lock(descriptor) is not True:
            return
        # Its writer may have renamed it before the lock was released: then this name no longer exists.
        if os.path.samestat(os.fstat(descriptor), os.stat(folder, follow_symlinks=False)):
            shutil.rmtree(folder)
    finally:
        _close(descriptor)


def remove_others(folder: Path, ours: re.Pattern[str], kept: set[str]) -> None:
    """Remove regular files whose names match, but for those that are kept. Errors are ignored."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            if entry.name not in kept and ours.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    if stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
                        os.unlink(entry.path)

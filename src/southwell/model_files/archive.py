"""A file of one JSON text and some arrays. Reading it runs no code from it.

It is an uncompressed ZIP archive: ``model.json`` and arrays in NumPy's own format, ``0.npy``, ``1.npy``, ... Nothing
that is read can be larger than the file, whatever sizes it states.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .files import Refused, open_regular, replacing

__all__ = ["Refused", "read", "write"]

TEXT = "model.json"
KINDS = "biufcUS"  # dtype kinds of numbers, booleans and strings


def write(path: Path, text: dict[str, Any], arrays: list[np.ndarray], *, text_name: str = TEXT) -> None:
    """Write atomically: the file appears, or replaces the old one, when it is complete and on disk."""
    path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} to write {path.name!r} to.")
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{str(path)!r} is not a regular file: choose another name.")
    with replacing(path) as file:
        _fill(file, text, arrays, text_name)


def _fill(file: BinaryIO, text: dict[str, Any], arrays: list[np.ndarray], text_name: str) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(text_name, json.dumps(text, separators=(",", ":")))
        for k, array in enumerate(arrays):
            with archive.open(f"{k}.npy", "w", force_zip64=array.nbytes > 2**30) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read(path: Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The text and the arrays. Raises ``Refused`` if the file is invalid."""
    with open_regular(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                _check(members, os.fstat(file.fileno()).st_size)
                text = json.loads(archive.read(TEXT))
                arrays = [_array(archive.read(f"{k}.npy"), k) for k in range(len(members) - 1)]
        except (Refused, MemoryError):  # a MemoryError is not an error of the file
            raise
        except zipfile.BadZipFile as error:
            raise Refused(f"it is not a whole archive ({error})") from None
        except Exception as error:  # any other damage
            raise Refused(f"its parts cannot be read ({type(error).__name__}: {error})") from None
    if not isinstance(text, dict):
        raise Refused(f"{TEXT} does not hold an object")
    return text, arrays


def _check(members: list[zipfile.ZipInfo], size: int) -> None:
    names = {member.filename for member in members}
    if names != {TEXT, *(f"{k}.npy" for k in range(len(members) - 1))} or len(names) != len(members):
        raise Refused(f"it must hold {TEXT} and arrays numbered from 0, once each; it holds {sorted(names)[:5]}")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise Refused("its parts are compressed, which this format does not do")
    if sum(member.file_size for member in members) > size:
        raise Refused("its parts claim to be larger than the file")


def _array(content: bytes, k: int) -> np.ndarray:
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise Refused(f"array {k} is stored in version {version} of NumPy's format; versions 1.0 and 2.0 are read")
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = header(file)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise Refused(f"array {k} holds {dtype}, which is neither numbers nor strings")
    entries = 1
    for length in shape:
        entries *= length
    if min(shape, default=0) < 0 or entries * dtype.itemsize != len(content) - file.tell():
        raise Refused(f"array {k} claims shape {shape}, but has {len(content) - file.tell()} bytes")
    flat = np.frombuffer(content, dtype, count=entries, offset=file.tell()) if entries else np.zeros(0, dtype)
    array = flat.reshape(shape, order="F" if by_columns else "C")
    return array.astype(dtype.newbyteorder("="), order="K", copy=True)

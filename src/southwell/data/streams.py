"""Bytes of files, plain or compressed, in chunks of whole lines.

Files are read, never mapped: a mapped file that shrinks ends the process. A file that changes while it is read is
refused.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from ..model_files.files import Refused, open_regular

CHUNK = 1 << 21  # bytes read at a time
LONGEST = 1 << 27  # bytes of a line or record, where memory is bounded
MOST_EXPANDED = 1000  # times the compressed size; DEFLATE cannot exceed 1032
UNSUSPECTED = 1 << 26  # bytes that any compressed file may expand to
COMPRESSED = {
    b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd",
}  # fmt: skip
UTF_8 = b"\xef\xbb\xbf"
OTHER_ENCODINGS = {
    b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16",
}  # fmt: skip


class Stream:
    """The bytes of a regular file, decompressed if need be; a context that closes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = open_regular(path)
        try:
            found = os.fstat(self._file.fileno())
            self.size, self._changed = found.st_size, found.st_mtime_ns
            head = self._file.read(8)
            self._file.seek(0)
            self.compression = next((name for magic, name in COMPRESSED.items() if head.startswith(magic)), None)
            self._bytes: Any = self._file if self.compression is None else _decompressor(self.compression, self._file)
        except BaseException:
            self._file.close()
            raise
        self.position = 0

    def readinto(self, room: memoryview) -> int:
        """Fill ``room`` as far as there are bytes, and return their number."""
        filled = 0
        while filled < len(room):
            try:
                got = self._bytes.readinto(room[filled:])
            except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
                self._refuse_damage(error)
            except Exception as error:  # zstd libraries have exceptions of their own
                if self.compression != "zstd":
                    raise
                self._refuse_damage(error)
            if not got:
                self._refuse_change()
                break
            filled += got
        self.position += filled
        if self.compression and self.position > max(UNSUSPECTED, MOST_EXPANDED * self.size):
            raise Refused(
                f"it expands to more than {MOST_EXPANDED} times its size, as decompression bombs do; decompress it "
                f"first if it is meant to"
            )
        return filled

    def read(self, size: int) -> bytes:
        """At most so many bytes."""
        room = bytearray(size)
        return bytes(room[: self.readinto(memoryview(room))])

    def rest(self) -> bytes:
        """All that is left."""
        parts = []
        while part := self.read(CHUNK):
            parts.append(part)
        return b"".join(parts)

    def _refuse_damage(self, error: Exception) -> None:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk, not of the content
            raise error
        raise Refused(f"its {self.compression} data are damaged or cut short ({error})") from None

    def _refuse_change(self) -> None:
        now = os.fstat(self._file.fileno())
        whole = self.compression is not None or self._file.tell() == self.size
        if (now.st_size, now.st_mtime_ns) != (self.size, self._changed) or not whole:
            raise Refused("it changed while it was read; read it again when nothing writes to it")

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bytes is not self._file:
            self._bytes.close()
        self._file.close()


def _decompressor(compression: str, file: BinaryIO) -> Any:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=file, mode="rb")
    if compression == "bzip2":
        return bz2.BZ2File(file)
    if compression == "xz":
        return lzma.LZMAFile(file)
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name).ZstdFile(file)
        except ImportError:
            pass
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        raise ImportError(
            "It is compressed by zstd, which Python reads from 3.14 on: pip install 'southwell[zstd]' or decompress it."
        ) from None
    return _Zstd(file, zstandard.ZstdDecompressor())


class _Zstd:
    """Frames of zstd by the package zstandard, whose own reader takes a file that is cut for a whole one."""

    def __init__(self, file: BinaryIO, decompressor: Any) -> None:
        self._file, self._decompressor = file, decompressor
        self._frame: Any = None
        self._left = memoryview(b"")

    def readinto(self, room: memoryview) -> int:
        while not self._left:
            within = self._frame is not None and not self._frame.eof
            unused = b"" if within or self._frame is None else self._frame.unused_data
            part = unused or self._file.read(1 << 11)  # which a bomb expands to 64 MB at most
            if not part:
                if within:
                    raise EOFError("the file ends within a frame")
                return 0
            if not within:
                self._frame = self._decompressor.decompressobj()
            self._left = memoryview(self._frame.decompress(part))
        size = min(len(room), len(self._left))
        room[:size], self._left = self._left[:size], self._left[size:]
        return size

    def close(self) -> None:
        pass


def lines_end(buffer: bytearray, size: int) -> int:
    """Where the last whole line ends."""
    return buffer.rfind(b"\n", 0, size) + 1


def chunks(
    stream: Stream, end: Callable[[bytearray, int], int] = lines_end, *, ahead: bool = False, longest: int = LONGEST
) -> Iterator[tuple[bytearray, int]]:
    """Buffers and how many of their bytes are whole lines, or what ``end`` calls whole; the last one ends in a newline.

    With ``ahead``, a thread reads the next chunk while the caller works on this one. A buffer is valid until the next
    one is asked for.
    """
    reader = _reader(ahead)
    # A generator that is left may be closed by the garbage collector, which may run while ``threading`` holds a lock
    # that the thread needs to end: waiting for it then would last for ever.
    wait = True
    try:
        buffer, spare = bytearray(CHUNK + 1), bytearray(CHUNK + 1)  # one more, for a newline at the end of the file
        filled, start = stream.readinto(memoryview(buffer)[:CHUNK]), True
        while filled:
            if start and (filled := _without_mark(buffer, filled)) < CHUNK:
                filled += stream.readinto(memoryview(buffer)[filled:CHUNK])
            start = False
            room, given = len(buffer) - 1, filled
            last = filled < room
            if last and buffer[filled - 1] != ord("\n"):
                buffer[filled] = ord("\n")
                given += 1
            whole = given if last else end(buffer, given)
            if whole == 0:  # a line longer than the buffer
                if room >= longest:
                    raise Refused(f"a line is longer than {longest >> 20} MB" + _in_quotes(end))
                buffer, spare = buffer + bytearray(room), bytearray(2 * room + 1)
                filled += stream.readinto(memoryview(buffer)[filled : 2 * room])
                continue
            left = max(filled - whole, 0)
            spare[:left] = buffer[whole : whole + left]
            coming = None if last else reader(stream.readinto, memoryview(spare)[left:room])
            yield buffer, whole
            if coming is None:
                return
            filled = left + coming()
            buffer, spare = spare, buffer
    except GeneratorExit:
        wait = False
        raise
    finally:
        reader.close(wait)


def _in_quotes(end: Callable[[bytearray, int], int]) -> str:
    return "" if end is lines_end else ": perhaps a quotation mark is not closed"


def _without_mark(buffer: bytearray, filled: int) -> int:
    """Remove a byte order mark of UTF-8; refuse those of other encodings, and what is not text."""
    for mark, name in OTHER_ENCODINGS.items():
        if buffer.startswith(mark):
            raise Refused(f"it is text in {name}; convert it, for example with iconv -f {name} -t UTF-8")
    if not buffer.startswith(UTF_8):
        return filled
    size = filled - len(UTF_8)
    buffer[:size] = buffer[len(UTF_8) : filled]
    return size


class _Reader:
    """Calls at once, when its answer is asked for."""

    def __call__(self, call: Callable[[memoryview], int], room: memoryview) -> Callable[[], int]:
        return lambda: call(room)

    def close(self, wait: bool) -> None:
        pass


class _Ahead(_Reader):
    """Calls in a thread."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(1, "southwell-reader")

    def __call__(self, call: Callable[[memoryview], int], room: memoryview) -> Callable[[], int]:
        if self._pool is not None:
            try:
                return self._pool.submit(call, room).result
            except RuntimeError:  # no thread can be started; none may be later, as the call is in its queue
                self._pool = None
        return super().__call__(call, room)

    def close(self, wait: bool) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=wait)


def _reader(ahead: bool) -> _Reader:
    return _Ahead() if ahead else _Reader()


def view(buffer: bytearray, size: int) -> np.ndarray:
    """These bytes as compiled code takes them."""
    return np.frombuffer(buffer, np.uint8, size)

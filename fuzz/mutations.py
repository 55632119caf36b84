"""Mutations of model files that know their structure: bytes, archive, JSON text and arrays."""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable

TEXT = "model.json"
NUMBERS = [0, 1, -1, 2, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, 0.5, -1e308]
HEADERS = [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<f8', 'fortran_order': True, 'shape': (-1, 3), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
    "{'descr': '|V1000000', 'fortran_order': False, 'shape': (0,), }",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<U1000000000', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '>f8', 'fortran_order': 1, 'shape': (3,), }",
    "__import__('os').system('true')",
    "{" * 200,
    "(" * 5000,
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 99999999999999999999), }",
    "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807), }",
    "{'descr': '|b1', 'fortran_order': False, 'shape': (24,), }",
    "{'descr': '<f2', 'fortran_order': False, 'shape': (12,), }",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (6,), }",
    "{'descr': '|S0', 'fortran_order': False, 'shape': (5,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
]


def mutate(files: list[bytes], rng: random.Random) -> tuple[bytes, str]:
    """A file made of one of these by one to three changes, and what was done."""
    content, words = rng.choice(files), []
    for _ in range(rng.choice([1, 1, 2, 3])):
        change = rng.choice(CHANGES)
        words.append(change.__name__.lstrip("_"))
        content = change(content, rng, files)
    return content, " + ".join(words)


# Bytes.


def _flip_bytes(content: bytes, rng, files) -> bytes:
    made = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if made:
            made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)


def _truncate(content: bytes, rng, files) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _cut_out(content: bytes, rng, files) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + content[start + rng.choice([1, 4, 100]) :]


def _splice(content: bytes, rng, files) -> bytes:
    other, at = rng.choice(files), rng.random()
    return content[: int(at * len(content))] + other[int(at * len(other)) :]


def _prepend(content: bytes, rng, files) -> bytes:
    return rng.choice([b"#!/bin/sh\n", bytes(100), content[:50]]) + content


def _wide_integer(content: bytes, rng, files) -> bytes:
    made, size = bytearray(content), rng.choice([2, 4, 8])
    if len(made) < size:
        return content
    at = rng.randrange(len(made) - size + 1)
    made[at : at + size] = rng.choice([b"\xff", b"\x00", b"\x7f"]) * size
    return bytes(made)


BYTE_CHANGES = [_flip_bytes, _truncate, _cut_out, _splice, _prepend, _wide_integer]


# The archive.


def _members(content: bytes) -> list[tuple[str, bytes]] | None:
    """The members of the archive, or None if earlier changes destroyed it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return [(member.filename, archive.read(member)) for member in archive.infolist()]
    except Exception:
        return None


def _archive(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED, comment: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
        archive.comment = comment
    return file.getvalue()


def _archive_changed(content: bytes, rng, files) -> bytes:
    members = _members(content)
    if not members:
        return content
    k = rng.randrange(len(members))
    name, own = members[k]
    what = rng.randrange(10)
    if what == 0:
        del members[k]
    elif what == 1:
        members.append((name, own))
    elif what == 2:
        members[k] = (rng.choice(["../x", "/etc/passwd", "0.npy", "x", "", "a\0b", TEXT.upper(), "é", "1" * 5000]), own)
    elif what == 3:
        other = rng.randrange(len(members))
        members[k], members[other] = (name, members[other][1]), (members[other][0], own)
    elif what == 4:
        return _archive(members, zipfile.ZIP_DEFLATED)
    elif what == 5:
        members.append((f"{len(members) - 1}.npy", zlib.compress(bytes(10**6))))
    elif what == 6:
        return _archive(members, comment=b"PK\x05\x06" + bytes(rng.randrange(30)))
    elif what == 7:
        members[k] = (name, b"")
    elif what == 8:
        members += [(f"{len(members) - 1 + j}.npy", own) for j in range(300)]
    else:
        return _lying_directory(_archive(members), rng)
    return _archive(members)


def _lying_directory(content: bytes, rng) -> bytes:
    """A field of the central directory says something else: sizes, offsets, flags, method, checksum."""
    made = bytearray(content)
    starts = [k for k in range(len(made) - 46) if made[k : k + 4] == b"PK\x01\x02"]
    if starts:
        offset, size = rng.choice([(8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)])
        value = rng.choice([0, 1, 8, 99, 2 ** (8 * size) - 1, 2 ** (8 * size - 1), len(made)]) % 2 ** (8 * size)
        made[rng.choice(starts) + offset :][:size] = b""
        at = rng.choice(starts) + offset
        made[at : at + size] = struct.pack({2: "<H", 4: "<I"}[size], value)
    return bytes(made)


# The text.


def _text_changed(content: bytes, rng, files) -> bytes:
    members = _members(content)
    texts = [k for k, (name, _) in enumerate(members or []) if name == TEXT]
    if not texts:
        return content
    try:
        stored = json.loads(members[texts[0]][1])
    except Exception:
        return content
    for _ in range(rng.choice([1, 1, 2, 4])):
        _change_node(stored, rng)
    text = _dumped(stored, rng)
    members[texts[0]] = (TEXT, text)
    return _archive(members)


def _dumped(stored, rng) -> bytes:
    text = json.dumps(stored).encode()
    what = rng.random()
    if what < 0.03:
        return text.replace(b"null", b"[" * 100_000, 1)
    if what < 0.06:
        return text.replace(b"0.", b"1" * 5000 + b".", 1)
    if what < 0.08:
        return text.decode().encode("utf-16")
    if what < 0.10:
        return text[:-1] + b', "class": "Lasso"}'
    return text


def _random_place(stored, rng):
    """A random dictionary or list inside, and a key of it."""
    holder = stored
    while True:
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        if not keys:
            return None
        key = rng.choice(keys)
        if not isinstance(holder[key], dict | list) or not holder[key] or rng.random() < 0.2:
            return holder, key
        holder = holder[key]


def _change_node(stored, rng) -> None:
    place = _random_place(stored, rng) if isinstance(stored, dict | list) else None
    if place is None:
        return
    holder, key = place
    what = rng.randrange(5)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, dict):
        names = ["x_", "coef_", "__class__", "predict", "fit_", "_results", "array", "part", "", "\ud800"]
        holder[rng.choice(names)] = holder.pop(key)
    elif what == 2:
        other = _random_place(stored, rng)
        holder[key] = json.loads(json.dumps(other[0][other[1]]))
    else:
        holder[key] = _other_value(rng)


def _other_value(rng):
    return rng.choice(
        [
            None,
            True,
            False,
            "",
            "x",
            "\ud800",
            "a" * 10_000,
            [],
            {},
            [[]],
            {"list": []},
            {"dict": [[{"list": []}, 1]]},
            *NUMBERS,
            float("nan"),
            float("inf"),
            {"array": rng.choice([0, 1, 2, 3, -1, 10**6, True])},
            {"scalar": rng.randrange(4)},
            {"objects": [1, 2], "shape": [2**31, 2**31]},
            {"objects": [], "shape": [0, 2**61]},
            {"status": "CONVERGED"},
            {"sparse": [0, 1, 2], "shape": [2, 3], "matrix": True},
            {"sparse": [0, 0, 0], "shape": [2**40, 2**40], "matrix": False},
            {"part": "Result", "of": {}},
            {"part": "Greedy", "of": {"score": "gs-s"}},
            {"part": "Quantile", "of": {"q": 2.0}},
            {"type": "Hinge"},
            {"tuple": [{"tuple": []}]},
            {"part": "DSPDC", "of": {"rows": 10**18}},
            {"part": "Auto", "of": {"x": 1}},
        ]
    )


# The arrays.


def _array_changed(content: bytes, rng, files) -> bytes:
    members = _members(content)
    arrays = [k for k, (name, own) in enumerate(members or []) if name.endswith(".npy") and len(own) > 10]
    if not arrays:
        return content
    k = rng.choice(arrays)
    name, own = members[k]
    size = struct.unpack("<H", own[8:10])[0]
    header, numbers = own[10 : 10 + size], bytearray(own[10 + size :])
    what = rng.randrange(5)
    if what <= 1:
        told = rng.choice(HEADERS).encode()
        told += b" " * (-(len(told) + 11) % 64) + b"\n"
        own = (
            own[:6]
            + bytes([rng.choice([1, 1, 1, 2, 3, 9]), 0])
            + struct.pack("<H", len(told) % 65536)
            + told
            + bytes(numbers)
        )
    elif what == 2 and len(numbers) >= 8:
        at = 8 * rng.randrange(len(numbers) // 8)
        value = rng.choice([float("nan"), float("inf"), -1.0, 1e308, 0.0])
        numbers[at : at + 8] = rng.choice([struct.pack("<d", value), struct.pack("<q", rng.choice([2**40, -1, 7]))])
        own = own[:10] + header + bytes(numbers)
    elif what == 3:
        own = own[:10] + header + bytes(numbers[: rng.randrange(len(numbers) + 1)])
    else:
        own = (
            own[:10]
            + header.replace(b"(3", b"(4", 1).replace(b"<f8", rng.choice([b"<f8", b"<i8", b"<U2", b"<c8"]), 1)
            + bytes(numbers)
        )
    members[k] = (name, own)
    return _archive(members)


CHANGES: list[Callable[[bytes, random.Random, list[bytes]], bytes]] = [
    *BYTE_CHANGES,
    _archive_changed,
    _archive_changed,
    _text_changed,
    _text_changed,
    _text_changed,
    _text_changed,
    _array_changed,
    _array_changed,
    _array_changed,
]

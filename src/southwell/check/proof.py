"""Proof files: their content, and a reader that validates everything.

It is an uncompressed ZIP archive of ``proof.json`` and arrays in NumPy's format, ``0.npy``, ``1.npy``, ... Reading it
runs no code and takes no more memory than a few times the size of the file. Scalars are written with ``float.hex``.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from . import class_losses as class_losses
from . import losses as losses
from . import means as means
from .loss import CLASSES, COUNTS, POSITIVE, REAL, SIGNS, Loss
from .matrices import Matrix, Refused

FORMAT, VERSION, TEXT = "southwell proof", 1, "proof.json"
DATA = {"matrix": ("A",), "centred": ("A",), "factorised": ("U", "V")}
TARGETS: dict[str, Callable[[np.ndarray, int], bool]] = {
    REAL: lambda b, k: True,
    SIGNS: lambda b, k: bool((np.abs(b) == 1).all()),
    COUNTS: lambda b, k: bool((b >= 0).all()),
    POSITIVE: lambda b, k: bool((b > 0).all()),
    CLASSES: lambda b, k: bool(((b >= 0) & (b < k) & (b % 1 == 0)).all()),
}


@dataclass(frozen=True)
class ElasticNet:
    """sum_j w_j l1 |x_j| + r_j (l2/2) x_j^2 on lower_j <= x_j <= upper_j, the same for each output."""

    l1: float
    l2: float
    weights: np.ndarray
    ridge_weights: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@dataclass(frozen=True)
class Groups:
    """sum_g strength_g N(X_g) + l1 ||X||_1 + (l2/2) ||X||^2, N the norm that ``kind`` names; perhaps with X >= 0."""

    kind: str
    l1: float
    l2: float
    group_of: np.ndarray
    strengths: np.ndarray
    positive: bool


@dataclass(frozen=True)
class Proof:
    """The content of a proof file."""

    written_by: str
    samples: int
    features: int
    outputs: int
    loss: str
    parameter: float
    intercept: bool
    data: str
    penalty: ElasticNet | Groups
    hashes: dict[str, str]
    primal_at_most: float
    dual_at_least: float
    x: np.ndarray
    c: np.ndarray
    y: np.ndarray
    s: np.ndarray
    b: np.ndarray
    means: np.ndarray | None
    offset: np.ndarray | None

    @property
    def of_classes(self) -> bool:
        return Loss.known[self.loss].targets == CLASSES

    @property
    def statement(self) -> str:
        """The problem in words."""
        parameter = "" if Loss.known[self.loss].allowed is None else f" ({self.parameter:.17g})"
        weights = "equal" if (self.s == self.s[0]).all() else "unequal"
        if isinstance(self.penalty, ElasticNet):
            g = self.penalty
            parts = [f"l1 = {g.l1:.17g}, l2 = {g.l2:.17g}"]
            parts += ["penalty weights"] * bool((g.weights != 1).any() or (g.ridge_weights != 1).any())
            parts += ["bounds"] * bool(np.isfinite(g.lower).any() or np.isfinite(g.upper).any())
            penalty = "elastic net: " + ", ".join(parts)
        else:
            own, kind = self.penalty.strengths, self.penalty.kind.replace("_", " ")
            penalty = (
                f"{own.size} {kind} of strengths {own.min():.6g} to {own.max():.6g}, l1 = {self.penalty.l1:.17g}, "
                f"l2 = {self.penalty.l2:.17g}{', coefficients >= 0' * self.penalty.positive}"
            )
        return (
            f"{self.samples} samples of {weights} weight, {self.features} features, {self.outputs} "
            f"output{'s' * (self.outputs > 1)}, {self.data} data; {self.loss} loss{parameter}; {penalty}; "
            f"{'an' if self.intercept else 'no'} intercept{'' if self.offset is None else '; offsets'}"
        )


def read(path: str | os.PathLike[str]) -> Proof:
    """The proof in a file. Raises ``Refused`` if it is invalid, ``OSError`` if it cannot be opened."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe must not block
    descriptor = os.open(path, flags)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise Refused("it is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        try:
            text, arrays = _unpack(file, status.st_size)
            return _proof(text, arrays)
        except Refused:
            raise
        except zipfile.BadZipFile as error:
            raise Refused(f"it is not a whole archive ({error})") from None
        except MemoryError:
            raise
        except Exception as error:  # any other damage
            raise Refused(f"its parts cannot be read ({type(error).__name__}: {error})") from None


def _unpack(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        names = {member.filename for member in members}
        if names != {TEXT, *(f"{k}.npy" for k in range(len(members) - 1))} or len(names) != len(members):
            raise Refused(f"it must hold {TEXT} and arrays numbered from 0, once each; it holds {sorted(names)[:5]}")
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise Refused("its parts are compressed, which this format does not do")
        if sum(member.file_size for member in members) > size:
            raise Refused("its parts claim to be larger than the file")
        text = json.loads(archive.read(TEXT), object_pairs_hook=_object)
        return text, [_array(archive.read(f"{k}.npy"), k) for k in range(len(members) - 1)]


def _object(pairs: list[tuple[Any, ...]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused(f"{TEXT} has the same key twice")
    return found


def _array(content: bytes, k: int) -> np.ndarray:
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise Refused(f"array {k} is of another version of NumPy's format")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    rest = len(content) - file.tell()
    if dtype not in (np.dtype("<f8"), np.dtype("<i8")) or by_columns:
        raise Refused(f"array {k} must hold float64 or int64 row by row; it holds {dtype}")
    if min(shape, default=0) < 0 or math.prod(shape) * 8 != rest:
        raise Refused(f"array {k} claims shape {shape}, but has {rest} bytes")
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)


class _Part:
    """A JSON object that must have exactly these keys."""

    def __init__(self, value: Any, name: str, *keys: str) -> None:
        if type(value) is not dict or set(value) != set(keys):
            raise Refused(f"{name} must hold {', '.join(keys)}")
        self.value, self.name = value, name

    def text(self, key: str, known: Any = None) -> str:
        value = self.value[key]
        if type(value) is not str or (known is not None and value not in known):
            raise Refused(f"{key} is {value!r}, which is not known")
        return value

    def count(self, key: str) -> int:
        value = self.value[key]
        if type(value) is not int or not 1 <= value < 2**62:
            raise Refused(f"{key} must be a whole number >= 1; it is {value!r}")
        return value

    def number(self, key: str) -> float:
        text = self.text(key)
        try:
            value = float.fromhex(text)
        except (ValueError, OverflowError):
            value = math.nan
        if not math.isfinite(value) or value.hex() != text:
            raise Refused(f"{key} must be a finite number as float.hex writes it; it is {text!r}")
        return value


def _proof(text: Any, arrays: list[np.ndarray]) -> Proof:
    if type(text) is not dict or text.get("format") != FORMAT:
        raise Refused("it is not a proof of southwell")
    if type(text.get("version")) is not int or text["version"] != VERSION:
        raise Refused(f"it is of version {text.get('version')!r} of the format; this program reads version {VERSION}")
    top = _Part(text, TEXT, "format", "version", "written_by", "problem", "sha256", "arrays", "claims")
    keys = ("samples", "features", "outputs", "loss", "parameter", "intercept", "data", "penalty")
    problem = _Part(text["problem"], "problem", *keys)
    n, d, k = (problem.count(key) for key in ("samples", "features", "outputs"))
    loss, data = problem.text("loss", Loss.known), problem.text("data", DATA)
    kind, allowed = Loss.known[loss].targets, Loss.known[loss].allowed
    parameter = problem.number("parameter")
    if (allowed is None and parameter != 0) or (allowed is not None and not allowed(parameter)):
        raise Refused(f"the {loss} loss has no parameter {parameter!r}")
    if type(intercept := problem.value["intercept"]) is not bool:
        raise Refused("intercept must be true or false")
    if kind == CLASSES and k < 2:
        raise Refused(f"the {loss} loss needs at least two classes")
    take = _Arrays(text["arrays"], arrays)
    x, y = take("x", (d, k)), take("y", (n, k))  # first, which checks that the sizes are those of existing arrays
    penalty = _penalty(problem.value["penalty"], take, d)
    b = take("b", (n,) if kind == CLASSES else (n, k))
    if not TARGETS[kind](b, k):
        raise Refused(f"its targets are not {kind}, which the {loss} loss needs")
    s = take("weights", (n,))
    if (s < 0).any() or not abs(math.fsum(s) - 1) <= 2.0**-50 * (n + 8):
        raise Refused("its sample weights are not >= 0 with a sum of one")
    c = take("intercept", (k,))
    if not intercept and c.any():
        raise Refused("it has an intercept where the problem has none")
    means = take("means", (d,)) if data == "centred" else None
    offset = take("offset", (n, k)) if "offset" in take.left else None
    take.finish()
    given = {"b": b, "weights": s} | ({} if offset is None else {"offset": offset})
    hashes = _Part(text["sha256"], "sha256", *DATA[data], *given)
    for name, own in given.items():
        if Matrix(own, name).sha256 != hashes.value[name]:
            raise Refused(f"its {name} is not the one it was written with: the SHA-256 differs")
    claims = _Part(text["claims"], "claims", "primal_at_most", "dual_at_least")
    return Proof(
        top.text("written_by"), n, d, k, loss, parameter, intercept, data, penalty, dict(hashes.value),
        claims.number("primal_at_most"), claims.number("dual_at_least"), x, c, y, s, b, means, offset,
    )  # fmt: skip


class _Arrays:
    """Arrays by name; each must be taken once, and none may be left over."""

    def __init__(self, names: Any, arrays: list[np.ndarray]) -> None:
        if type(names) is not dict or sorted(map(repr, names.values())) != sorted(map(repr, range(len(arrays)))):
            raise Refused("it must give each of its arrays one name")
        self.left = {name: arrays[k] for name, k in names.items()}

    def __call__(self, name: str, shape: tuple[Any, ...], dtype: str = "<f8", finite: bool = True) -> np.ndarray:
        array = self.left.pop(name, None)
        if array is None or array.dtype != np.dtype(dtype) or array.shape != shape:
            found = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
            raise Refused(f"{name} must be {dtype} of shape {shape}; it is {found}")
        if np.isnan(array).any() or (finite and not np.isfinite(array).all()):
            raise Refused(f"{name} contains NaN or infinity")
        return array

    def optional(self, name: str, default: float, size: int, finite: bool) -> np.ndarray:
        return self(name, (size,), finite=finite) if name in self.left else np.full(size, default)

    def finish(self) -> None:
        if self.left:
            raise Refused(f"it holds {', '.join(sorted(self.left))}, which this problem does not have")


def _penalty(value: Any, take: _Arrays, d: int) -> ElasticNet | Groups:
    part = _Part(value, "penalty", "kind", "l1", "l2")
    kind, l1, l2 = part.text("kind", ("elastic_net", "groups", "max_groups")), part.number("l1"), part.number("l2")
    if l1 < 0 or l2 < 0:
        raise Refused("its penalty is negative")
    if kind == "elastic_net":
        weights = take.optional("penalty_weights", 1.0, d, True)
        ridges = take("ridge_weights", (d,)) if "ridge_weights" in take.left else weights
        lower, upper = take.optional("lower", -np.inf, d, False), take.optional("upper", np.inf, d, False)
        if (weights < 0).any() or (ridges < 0).any():
            raise Refused("its penalty weights are negative")
        if (lower > upper).any() or (lower == np.inf).any() or (upper == -np.inf).any():
            raise Refused("its bounds leave no room")
        return ElasticNet(l1, l2, weights, ridges, lower, upper)
    group_of = take("group_of", (d,), "<i8")
    size = int(group_of.max()) + 1
    if group_of.min() < 0 or size > d:
        raise Refused("its groups are not numbered 0, 1, ...")
    strengths = take("strengths", (size,))
    if (strengths < 0).any():
        raise Refused("its penalty is negative")
    positive = "lower" in take.left
    if positive and take("lower", (d,)).any():
        raise Refused("its groups have a lower bound other than zero")
    return Groups(kind, l1, l2, group_of, strengths, positive)

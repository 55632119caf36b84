"""Proofs of random problems: the independent checker must verify each one, and refuse each one that was made false.

The problems are those of random_statements.py. What "auto" found is proved, written and read by ``southwell.check``.
Then the file or the data are changed so that the proof is false or belongs to something else: a claim beyond what the
other claim allows, one unit in the last place of a target or of an entry of the data, another sample weight, another
offset.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

import southwell as sw
from southwell.check import verify

from .random_statements import draw
from .report import Finding
from .statement import Statement


@cache
def _folder() -> tempfile.TemporaryDirectory:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="southwell-fuzz-", dir=memory)  # removed when the process ends


class Case:
    """One random problem, its proof, and the damaged ones."""

    def __init__(self, seed: int, number: int):
        self.rng = np.random.default_rng([seed, number])
        self.statement = draw(self.rng)
        self.key = f"{self.statement.loss.name}, {'blocks' if self.statement.blocks else 'scalar'}"
        self.findings: list[Finding] = []
        self.counts: Counter = Counter()

    def run(self) -> tuple[list[Finding], Counter]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            self._run()
        return self.findings, self.counts

    def _run(self) -> None:
        try:
            result = sw.solve(self.statement.problem(), max_seconds=1.0, max_epochs=300)
        except ValueError:
            self.counts["refused a problem"] += 1
            return
        proof = result.prove()
        if not np.isfinite([proof.primal, proof.dual]).all():
            self.counts["without finite bounds"] += 1
            return
        path = os.path.join(_folder().name, "answer.proof")
        proof.save(path)
        verdict = self._verdict(path, self.statement)
        if not verdict.verified and "which is not supported" in str(verdict):  # many features without a penalty
            self.counts["beyond the checker"] += 1
            return
        self.counts["verified" if verdict.verified else "not verified"] += 1
        if not verdict.verified:
            self._find("proof not verified", f"{proof}\n{verdict}")
            return
        with open(path, "rb") as file:
            content = file.read()
        for name, damage in self._damages(content, proof).items():
            if (damaged := damage()) is None:
                continue
            file_content, statement = damaged
            with open(path, "wb") as file:
                file.write(file_content)
            self.counts["damaged"] += 1
            if (verdict := self._verdict(path, statement)).verified:
                self._find(f"damaged proof accepted ({name})", f"{proof}\n{verdict}")

    @staticmethod
    def _verdict(path: str, statement: Statement):
        A = statement.factors[0] if len(statement.factors) == 1 else statement.factors
        return verify(path, A, statement.b, statement.weights, statement.offset)

    def _find(self, kind: str, detail: str) -> None:
        self.findings.append(Finding(kind, self.key, f"{self.statement}\n{detail}"))

    def _damages(self, content: bytes, proof) -> dict[str, Callable[[], tuple[bytes, Statement] | None]]:
        s, rng = self.statement, self.rng

        def claims(value: float) -> Callable[[], tuple[bytes, Statement]]:
            """Both claims are this value: one of them is false, as it is beyond the true claim of the other kind."""
            return lambda: (_with_claims(content, value, value), s)

        def bumped(array: np.ndarray) -> np.ndarray:
            k = tuple(int(rng.integers(size)) for size in array.shape)
            other = array.copy()
            other[k] = np.nextafter(other[k], np.inf, dtype=other.dtype) if other[k] < 1e300 else 0
            return other

        def entry() -> tuple[bytes, Statement]:
            factors = (bumped(s.factors[0]), *s.factors[1:])
            return content, replace(s, factors=factors)

        def target() -> tuple[bytes, Statement] | None:
            if s.of_classes or s.offset is not None:  # b - offset may round to the same number
                return None
            return content, replace(s, b=bumped(s.b.astype(np.float64)))

        def offset() -> tuple[bytes, Statement] | None:
            if s.offset is None:
                return None
            other = s.offset.copy()
            other.flat[int(rng.integers(other.size))] += 1.0 + np.abs(s.b).max() + np.abs(other).max()
            return content, replace(s, offset=other)

        def weight() -> tuple[bytes, Statement] | None:
            if s.weights is None or len(s.weights) < 2:
                return None
            return content, replace(s, weights=np.r_[s.weights[:-1], 2 * s.weights[-1] + s.weights.max()])

        return {
            "objective below the optimum": claims(float(np.nextafter(proof.dual, -np.inf))),
            "optimum above the objective": claims(float(np.nextafter(proof.primal, np.inf))),
            "an entry of A": entry, "a target": target, "a sample weight": weight, "an offset": offset,
        }  # fmt: skip


def _with_claims(content: bytes, primal: float, dual: float) -> bytes:
    """The same proof file with other claims."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            member = old.read(name)
            if name == "proof.json":
                text = json.loads(member)
                text["claims"] = {"primal_at_most": primal.hex(), "dual_at_least": dual.hex()}
                member = json.dumps(text).encode()
            new.writestr(name, member)
    return out.getvalue()


def make(seed: int, number: int) -> Case:
    return Case(seed, number)

"""Fits of data larger than memory: ``python benchmarks/stores.py FOLDER [--entries N] [--gigabytes G] [--memory M]``.

Makes a store of text-like rows (about 100 words of a million, by a power law) with N entries, and a dense one of G
gigabytes, unless they are there; then fits L1 logistic regression and the lasso to 1e-6 from files, each in a process
of its own. Told are seconds, beside those of one read of the store by NumPy, and the largest resident set, mapped files
included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import southwell as sw
from southwell.data import Store

WORDS, LENGTH, FEATURES = 1_000_000, 100, 1000


def text(rng: np.random.Generator, rows: int) -> tuple[sp.csr_array, np.ndarray]:
    """Rows of words whose frequencies follow a power law, and labels that a few hundred words decide."""
    words = np.sort((WORDS ** rng.random((rows, LENGTH), dtype=np.float32)).astype(np.int32) - 1, axis=1)
    new = np.ones(words.shape, bool)
    new[:, 1:] = words[:, 1:] != words[:, :-1]
    sizes = new.sum(axis=1)
    values = (1 / np.sqrt(np.repeat(sizes, sizes))).astype(np.float32)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    A = sp.csr_array((values, words[new], indptr), shape=(rows, WORDS))
    model = np.random.default_rng(1).normal(size=400) * 3
    margins = A[:, 50:450] @ model
    return A, np.where(margins + 0.5 * rng.logistic(size=rows) > 0, 1.0, -1.0)


def dense(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of normal numbers with a common part, and targets of a sparse model."""
    A = rng.standard_normal((rows, FEATURES), dtype=np.float32)
    A += rng.standard_normal((rows, 1), dtype=np.float32)
    return A, A[:, :40] @ np.random.default_rng(1).normal(size=40) + 3 * rng.normal(size=rows)


def made(path: Path, draw, total: float, chunk: int) -> Store:
    """The store, made in chunks of rows unless it is there."""
    rng, store = np.random.default_rng(0), None
    if path.exists():
        return Store.open(path)
    while store is None or store.entries < total:
        A, b = draw(rng, chunk)
        if store is None:
            store = Store.write(path, A, b)
        else:
            store.append(A, b)
        print(f"  {path.name}: {store.entries:,} entries", flush=True)
    return store


def one_read(store: Store) -> float:
    """Seconds to add up all stored numbers and indices, shard by shard, as they are mapped."""
    begun = time.perf_counter()
    for shard in store:
        parts = (shard.A.data, shard.A.indices) if store.layout == "csr" else (shard.A,)
        for part in parts:
            part.sum()
    return time.perf_counter() - begun


def peak() -> int:
    """The largest resident set of this process so far, in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def fit(path: str, loss: str, memory: str, part: float) -> None:
    """In a process of its own: prints what was measured as JSON."""
    before = peak()
    store = Store.open(path, memory=memory)
    begun = time.perf_counter()
    problem = sw.Problem(store, store.part("targets") if loss == "logistic" else None, loss, intercept=True)
    l1 = part * sw.lambda_max(problem)
    ready = time.perf_counter() - begun
    r = sw.solve(problem.with_penalty(sw.penalties.ElasticNet(l1)))
    print(json.dumps({
        "status": str(r.status), "gap": r.relative_gap, "rounds": r.epochs, "nonzeros": int(r.nonzeros),
        "ready": ready, "seconds": r.seconds,
        "before": before, "most": peak(), "in_parts": problem.in_parts,
    }))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--entries", type=float, default=1e9)
    parser.add_argument("--gigabytes", type=float, default=20.0)
    parser.add_argument("--memory", default="2 GB")
    parser.add_argument("--part", type=float, default=0.1, help="l1 in units of its largest useful value")
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit(given.fit[0], given.fit[1], given.memory, given.part)
        return
    given.folder.mkdir(exist_ok=True)
    cases = []
    if given.entries:
        cases.append((made(given.folder / "text", text, given.entries, 500_000), "logistic"))
    if given.gigabytes:
        cases.append((made(given.folder / "dense", dense, given.gigabytes * 2.5e8, 250_000), "squared"))
    for store, loss in cases:
        read = one_read(store)
        command = [sys.executable, __file__, str(given.folder), "--memory", given.memory, "--part", str(given.part)]
        done = subprocess.run([*command, "--fit", str(store.path), loss], capture_output=True, text=True, check=True)
        told = json.loads(done.stdout.splitlines()[-1])
        print(f"{store}\n  one read {read:.1f} s; L1 {loss}: {told['status']}, gap {told['gap']:.1e}, {told['rounds']} "
              f"rounds, {told['nonzeros']} nonzeros; checks, means and strength {told['ready']:.1f} s, solve "
              f"{told['seconds']:.1f} s = {told['seconds'] / read:.1f} reads; resident "
              f"{told['before'] / 1e9:.2f} GB before, {told['most'] / 1e9:.2f} GB at most")  # fmt: skip


if __name__ == "__main__":
    main()

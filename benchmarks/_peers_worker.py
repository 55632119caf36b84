"""Fits peers on request; runs under their own Python, as a process that may be killed.

A request is a line of JSON on stdin, an answer one on stdout (``limit``: seconds of the processor, in a fork):

    {"folder": ..., "study": "PEERS", "ask": [...], "peer": ..., "tol": ..., "l1s": null, "warm": false}
    {"seconds": ..., "intercept": ...}   with x.npy in the folder, or {"error": ...}

``warm`` asks for a fit of tiny data of the same layout, so that everything is imported and compiled; it writes no file.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import _net_fits  # noqa: F401, registers further fits
import _peers_fits
from _timing import clock


def save(folder: Path, A, b) -> None:
    """What ``load`` reads; the order of dense data is kept."""
    for part in ("data", "indices", "indptr") if sp.issparse(A) else ():
        np.save(folder / f"{part}.npy", getattr(A, part))
    np.save(folder / "A.npy", np.array(A.shape) if sp.issparse(A) else A)
    np.save(folder / "b.npy", b)


def load(folder: Path):
    """A as CSR matrix or array, and b."""
    A, b = np.load(folder / "A.npy"), np.load(folder / "b.npy")
    if (folder / "data.npy").exists():
        parts = tuple(np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr"))
        A = sp.csr_matrix(parts, shape=tuple(A))
    return A, b


def tiny(A, b):
    """Forty samples and thirty features, in A's layout."""
    rng = np.random.default_rng(0)
    small = rng.standard_normal((40, 30)) * (rng.random((40, 30)) < 0.5)
    if sp.issparse(A):
        small = sp.csr_matrix(small)
        small.indices, small.indptr = small.indices.astype(A.indices.dtype), small.indptr.astype(A.indptr.dtype)
    elif A.flags.f_contiguous:
        small = np.asfortranarray(small)
    return small, rng.choice(np.unique(b)[[0, -1]], 40)


def dense(x) -> np.ndarray:
    return np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float64)


def answer(A, b, request: dict) -> dict:
    ask = _peers_fits.Ask(*request["ask"])
    fit, tols = getattr(_peers_fits, request["study"])[ask.model][request["peer"]]
    tol, l1s = request["tol"], request["l1s"]
    if request["warm"]:  # a tight tolerance and a small penalty, so that all functions are compiled
        A, b = tiny(A, b)
        ask, tol = ask._replace(l1=0.01 * (ask.l1 > 0), l2=0.01 * (ask.l2 > 0)), tols[len(tols) // 2]
        l1s = l1s and [0.1, 0.01]
    more = () if l1s is None else (np.array(l1s),)
    now = clock(ask.threads)
    begun = now()
    found = fit(A, b, ask, tol, *more)
    seconds = now() - begun
    x, intercept = (found, 0.0) if more else found
    if not request["warm"]:
        np.save(Path(request["folder"]) / "x.npy", dense(x))
    return {"seconds": seconds, "intercept": intercept}


def in_child(A, b, request: dict) -> dict:
    """The answer of a fork, which is ended when it has used ``limit`` seconds of the processor: this process keeps what
    it has imported and compiled. (Timers and limits of the kernel make the processor's clock coarse on some systems.)
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            tried(A, b, {**request, "warm": True})  # a fork's first touches of memory are not the fit's
            os.write(writer, json.dumps(tried(A, b, request)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    late = False
    while not late and not select.select([reader], [], [], max(0.05, request["limit"] - used(child)))[0]:
        late = used(child) > request["limit"]
    if late:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    if told:
        return json.loads(told)
    why = f"no answer within {request['limit']:.3g} s" if late else "its process died"
    return {"error": f"{why} at tolerance {request['tol']:.0e}"}


def used(pid: int) -> float:
    """Seconds of the processor."""
    told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def tried(A, b, request: dict) -> dict:
    try:
        return answer(A, b, request)
    except _peers_fits.Unable as reason:
        return {"error": str(reason)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # some peers print
    os.dup2(1, 2)
    warnings.simplefilter("ignore")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    resource.setrlimit(resource.RLIMIT_AS, (3 * memory // 4,) * 2)  # peers that form d x d fail instead of swapping
    folder = A = b = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["folder"] != folder:
            folder, (A, b) = request["folder"], load(Path(request["folder"]))
        reply = in_child(A, b, request) if request.get("limit") else tried(A, b, request)
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()

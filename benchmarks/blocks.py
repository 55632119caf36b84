"""Groups, tasks and classes against their peers:

    python benchmarks/blocks.py [groups] [tasks] [classes] [sparse] [paths] [--peers PY]

celer's GroupLasso and MultiTaskLasso (installed for PY, with a scikit-learn that it supports), scikit-learn's
MultiTaskLasso and multinomial LogisticRegression; ``sparse`` is the latter with L1, which saga alone can do. Ours runs
at its default tolerance, with its proof; a peer's is made tighter until its objective is within 1e-6 of the zero
model's objective from the best known. Each has a process of its own, on one thread; the fastest of three fits counts,
or the first if it takes long. ``paths`` is about regularisation paths, see _block_paths.py; PY may have adelie too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import _block_paths
from _timing import table

CLASSES = ("classes", "sparse")
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)


# Data


def scaled(A) -> np.ndarray:
    spread = A.std(axis=0)
    return np.asfortranarray((A - A.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def groups_data():
    from southwell.testing.datasets import load, load_binary

    for name, size in (("leukemia", 5), ("riboflavin", 8), ("colon", 4)):
        A, b = load(name) if name == "riboflavin" else load_binary(name)
        A = scaled(A)[:, : A.shape[1] // size * size]
        yield name, A, b - b.mean(), size
    A, b = load_binary("20news")
    A = sp.csc_array(A)[:, : A.shape[1] // 10 * 10]
    yield "20news", A, b - b.mean(), 10


def tasks_data():
    rng = np.random.default_rng(0)
    for n, d, k in ((300, 7000, 20), (2000, 2000, 50)):
        A, X = np.asfortranarray(rng.normal(size=(n, d))), np.zeros((d, k))
        X[:20] = rng.normal(size=(20, k))
        yield f"random {n}x{d}x{k}", A, A @ X + rng.normal(size=(n, k)), None
    from southwell.testing.datasets import load, load_binary

    A = scaled(load_binary("leukemia")[0])  # targets: every 700th gene; features: all others
    chosen = np.arange(0, A.shape[1], 700)
    yield "leukemia genes", np.asfortranarray(np.delete(A, chosen, axis=1)), A[:, chosen], None
    A, b = load("usps")
    Y = (b[:, None] == np.unique(b)) * 1.0
    yield "usps classes", scaled(A), Y - Y.mean(axis=0), None


def sparse_data():
    yield from classes_data()


def classes_data():
    from sklearn.datasets import load_digits

    from southwell.testing.datasets import load

    A, b = load_digits(return_X_y=True)
    yield "digits", A / 16, b, None
    for name, rows in (("usps", None), ("mnist", 20_000), ("20news", None), ("sector", None)):
        A, b = load(name, standardise=name in ("usps", "mnist"))
        A, b = A[:rows], np.unique(b[:rows], return_inverse=True)[1]
        yield name, A / np.abs(A).max() if isinstance(A, np.ndarray) else A, b, None


# One fit after another, in a process of its own


def objective(kind: str, A, b, strength: float, groups, coef: np.ndarray, intercept) -> float:
    """Our objective, at columns of coefficients."""
    margins = A @ coef + intercept
    if kind in CLASSES:
        top = margins.max(axis=1, keepdims=True)
        losses = np.log(np.exp(margins - top).sum(axis=1)) + top[:, 0] - margins[np.arange(len(b)), b]
        return losses.mean() + strength * ((coef**2).sum() / 2 if kind == "classes" else np.abs(coef).sum())
    squares = (coef**2).reshape(coef.shape[0], -1).sum(axis=1)
    norms = np.sqrt(squares if kind == "tasks" else squares.reshape(-1, groups).sum(axis=1))
    return float(((margins - b) ** 2).sum() / 2 / A.shape[0] + strength * norms.sum())


def makers(kind: str, who: str, strength: float, groups, n: int):
    """``make(tol)``, and the tolerances to try."""
    if who == "ours":
        import southwell as sw

        sw.set_num_threads(1)
        if kind == "groups":
            return lambda tol: sw.GroupLasso(groups, strength, fit_intercept=False, tol=tol), (1e-6,)
        if kind == "tasks":
            return lambda tol: sw.MultiTaskLasso(strength, fit_intercept=False, tol=tol), (1e-6,)
        return lambda tol: sw.LogisticRegression(
            C=1 / (strength * n), penalty="l2" if kind == "classes" else "l1", multi_class="multinomial", tol=tol
        ), (1e-6,)
    if who == "celer":
        import celer

        if kind == "groups":
            return lambda tol: celer.GroupLasso(
                groups, strength, fit_intercept=False, tol=tol, max_iter=500
            ), TOLERANCES
        return lambda tol: celer.MultiTaskLasso(strength, fit_intercept=False, tol=tol, max_iter=500), TOLERANCES
    from sklearn.linear_model import LogisticRegression, MultiTaskLasso

    if kind == "tasks":
        return lambda tol: MultiTaskLasso(strength, fit_intercept=False, tol=tol, max_iter=10**5), TOLERANCES
    solver, l1 = who.removeprefix("sklearn "), float(kind == "sparse")
    return lambda tol: LogisticRegression(
        C=1 / (strength * n), l1_ratio=l1, solver=solver, tol=tol, max_iter=10**5
    ), TOLERANCES


def work(request: dict) -> None:
    warnings.simplefilter("ignore")
    stored = np.load(request["data"], allow_pickle=True)
    A = (
        stored["A"]
        if "A" in stored
        else sp.csc_array((stored["data"], stored["indices"], stored["indptr"]), stored["shape"])
    )
    if sp.issparse(A):
        A = sp.csr_matrix(A) if request["rows"] else sp.csc_matrix(A)
    b, kind = stored["b"], request["kind"]
    make, tolerances = makers(kind, request["who"], request["strength"], request["groups"], A.shape[0])
    few = np.arange(0, A.shape[0], max(1, A.shape[0] // 200))
    make(1e-2).fit(
        A[few] if kind not in CLASSES else A[:500], b[few] if kind not in CLASSES else b[:500]
    )  # load what is loaded only once
    for tol in tolerances:
        seconds = []
        while len(seconds) < 3 and sum(seconds) < 3:
            begun = time.perf_counter()
            model = make(tol).fit(A, b)
            seconds.append(time.perf_counter() - begun)
        coef = np.atleast_2d(model.coef_).T
        target = b if kind in CLASSES else b.reshape(A.shape[0], -1)
        value = objective(kind, A, target, request["strength"], request["groups"], coef, model.intercept_)
        print(
            json.dumps({"tol": tol, "seconds": min(seconds), "value": value, "gap": getattr(model, "gap_", None)}),
            flush=True,
        )


def ask(python: str, request: dict, limit: float) -> list[dict]:
    """The results of a worker until its time was up."""
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [python, str(Path(__file__).resolve()), "--work", json.dumps(request)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=os.environ | alone) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
    if not out and err and "Error" in err:
        print(f"  {request['who']}: {err.strip().splitlines()[-1]}", file=sys.stderr)
    return [json.loads(line) for line in out.splitlines()]


# The race


def strengths(kind: str, A, b, groups) -> tuple[list[tuple[str, float]], float]:
    """The penalty strengths by name, and P(0)."""
    n = A.shape[0]
    if kind in CLASSES:
        shares = np.bincount(b) / n
        zero = float(-(shares @ np.log(shares)))
        if kind == "classes":
            return [(f"C={C:g}", 1 / (C * n)) for C in (0.1, 1.0, 10.0)], zero
        top = np.abs(A.T @ ((b[:, None] == np.arange(shares.size)) - shares)).max() / n
        return [(f"{part:g} max", part * float(top)) for part in (0.3, 0.1, 0.03)], zero
    slopes = (np.abs(A.T @ b) if b.ndim == 1 else A.T @ b) / n
    squares = (slopes.reshape(A.shape[1], -1) ** 2).sum(axis=1)
    top = np.sqrt(squares if kind == "tasks" else squares.reshape(-1, groups).sum(axis=1)).max()
    return [(f"{part:g} max", part * float(top)) for part in (0.3, 0.1, 0.03)], float((b**2).sum() / 2 / n)


def race(kind: str, given) -> None:
    whom = {
        "groups": ["celer"],
        "tasks": ["celer", "sklearn"],
        "classes": ["sklearn lbfgs", "sklearn newton-cg"],
        "sparse": ["sklearn saga"],
    }[kind]
    rows, ratios = [], []
    for name, A, b, groups in globals()[f"{kind}_data"]():
        if given.sets and name.split()[0] not in given.sets:
            continue
        named, unit = strengths(kind, A, b, groups)
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data.npz"
            columns = sp.csc_array(A) if sp.issparse(A) else None
            parts = {"A": A} if columns is None else {
                "data": columns.data, "indices": columns.indices, "indptr": columns.indptr, "shape": columns.shape
            }  # fmt: skip
            np.savez(data, b=b, **parts)
            for text, strength in named:
                request = {
                    "data": str(data),
                    "kind": kind,
                    "strength": strength,
                    "groups": groups,
                    "rows": kind in CLASSES,
                }
                found = {}
                for who in ["ours", *whom]:
                    python = given.peers if who == "celer" else sys.executable
                    found[who] = ask(python, request | {"who": who}, given.limit) if python else []
                best = min(one["value"] for runs in found.values() for one in runs)
                reached = {
                    who: next((one for one in runs if one["value"] <= best + 1e-6 * unit), None)
                    for who, runs in found.items()
                }
                row = {"data": name, "strength": text}
                for who, one in reached.items():
                    row[who + " ms"] = "-" if one is None else f"{1e3 * one['seconds']:.1f}"
                theirs = [one["seconds"] for who, one in reached.items() if who != "ours" and one]
                mine = reached["ours"]
                ratio = mine["seconds"] / min(theirs) if mine and theirs else None
                row["ratio"] = "-" if ratio is None else f"{ratio:.2f}"
                row["above best"] = f"{(found['ours'][0]['value'] - best) / unit:.1e}" if found["ours"] else "-"
                row["gap"] = f"{found['ours'][0]['gap']:.1e}" if found["ours"] else "-"
                ratios += [] if ratio is None else [ratio]
                rows.append(row)
                print("  ".join(str(cell) for cell in row.values()), file=sys.stderr)
    print(
        f"\n{kind}: geometric mean of the ratios {np.exp(np.mean(np.log(ratios))):.3f} over {len(ratios)}\n"
        if ratios
        else ""
    )
    if rows:
        print(table(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help="groups, tasks, classes, sparse, paths; default: all")
    parser.add_argument("--peers", help="a Python that has celer, and adelie for paths")
    parser.add_argument("--points", type=int, default=_block_paths.POINTS, help="of each path")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for all tolerances of one solver")
    parser.add_argument("--sets", nargs="*", default=[], help="only these data sets")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        request = json.loads(given.work)
        (_block_paths.work if request.get("study") == "paths" else work)(request)
    else:
        for kind in given.kinds or ("groups", "tasks", "classes", "sparse", "paths"):
            if kind == "paths":
                _block_paths.race(given)
            else:
                race(kind, given)


if __name__ == "__main__":
    main()

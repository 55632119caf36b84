"""Paths of groups, tasks and classes: one warm path against as many solves from zero, and against peers' paths.

Each solver has a process of its own, on one thread. Ours stop at a proven gap of 1e-6 at every point; a peer's
tolerance is tightened until its objective is within 1e-6 of the zero model's objective from the best known, at every
point.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from _timing import table

POINTS, RATIO = 50, 0.01
TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13)
PEERS = {
    "groups": ["adelie", "celer"],
    "tasks": ["adelie", "celer", "sklearn"],
    "classes": ["adelie"],  # a feature for all classes, or for none
    "classes l1": ["sklearn"],  # by saga
}
ON_PEERS_PYTHON = ("adelie", "celer")


# Data: name, kind, A, targets, size of groups


def cases():
    from blocks import classes_data, groups_data, tasks_data

    for name, A, b, size in groups_data():
        if name != "20news":
            yield name, "groups", A, b, size
    for name, A, b, _ in tasks_data():
        if not name.startswith("random"):
            yield name, "tasks", A, b, None
    for name, A, b, _ in classes_data():
        if name in ("digits", "usps"):
            yield name, "classes", np.asfortranarray(A), b, None
            yield name, "classes l1", np.asfortranarray(A), b, None


def problem_of(kind: str, A, b, size):
    import southwell as sw
    from southwell.penalties import ElasticNet, Groups

    classes = kind.startswith("classes")
    penalty = {
        "groups": lambda: Groups(1.0, groups=np.arange(A.shape[1]) // size),
        "classes l1": lambda: ElasticNet(1.0),
    }
    penalty = penalty.get(kind, lambda: Groups(1.0))()
    return sw.BlockProblem(A, b, "softmax" if classes else "squared", penalty, intercept=classes)


def objectives(problem, strengths: np.ndarray, tables, intercepts) -> list[float]:
    """Ours, at each point; columns of a table are targets or classes."""
    values = []
    for strength, x, c in zip(strengths, tables, intercepts, strict=True):
        x = np.ascontiguousarray(x).reshape((problem.n_features, problem.width) if problem.table else -1)
        inner = problem.to_inner(x, c)
        values.append(problem.loss_at(inner) + problem.penalty.at(float(strength), 0.0).value(x))
    return values


# Solvers: coefficients and intercepts of all points, and whether each is proven


def ours(problem, strengths, tol):
    import southwell as sw

    path = sw.path(problem, l1s=strengths, tol=tol, max_epochs=10**5)
    return [path.coefficients(k) for k in range(len(path))], path.intercepts, path.converged


def cold(problem, strengths, tol):
    import southwell as sw

    own = problem.penalty
    results = [sw.solve(problem.with_penalty(own.at(float(s), 0.0)), tol=tol, max_epochs=10**5) for s in strengths]
    return [r.x for r in results], [r.intercept for r in results], all(r.status for r in results)


def adelie(kind, A, b, size, strengths, tol):
    import adelie as ad

    options = {"penalty": np.ones(A.shape[1] if size is None else -(-A.shape[1] // size)), "intercept": False}
    width = 1
    if kind == "groups":
        glm, options["groups"] = ad.glm.gaussian(b), np.arange(0, A.shape[1], size)
    elif kind == "tasks":
        glm, width = ad.glm.multigaussian(np.asfortranarray(b)), b.shape[1]
    else:
        width = int(b.max()) + 1
        glm = ad.glm.multinomial(np.asfortranarray(np.eye(width)[b]))
        options["intercept"] = True
    # Its losses of several columns are divided by their number.
    state = ad.grpnet(
        A, glm, lmda_path=strengths / width, tol=tol, irls_tol=tol, early_exit=False, progress_bar=False,
        n_threads=1, max_iters=10**7, **options,
    )  # fmt: skip
    return state.betas.toarray(), state.intercepts if options["intercept"] else np.zeros(len(strengths)), None


def celer(kind, A, b, size, strengths, tol):
    from celer import GroupLasso, MultiTaskLasso

    options = {"fit_intercept": False, "tol": tol, "max_iter": 500, "warm_start": True}
    model = GroupLasso(size, **options) if kind == "groups" else MultiTaskLasso(**options)
    coefs = [model.set_params(alpha=float(s)).fit(A, b).coef_.copy() for s in strengths]
    return [np.atleast_2d(coef).T for coef in coefs], np.zeros(len(coefs)), None


def sklearn(kind, A, b, size, strengths, tol):
    from sklearn.linear_model import LogisticRegression, lasso_path

    if kind == "tasks":
        coefs = lasso_path(A, b, alphas=strengths, tol=tol, max_iter=10**5)[1]
        return list(coefs.transpose(2, 1, 0)), np.zeros(len(strengths)), None
    model, coefs, intercepts = LogisticRegression(l1_ratio=1.0, solver="saga", tol=tol, max_iter=10**5), [], []
    model.warm_start = True
    for strength in strengths:
        model.set_params(C=1 / (strength * A.shape[0])).fit(A, b)
        coefs.append(model.coef_.T.copy())
        intercepts.append(model.intercept_.copy())
    return coefs, np.array(intercepts), None


# One solver, in a process of its own: it stores what it found, and prints the seconds


def work(request: dict) -> None:
    warnings.simplefilter("ignore")
    stored, who = np.load(request["data"]), request["who"]
    A, b, strengths = np.asfortranarray(stored["A"]), stored["b"], stored["strengths"]
    kind, size = request["kind"], request["size"]
    if who in ("path", "cold"):
        import southwell as sw

        sw.set_num_threads(1)
        run = ours if who == "path" else cold
        tolerances = (1e-6,)

        def fit(strengths, tol):
            return run(problem_of(kind, A, b, size), strengths, tol)
    else:
        tolerances = TOLERANCES

        def fit(strengths, tol):
            return globals()[who](kind, A, b, size, strengths, tol)

    fit(strengths[:2], 1e-2)  # what is loaded once
    for tol in tolerances:
        begun = time.perf_counter()
        tables, intercepts, proven = fit(strengths, tol)
        seconds = time.perf_counter() - begun
        found = Path(request["folder"]) / f"{who} {tol:g}.npz"
        np.savez(found, x=np.stack([np.ravel(x) for x in tables]), c=np.asarray(intercepts))
        print(json.dumps({"tol": tol, "seconds": seconds, "found": str(found), "proven": proven}), flush=True)


# The race


def race(given) -> None:
    import southwell as sw
    from blocks import ask

    rows = []
    for name, kind, A, b, size in cases():
        if given.sets and name.split()[0] not in given.sets:
            continue
        problem = problem_of(kind, A, b, size)
        strengths = sw.lambda_max(problem) * np.geomspace(1.0, RATIO, given.points)
        unit = sw.solve(problem.with_penalty(problem.penalty.at(strengths[0], 0.0)), max_epochs=0, tol=1e9).scale
        with tempfile.TemporaryDirectory() as folder:
            data = str(Path(folder) / "data.npz")
            np.savez(data, A=A.toarray() if sp.issparse(A) else A, b=b, strengths=strengths)
            request = {"study": "paths", "data": data, "folder": folder, "kind": kind, "size": size}
            found = {}
            for who in ["path", "cold", *PEERS[kind]]:
                python = given.peers if who in ON_PEERS_PYTHON else sys.executable
                runs = ask(python, request | {"who": who}, given.limit) if python else []
                for run in runs:
                    stored = np.load(run["found"])
                    run["values"] = np.array(objectives(problem, strengths, stored["x"], stored["c"]))
                found[who] = runs
        rows.append(_row(name, kind, found, unit))
        print("  ".join(str(cell) for cell in rows[-1].values()), file=sys.stderr)
    if rows:
        print(f"\npaths of {given.points} points down to {RATIO:g} of lambda_max; seconds\n\n{table(rows)}")


def _row(name: str, kind: str, found: dict[str, list[dict]], unit: float) -> dict[str, str]:
    row = dict.fromkeys(("data", "model", "path", "cold", "cold/path", "adelie", "celer", "sklearn", "proven"), "-")
    row |= {"data": name, "model": kind}
    everything = [run["values"] for runs in found.values() for run in runs]
    if not everything:
        return row
    best = np.min(everything, axis=0)
    for who, runs in found.items():
        near = [run for run in runs if (run["values"] <= best + 1e-6 * unit).all()]
        row[who] = f"{near[0]['seconds']:.3g}" if near else "-"
    if found["path"] and found["cold"]:
        row["cold/path"] = f"{found['cold'][0]['seconds'] / found['path'][0]['seconds']:.2f}"
    row["proven"] = "all" if found["path"] and found["path"][0]["proven"] else "no"
    return row

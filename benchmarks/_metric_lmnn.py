"""One metric on usps: ours, metric-learn's LMNN and PyLMNN's. The peers minimise other objectives, without a convex
bound or a certificate, so the comparison is the error of three neighbours on held-out points, and the time."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from _timing import markdown
from southwell.metric import LargeMarginNearestNeighbor
from southwell.testing import datasets

PEERS = {
    "PyLMNN, 50 iterations (default)": ("pylmnn", {"n_neighbors": 3, "init": "identity"}),
    "PyLMNN, 200 iterations": ("pylmnn", {"n_neighbors": 3, "init": "identity", "max_iter": 200}),
    "metric-learn, 50 iterations": ("metric_learn", {"n_neighbors": 3, "init": "identity", "max_iter": 50}),
    "metric-learn, 1000 iterations (default)": ("metric_learn", {"n_neighbors": 3, "init": "identity"}),
}
# PyLMNN imports GPyOpt for a search that is not used here.
WORKER = """
import json, sys, time, types, warnings
warnings.simplefilter("ignore")
import numpy as np
who, options, path = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
for name in ("GPyOpt", "GPyOpt.methods"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["GPyOpt.methods"].BayesianOptimization = None
if who == "pylmnn":
    from pylmnn import LargeMarginNearestNeighbor as Model
else:
    from metric_learn import LMNN as Model
file = np.load(path)
begun = time.perf_counter()
model = Model(**options).fit(file["X"], file["y"])
seconds = time.perf_counter() - begun
np.save(path + ".npy", model.components_)
print(json.dumps({"seconds": seconds}))
"""


def lmnn(given) -> None:
    with np.load(datasets.find("usps")) as file:
        X, y, n = file["X"].astype(np.float64), file["y"].astype(int), int(file["n_train"])
    train, test = slice(1000 if given.quick else n), slice(n, None)

    def error(components) -> str:
        moved = X @ components.T
        return f"{100 * (1 - KNeighborsClassifier(3).fit(moved[train], y[train]).score(moved[test], y[test])):.2f} %"

    rows = [{"model": "Euclidean", "seconds": "-", "error": error(np.eye(256)), "proof": "-"}]
    for label, options in {
        "ours, tol=1e-2": {"tol": 1e-2},
        "ours, tol=1e-4": {"tol": 1e-4},
        "ours, default": {},
        "ours, float32": {"dtype": "float32"},
        "ours, l2=0.003, 2 refreshes": {"l2": 0.003, "refresh": 2},
    }.items():
        begun = time.perf_counter()
        model = LargeMarginNearestNeighbor(n_jobs=given.threads, **options).fit(X[train], y[train])
        seconds = time.perf_counter() - begun
        rows.append({"model": label, "seconds": f"{seconds:.1f}", "error": error(model.components_),
                     "proof": f"gap {model.gap_:.0e}"})  # fmt: skip
        print(f"  {rows[-1]}", flush=True)
    for label, (who, options) in PEERS.items() if given.peers else ():
        rows.append({"model": label, "proof": "none", **_asked(given, who, options, X[train], y[train], error)})
        print(f"  {rows[-1]}", flush=True)
    print(f"\nusps, {len(y[train])} points of 256 features; error of 3 neighbours on {len(y[test])} others")
    print(markdown([{name: row[name] for name in rows[0]} for row in rows]))


def _asked(given, who: str, options: dict, X, y, error) -> dict:
    limit = 10 * given.seconds
    threads = {f"{name}_NUM_THREADS": str(given.threads) for name in ("OMP", "OPENBLAS", "MKL")}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/data.npz"
        np.savez(path, X=X, y=y)
        command = [given.peers, "-c", WORKER, who, json.dumps(options), path]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=os.environ | threads)
        except subprocess.TimeoutExpired:
            return {"seconds": f"> {limit:g}", "error": "-"}
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        return {"seconds": f"{json.loads(done.stdout)['seconds']:.1f}", "error": error(np.load(path + ".npy"))}

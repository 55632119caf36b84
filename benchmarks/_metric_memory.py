"""The size of section 6.3: 64,000 points of 128 features, 100 tasks of 10 classes, 1,152,000 triplets: peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from _timing import markdown
from memory import peak_kilobytes

CASES = {
    "FISTA": {"method": "fista"},
    "FISTA, float32": {"method": "fista", "dtype": "float32"},
    "DSPDC, q = 20, m = 2000": {"method": "dspdc", "blocks": 20, "rows": 2000},
    "DSPDC, q = 20, m = 230400": {"method": "dspdc", "blocks": 20, "rows": 230_400},
    "SPDC, m = 230400": {"method": "spdc", "rows": 230_400},
    "SDCA, m = 230400": {"method": "sdca", "rows": 230_400},
}


def clouds(tasks: int = 100, classes: int = 10, each: int = 64, d: int = 128):
    """A Gaussian cloud for each class, elongated in some directions. Returns points, labels, tasks."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(tasks * classes, 1, d)) * rng.uniform(0.1, 0.9, d)
    X = centres + rng.normal(size=(tasks * classes, each, d)) * rng.uniform(0.2, 1.4, d)
    y = np.repeat(np.arange(tasks * classes), each)
    return X.reshape(-1, d), y, y // classes


def child(label: str, given) -> None:
    from southwell.metric import MultiTaskLargeMarginNearestNeighbor

    X, y, tasks = clouds(10 if given.quick else 100)
    model = MultiTaskLargeMarginNearestNeighbor(
        3, n_impostors=6, max_seconds=given.seconds, n_jobs=given.threads, **CASES[label]
    )
    Path("/proc/self/clear_refs").write_text("5")
    begun = time.perf_counter()
    model.fit(X, y, tasks)
    seconds = time.perf_counter() - begun
    told = {"triplets": model.n_triplets_, "seconds": f"{seconds:.1f}", "relative gap": f"{model.gap_:.1e}",
            "eigendecompositions": model.result_.method.split(": ")[1].split()[0],
            "peak GiB": f"{peak_kilobytes() / 2**20:.2f}"}  # fmt: skip
    print(json.dumps(told))


def memory(given) -> None:
    rows = []
    for label in CASES:
        if given.quick and "m = " in label:
            continue
        command = [sys.executable, "-W", "ignore", str(Path(__file__).parent / "metric.py"), "--worker", label,
                   "--seconds", str(given.seconds), "--threads", str(given.threads)]  # fmt: skip
        done = subprocess.run(command + ["--quick"] * given.quick, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        rows.append({"method": label, **json.loads(done.stdout.splitlines()[-1])})
        print(f"  {rows[-1]}", flush=True)
    print("\n64,000 points of 128 features, 100 tasks of 10 classes; data, neighbours and interpreter included")
    print(markdown(rows))

"""Start-up times: the import, and the first solve against the second: python benchmarks/startup.py"""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import time, sys
import numpy as np, scipy.sparse
begun = time.perf_counter()
import southwell as sw
imported = time.perf_counter()
A = np.random.default_rng(0).standard_normal((200, 50)); b = A[:, 0]
built = time.perf_counter()
sw.solve(A, b, l1=0.1); first = time.perf_counter()
sw.solve(A, b, l1=0.1); second = time.perf_counter()
print(imported - begun, first - built, second - first)
"""


def main() -> None:
    runs = [
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True) for _ in range(5)
    ]
    numbers = [[float(v) for v in run.stdout.split()] for run in runs]
    imported, first, second = (min(column) for column in zip(*numbers, strict=True))
    whole = [sys.executable, "-X", "importtime", "-c", "import southwell"]
    report = subprocess.run(whole, capture_output=True, text=True, check=True).stderr
    total = next(int(line.split("|")[1]) for line in report.splitlines() if line.rstrip().endswith(" southwell"))
    print(f"import southwell (with numpy and scipy)  {total / 1e3:7.1f} ms   target < 500")
    print(f"import southwell (numpy, scipy loaded)   {imported * 1e3:7.1f} ms")
    print(f"first solve                              {first * 1e3:7.1f} ms")
    print(f"second solve                             {second * 1e3:7.1f} ms   target: first - second < 50")


if __name__ == "__main__":
    main()

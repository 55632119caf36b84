"""Extra peak memory of a solve, over the size of A, for the four layouts: python benchmarks/memory.py

Each case runs in a process of its own: it loads A, resets the kernel's high-water mark, solves, and reads the mark.
Linux only (/proc). Sparse: 200,000 x 20,000 with 30 M entries, 360 MB; dense: 20,000 x 2,000, 320 MB.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

LAYOUTS = ("dense F", "dense C", "CSC", "CSR")


def peak_kilobytes() -> int:
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)


def resident_kilobytes() -> int:
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line)


def load(folder: Path, layout: str):
    if layout.startswith("dense"):
        A = np.load(folder / f"{layout[-1]}.npy")
        return A, A.nbytes
    parts = [np.load(folder / f"{layout}.{part}.npy") for part in ("data", "indices", "indptr")]
    A = (sp.csr_array if layout == "CSR" else sp.csc_array)(tuple(parts), shape=(200_000, 20_000))
    return A, sum(part.nbytes for part in parts)


def child(folder: Path, layout: str, who: str) -> None:
    A, size = load(folder, layout)
    b = np.where(np.random.default_rng(0).random(A.shape[0]) < 0.5, -1.0, 1.0)
    import sklearn.linear_model
    import sklearn.svm

    import southwell as sw

    small = np.random.default_rng(1).standard_normal((50, 5))
    sw.solve(small, np.sign(small[:, 0]), loss="hinge", l2=0.1)  # loads what is loaded only once
    before = resident_kilobytes()
    Path("/proc/self/clear_refs").write_text("5")
    cd = sw.methods.CoordinateDescent
    {
        "ours, primal": lambda: sw.solve(
            A, b, l1=1e-3, method=cd(side="primal", coupling="mirror"), max_epochs=3, tol=0
        ),
        "ours, dual": lambda: sw.solve(
            A, b, loss="hinge", l2=1e-4, method=cd(side="dual", coupling="mirror"), max_epochs=3, tol=0
        ),
        "sklearn Lasso": lambda: sklearn.linear_model.Lasso(1e-3, max_iter=3, tol=0).fit(A, b),
        "LinearSVC": lambda: sklearn.svm.LinearSVC(loss="hinge", max_iter=3, tol=1e-300).fit(A, b),
    }[who]()
    print((peak_kilobytes() - before) * 1024 / size)


def main() -> None:
    if len(sys.argv) == 4:
        child(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rng = np.random.default_rng(0)
        dense = rng.standard_normal((20_000, 2_000))
        np.save(folder / "C.npy", dense)
        np.save(folder / "F.npy", np.asfortranarray(dense))
        rows = np.repeat(np.arange(200_000, dtype=np.int32), 150)
        columns = rng.integers(0, 20_000, rows.size, dtype=np.int32)
        A = sp.csr_array((rng.random(rows.size), (rows, columns)), shape=(200_000, 20_000))
        A.sum_duplicates()
        for matrix in (A, A.tocsc()):
            for part in ("data", "indices", "indptr"):
                np.save(folder / f"{matrix.format.upper()}.{part}.npy", getattr(matrix, part))
        del dense, A, matrix
        whos = ("ours, primal", "ours, dual", "sklearn Lasso", "LinearSVC")
        print("extra peak memory / size of A".ljust(32) + "".join(layout.rjust(10) for layout in LAYOUTS))
        for who in whos:
            cells = []
            for layout in LAYOUTS:
                command = [sys.executable, "-W", "ignore", __file__, name, layout, who]
                run = subprocess.run(command, capture_output=True, text=True)
                cells.append(f"{float(run.stdout):10.3f}" if run.returncode == 0 else "   refused")
            print(who.ljust(32) + "".join(cells), flush=True)
    print("\nThe primal side reads F and CSC as they are, the dual side C and CSR: there the target is <= 0.05.")


if __name__ == "__main__":
    main()

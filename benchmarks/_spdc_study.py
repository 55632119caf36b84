"""Zhang and Xiao 2015: SPDC against batch and stochastic methods as l2 falls."""

from __future__ import annotations

import numpy as np

import southwell as sw
from _race import plot, race, shown
from _timing import table
from southwell.methods import FISTA, LBFGS, SAG, SPDC, AcceleratedSDCA, CoordinateDescent
from southwell.testing import datasets

METHODS = {
    "SPDC": SPDC(),
    "AFG": FISTA(),
    "L-BFGS": LBFGS(),
    "SAG": SAG(),
    "SDCA": CoordinateDescent("dual", "uniform", coupling="mirror", shrinking=False, proximal=False),
    "ASDCA": AcceleratedSDCA(),
}


def spdc(out, quick: bool) -> None:
    print("\nSPDC: smooth hinge, l2 alone, rows of length one. Epochs | seconds to (P - P*) / P(0) <= 1e-6.")
    races, rows = [], []
    for name in ("a9a", "w8a", "20news"):
        A, b = datasets.load_binary(name)
        norms = np.sqrt(A.multiply(A).sum(axis=1))
        A = A.multiply(1 / np.where(norms > 0, norms, 1.0)[:, None]).tocsr()
        stated = sw.Problem(A, b, "smooth_hinge")
        for l2 in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
            problem = stated.with_penalty(sw.penalties.ElasticNet(0.0, l2))
            limit = 3 if quick else 8
            raced = race(f"{name}, l2 {l2:g}", problem, METHODS, tol=1e-9, seconds=limit, relative=False)
            raced.results["referee"] = sw.solve(
                problem, method=AcceleratedSDCA(), tol=1e-10, max_seconds=2 * limit, max_epochs=10**6
            )
            races.append(raced)
            row = {"set": name, "l2": f"{l2:g}", "n l2": shown(l2 * A.shape[0])}
            for label in METHODS:
                epochs, seconds = (raced.reached(label, 1e-6, unit) for unit in ("epoch", "seconds"))
                row[label] = f"{shown(epochs)} | {shown(seconds)}"
            spdc_epochs, sdca_epochs = (raced.reached(label, 1e-6, "epoch") for label in ("SPDC", "SDCA"))
            row["SDCA / SPDC"] = shown(sdca_epochs / spdc_epochs) if np.isfinite(spdc_epochs) else "-"
            rows.append(row)
        print(f"\n{name}: {A.shape[0]} x {A.shape[1]}")
        print(table([row for row in rows if row["set"] == name]), flush=True)
    if out:
        plot(races, out / "spdc.png", "epoch", columns=5)

"""Estimators against scikit-learn's classes of the same name: python benchmarks/estimators.py [fits] [choices] [checks]

``fits``: seconds and extra memory of a fit. Ours runs at its default tolerance; scikit-learn's is made tighter until
its objective is within 1e-6 of the zero model's objective from the best known, which is what ours proves. ``choices``:
the same for cross-validation, where the same penalty must be chosen; ``--peers PYTHON`` adds celer's LassoCV, installed
there. ``checks``: scikit-learn's own checks, class by class. Each fit has a process of its own, on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from _timing import table
from memory import peak_kilobytes, resident_kilobytes

TOLERANCES = (None, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12)
REGRESSION = ("20news", "leukemia", "a9a", "ijcnn1", "riboflavin")
CLASSIFICATION = ("20news", "leukemia", "a9a", "ijcnn1", "farm_ads")
# name: class, its parameters, parameters for scikit-learn only, data sets. "l1" is relative to the smallest l1 with
# zero coefficients.
CASES = {
    "Lasso": ("Lasso", {"l1": 0.1}, {}, REGRESSION),
    "Lasso, weak": ("Lasso", {"l1": 0.01}, {}, REGRESSION),
    "ElasticNet": ("ElasticNet", {"l1": 0.1, "l1_ratio": 0.5}, {}, REGRESSION),
    "Ridge": ("Ridge", {"alpha": 1.0}, {}, REGRESSION),
    "HuberRegressor": ("HuberRegressor", {"alpha": 1.0}, {}, REGRESSION[1:]),
    "QuantileRegressor": ("QuantileRegressor", {"l1": 0.1}, {}, ("leukemia", "riboflavin", "abalone")),
    "LinearSVR": ("LinearSVR", {"C": 0.1, "epsilon": 0.1, "fit_intercept": False}, {}, REGRESSION),
    "PoissonRegressor": ("PoissonRegressor", {"alpha": 0.1}, {}, CLASSIFICATION),
    "LogisticRegression": ("LogisticRegression", {"C": 1.0}, {}, CLASSIFICATION),
    "LogisticRegression, L1": (
        "LogisticRegression", {"l1": 0.1, "l1_ratio": 1.0, "fit_intercept": False}, {"solver": "liblinear"},
        CLASSIFICATION,
    ),
    "LinearSVC": ("LinearSVC", {"C": 1.0, "fit_intercept": False}, {}, CLASSIFICATION),
    "LinearSVC, hinge": ("LinearSVC", {"C": 0.1, "loss": "hinge", "fit_intercept": False}, {}, CLASSIFICATION),
    "LinearSVC, L1": (
        "LinearSVC", {"l1": 0.1, "penalty": "l1", "fit_intercept": False}, {"dual": False}, CLASSIFICATION,
    ),
}  # fmt: skip


def data(name: str, kind: str):
    """CSR data as stored, or dense data standardised, by columns."""
    from southwell.testing import datasets

    if name in ("riboflavin", "abalone"):
        X, y = datasets.load(name, standardise=True)
        y = (y - y.mean()) / y.std()
    else:
        X, y = datasets.load_binary(name, standardise=name == "leukemia")
    if kind == "PoissonRegressor":
        y = (y > 0).astype(float)
    return np.asfortranarray(X) if isinstance(X, np.ndarray) else X, y


def parameters(kind: str, given: dict, X, y) -> dict:
    """The parameters, with the strength in the units of the class."""
    import southwell as sw

    given = dict(given)
    part = given.pop("l1", None)
    if part is None:
        return given
    losses = {"LogisticRegression": "logistic", "LinearSVC": "squared_hinge", "QuantileRegressor": "quantile"}
    loss, intercept = losses.get(kind, "squared"), given.get("fit_intercept", True)
    l1 = part * sw.lambda_max(X, y, loss=loss, intercept=intercept)
    if loss in ("logistic", "squared_hinge"):
        return given | {"C": 1 / (l1 * len(y) * (2 if loss == "squared_hinge" else 1))}
    return given | {"alpha": l1 / given.get("l1_ratio", 1.0)}


def objective(kind: str, given: dict, X, y, model) -> tuple[float, float]:
    """The objective at a model's coefficients, and the unit of its error."""
    import southwell as sw

    coef, intercept = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    if kind == "HuberRegressor":
        z, epsilon = np.abs(y - X @ coef - intercept) / model.scale_, 1.35
        costs = np.where(z < epsilon, z**2, 2 * epsilon * z - epsilon**2)
        value = float(model.scale_ * (1 + costs).sum() + given["alpha"] * coef @ coef)
        return value, value
    ours = getattr(sw, kind)(**given)
    data = ours._data(X, y, None, {})
    strengths = ours._strengths(float(len(y)))
    problem = ours._state(data).with_penalty(sw.penalties.ElasticNet(strengths.l1, strengths.l2))
    at_zero = problem.certify(np.zeros(X.shape[1]))
    return problem.certify(coef, intercept=intercept).primal, at_zero.primal


def fit(request: dict) -> dict:
    """Run one fit, in a separate process."""
    import sklearn.linear_model
    import sklearn.svm

    import southwell as sw

    warnings.simplefilter("ignore")
    sw.set_num_threads(1)
    kind, who, goal = request["kind"], request["who"], request["goal"]
    X, y = data(request["set"], kind)
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    given = parameters(kind, request["parameters"], X, y)
    theirs = getattr(sklearn.linear_model, kind, None) or getattr(sklearn.svm, kind)
    for tol in (1e-12,) if who == "best" else (None,) if who == "ours" else TOLERANCES:
        if who == "theirs":
            tighter = {} if tol is None or kind == "QuantileRegressor" else {"tol": tol, "max_iter": 10**6}
            make = lambda: theirs(**given, **request["theirs"], **tighter)  # noqa: B023, E731
        else:
            make = lambda: getattr(sw, kind)(**given, **({"tol": tol, "max_iter": 10**4} if tol else {}))  # noqa: B023, E731
        make().fit(X[:50], np.r_[y[:25], -y[:25]] if kind != "PoissonRegressor" else y[:50])  # loads libraries
        before = resident_kilobytes()
        Path("/proc/self/clear_refs").write_text("5")
        times = []
        while not times or (len(times) < 5 and sum(times) < 2.0 and who != "best"):
            begun = time.perf_counter()
            model = make().fit(X, y)
            times.append(time.perf_counter() - begun)
        memory = (peak_kilobytes() - before) * 1024 / size
        value, unit = objective(kind, given, X, y, model)
        answer = {"seconds": min(times), "memory": memory, "value": value, "unit": unit, "tol": tol}
        if goal is None or value <= goal + 1e-6 * unit:
            break
    return answer | {"reached": goal is None or value <= goal + 1e-6 * unit}


def asked(request: dict, limit: float) -> dict | None:
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--worker", json.dumps(request)], capture_output=True, text=True, timeout=limit,
            env=environment,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def fits(limit: float) -> None:
    rows, ratios = [], []
    for name, (kind, given, theirs, sets) in CASES.items():
        for where in sets:
            request = {"kind": kind, "parameters": given, "theirs": theirs, "set": where, "goal": None}
            best = asked(request | {"who": "best"}, 10 * limit)
            goal = {"goal": best["value"]} if best else {}
            ours = asked(request | goal | {"who": "ours"}, limit)
            them = asked(request | goal | {"who": "theirs"}, limit)
            reached = them is not None and them["reached"]
            ratio = ours["seconds"] / (them["seconds"] if them else limit)
            if reached and ours["reached"]:  # without these there is no time to compare
                ratios.append(ratio)
            rows.append({
                "case": f"{name} {where}", "ours s": f"{ours['seconds']:.4f}", "proven": ours["reached"],
                "theirs s": f"{them['seconds']:.4f}" if them else f">{limit:g}",
                "tol": them["tol"] or "default" if them else "-", "there": reached, "ratio": f"{ratio:.3f}",
                "memory": f"{ours['memory']:.3f}", "theirs": f"{them['memory']:.3f}" if them else "-",
            })  # fmt: skip
            print(table(rows[-1:]).splitlines()[-1], flush=True)
    print(table(rows))
    print(f"geometric mean of {len(ratios)} ratios, where both reached it: {np.exp(np.mean(np.log(ratios))):.3f}")


def choices(limit: float, peers: str | None) -> None:
    """scikit-learn's and ours on the same folds, one thread each."""
    import sklearn.linear_model as theirs

    import southwell as sw
    from southwell.testing import datasets

    warnings.simplefilter("ignore")
    sw.set_num_threads(1)
    X, y = data("leukemia", "")
    begun = time.perf_counter()
    ours = sw.LassoCV().fit(X, y)
    rows = [{"model": "LassoCV leukemia, ours", "seconds": time.perf_counter() - begun, "chosen": ours.alpha_}]
    for tol in (1e-4, 1e-6, 1e-8):
        begun = time.perf_counter()
        other = theirs.LassoCV(tol=tol, max_iter=10**6).fit(X, y)
        rows.append({"model": f"  scikit-learn, tol={tol:g}", "seconds": time.perf_counter() - begun,
                     "chosen": other.alpha_})  # fmt: skip
    if peers:
        rows += _celer(peers, X, y)
    print(table(rows), flush=True)
    X, y = datasets.load_binary("20news")
    for ratio, solver in ((0.0, "lbfgs"), (1.0, "liblinear")):
        begun = time.perf_counter()
        ours = sw.LogisticRegressionCV(l1_ratios=[ratio]).fit(X, y)
        rows = [{"model": f"LogisticRegressionCV 20news, l1_ratio={ratio:g}, ours",
                 "seconds": time.perf_counter() - begun, "chosen": float(np.ravel(ours.C_)[0])}]  # fmt: skip
        for tol in (1e-4, 1e-6, 1e-8):
            begun = time.perf_counter()
            other = theirs.LogisticRegressionCV(
                l1_ratios=(ratio,), solver=solver, tol=tol, max_iter=10**5, scoring="accuracy",
                use_legacy_attributes=False,
            ).fit(X, y)  # fmt: skip
            rows.append({"model": f"  scikit-learn {solver}, tol={tol:g}", "seconds": time.perf_counter() - begun,
                         "chosen": other.C_})  # fmt: skip
            if rows[-1]["seconds"] > limit:
                break
        print(table(rows), flush=True)


def _celer(python: str, X, y) -> list[dict]:
    import tempfile

    script = (
        "import sys, time, json, numpy as np, warnings; warnings.simplefilter('ignore')\n"
        "from celer import LassoCV\n"
        "X, y = np.load(sys.argv[1]), np.load(sys.argv[2])\n"
        "for tol in (1e-4, 1e-6, 1e-8):\n"
        "    b = time.perf_counter(); m = LassoCV(tol=tol, max_iter=1000).fit(X, y)\n"
        "    print(json.dumps({'model': f'  celer, tol={tol:g}', 'seconds': time.perf_counter() - b,"
        " 'chosen': float(m.alpha_)}))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/X.npy", f"{folder}/y.npy"]
        np.save(paths[0], X)
        np.save(paths[1], y)
        done = subprocess.run([python, "-c", script, *paths], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def checks() -> None:
    """scikit-learn's own checks, for every class."""
    from sklearn.utils.estimator_checks import estimator_checks_generator

    from southwell import estimators

    warnings.simplefilter("ignore")
    rows = []
    for name in (name for name in estimators.__all__ if name != "ConvergenceWarning"):
        model = getattr(estimators, name)(tol=1e-14)
        model = model.set_params(cv=3) if hasattr(model, "cv") else model
        outcome = {"passed": 0, "failed": 0, "skipped": 0}
        for estimator, check in estimator_checks_generator(model):
            try:
                check(estimator)
                outcome["passed"] += 1
            except Exception as error:
                outcome["skipped" if type(error).__name__.startswith("Skip") else "failed"] += 1
        rows.append({"class": name, **outcome})
    print(table(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["fits", "choices", "checks"])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a fit")
    parser.add_argument("--peers", help="the Python of an environment with celer")
    parser.add_argument("--cases", default="", help="only cases whose names contain this")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        print(json.dumps(fit(json.loads(given.worker))))
        return
    for name in list(CASES):
        if given.cases not in name:
            del CASES[name]
    studies = {
        "fits": lambda: fits(given.limit),
        "choices": lambda: choices(given.limit, given.peers),
        "checks": checks,
    }
    for name in given.names:
        studies[name]()


if __name__ == "__main__":
    main()

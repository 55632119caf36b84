"""The cases of peers.py: pairs of a model and a data set."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import southwell as sw
from _genotypes import genotypes
from _net_data import bags, unit_rows
from _peers_fits import EPSILON, Ask
from southwell.testing import datasets

LOSSES = {
    "lasso": "squared",
    "enet": "squared",
    "l1_logistic": "logistic",
    "l2_logistic": "logistic",
    "enet_logistic": "logistic",
    "hinge": "hinge",
    "l1_squared_hinge": "squared_hinge",
    "l2_squared_hinge": "squared_hinge",
    "smooth_hinge": "smooth_hinge",
    "ridge": "squared",
    "l1_poisson": "poisson",
    "l2_poisson": "poisson",
    "svr": "epsilon_insensitive",
    "l2_svr": "squared_epsilon_insensitive",
}
ONLY_L1 = ("lasso", "l1_logistic", "l1_squared_hinge", "l1_poisson")
ONLY_L2 = ("l2_logistic", "hinge", "l2_squared_hinge", "ridge", "l2_poisson", "svr", "l2_svr")


@dataclass(frozen=True)
class Case:
    """A model on a data set. ``strength`` is l1 over its maximum, with l2 = l1 if the model has both; for a model with
    l2 alone it is C = 1 / (n l2)."""

    model: str
    data: str
    strength: float
    intercept: bool

    @property
    def half(self) -> str:
        """Of the wider net: "seen" cases may be looked at while the solver is worked on, "heldout" ones may not."""
        return "seen" if zlib.crc32(self.name.encode()) % 2 else "heldout"

    @property
    def name(self) -> str:
        unit = "C" if self.model in ONLY_L2 else "l1"
        return f"{self.model} {self.data} {unit}={self.strength:g}" + (" +c" if self.intercept else "")

    @property
    def loss(self) -> str:
        return LOSSES[self.model]

    def ask(self, A, b, threads: int) -> Ask:
        if self.model in ONLY_L2:
            return Ask(self.model, 0.0, 1 / (self.strength * A.shape[0]), self.intercept, threads)
        l1 = self.strength * sw.lambda_max(A, b, loss=self.loss, intercept=self.intercept)
        return Ask(self.model, l1, 0.0 if self.model in ONLY_L1 else l1, self.intercept, threads, self.strength)


def objective(A, b, loss: str, ask: Ask, x: np.ndarray, intercept: float) -> float:
    """P(x, c) in NumPy, the same function for all solvers."""
    m = A @ x + intercept
    short = 1 - b * m
    if loss == "squared":
        losses = (m - b) ** 2 / 2
    elif loss == "logistic":
        losses = np.logaddexp(0, -b * m)
    elif loss == "hinge":
        losses = np.maximum(short, 0)
    elif loss == "squared_hinge":
        losses = np.maximum(short, 0) ** 2 / 2
    elif loss == "poisson":
        losses = np.exp(m) - b * m
    elif loss == "epsilon_insensitive":
        losses = np.maximum(np.abs(m - b) - EPSILON, 0)
    elif loss == "squared_epsilon_insensitive":
        losses = np.maximum(np.abs(m - b) - EPSILON, 0) ** 2 / 2
    else:
        corner = np.clip(short, 0, 1)
        losses = corner * (short - corner / 2)
    return float(losses.mean() + ask.l1 * np.abs(x).sum() + ask.l2 / 2 * (x @ x))


def cases_of(model: str, *rows: tuple[str, float, bool]) -> list[Case]:
    return [Case(model, *row) for row in rows]


CASES = [
    *cases_of(
        "lasso",
        ("20news", 0.1, False), ("farm_ads", 0.01, True), ("leukemia", 0.01, False), ("colon", 0.001, True),
        ("riboflavin", 0.01, True), ("ijcnn1", 0.001, True), ("mnist", 0.01, True), ("text", 0.1, False),
        ("genotypes", 0.05, False),
    ),
    *cases_of(
        "enet",
        ("20news", 0.01, True), ("sector", 0.1, False), ("a9a", 0.001, True), ("leukemia", 0.3, False),
        ("riboflavin", 0.1, True), ("text", 0.01, False), ("genotypes", 0.01, False),
    ),
    *cases_of(
        "l1_logistic",
        ("20news", 0.3, False), ("20news", 0.01, True), ("farm_ads", 0.1, True), ("sector", 0.1, False),
        ("w8a", 0.001, False), ("a9a", 0.01, True), ("leukemia", 0.1, False), ("colon", 0.01, True),
        ("mnist", 0.01, False), ("text", 0.1, True),
    ),
    *cases_of(
        "l2_logistic",
        ("20news", 1.0, False), ("w8a", 1.0, True), ("ijcnn1", 10.0, False), ("colon", 0.1, False),
        ("text", 1.0, False),
    ),
    *cases_of(
        "enet_logistic",
        ("20news", 0.1, False), ("sector", 0.01, True), ("a9a", 0.001, False), ("leukemia", 0.1, True),
    ),
    *cases_of(
        "hinge",
        ("20news", 1.0, False), ("sector", 1.0, True), ("a9a", 0.1, False), ("leukemia", 0.01, True),
    ),
    *cases_of("l1_squared_hinge", ("20news", 0.1, False), ("w8a", 0.01, True), ("colon", 0.1, True)),
    *cases_of("l2_squared_hinge", ("farm_ads", 1.0, False), ("ijcnn1", 1.0, True), ("mnist", 0.01, False)),
    *cases_of(
        "smooth_hinge",
        ("sector", 0.1, False), ("20news", 0.01, True), ("farm_ads", 0.3, False), ("w8a", 0.001, False),
    ),
]  # fmt: skip

PATHS = [
    Case("lasso", "leukemia", 0.01, False),
    Case("l1_logistic", "leukemia", 0.01, False),
    Case("l1_logistic", "20news", 0.01, False),
    Case("l1_logistic", "w8a", 0.01, False),
]


# Data sets: A (CSR or dense) and b; FileNotFoundError if the file is missing.


def signs(name: str):
    """The larger label against the other; for 20news comp.* against the rest, as tf-idf with rows of length 1."""
    return datasets.load_binary(name)


def columns(name: str):
    """Standardised, in Fortran order."""
    A, b = datasets.load_binary(name, standardise=True)
    return np.asfortranarray(A), b


def riboflavin():
    A, b = datasets.load("riboflavin", standardise=True)
    return np.asfortranarray(A), b


def sector():
    """The largest class against the rest, rows of length 1."""
    A, y = datasets.load("sector")
    classes, sizes = np.unique(y, return_counts=True)
    return unit_rows(A), np.where(y == classes[sizes.argmax()], 1.0, -1.0)


def mnist(rows: int | None):
    """Even digits against odd ones; grey values from 0 to 1, not standardised."""
    path = datasets.find("mnist")
    if path is None:
        raise FileNotFoundError("The file of data set 'mnist' is missing.")
    with np.load(path) as file:
        n = rows or int(file["n_train"])
        return file["X"][:n] / 255.0, np.where(file["y"][:n] % 2 == 0, 1.0, -1.0)


def text(rows: int, cache: Path):
    """Synthetic text: words by Zipf's law, tf-idf, rows of length 1, about 250 nonzeros each among 500,000 words.
    Labels are the signs of a model with 1,000 words of medium frequency; a tenth of them are random."""
    path = cache / f"text-{rows}.npz"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        A, b = _write_text(rows, 500_000, np.random.default_rng(0))
        with tempfile.NamedTemporaryFile(dir=cache, suffix=".npz", delete=False) as file:
            np.savez(file, data=A.data, indices=A.indices, indptr=A.indptr, shape=A.shape, b=b)
        Path(file.name).rename(path)  # atomically: no half-written file remains
    with np.load(path) as file:
        return sp.csr_array((file["data"], file["indices"], file["indptr"]), tuple(file["shape"])), file["b"]


def _write_text(n: int, d: int, rng: np.random.Generator):
    below = np.cumsum(1 / (np.arange(d) + 3.0))
    parts = []
    for start in range(0, n, 10_000):
        lengths = rng.poisson(300, min(10_000, n - start))
        parts.append(bags(lengths, lambda size: np.searchsorted(below, rng.random(size) * below[-1]), d))
    A = sp.vstack(parts, format="csr")
    A.data = 1 + np.log(A.data)
    documents = np.bincount(A.indices, minlength=d)
    A.data *= (1 + np.log((1 + n) / (1 + documents)))[A.indices]
    A = unit_rows(A)
    weights = np.zeros(d)
    weights[rng.choice(np.arange(100, 20_000), 1_000, replace=False)] = rng.standard_normal(1_000)
    margins = A @ weights
    b = np.where(margins > np.median(margins), 1.0, -1.0)
    chance = rng.random(n) < 0.1
    b[chance] = rng.choice([-1.0, 1.0], chance.sum())
    return A, b


def sets(quick: bool, cache: Path) -> dict[str, Callable]:
    """Loaders by name; --quick takes fewer rows of the two largest."""
    return {
        **{name: lambda name=name: signs(name) for name in ("20news", "farm_ads", "w8a", "a9a", "ijcnn1")},
        **{name: lambda name=name: columns(name) for name in ("leukemia", "colon")},
        "riboflavin": riboflavin,
        "sector": sector,
        "genotypes": genotypes,
        "mnist": lambda: mnist(5_000 if quick else None),
        "text": lambda: text(10_000 if quick else 200_000, cache),
    }

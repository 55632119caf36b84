"""The wider net of peers.py: cases that nothing was tuned on when they were chosen. A fixed rule, a checksum of the
name, puts each into one of two halves (``Case.half``): one may be looked at, the other is for the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import _net_data as made
from _genotypes import genotypes
from _peers_cases import cases_of
from southwell.testing import datasets

NET = [
    *cases_of(
        "lasso",
        ("snps", 0.1, True), ("snps", 0.01, True), ("clicks", 0.01, True), ("titles", 0.02, False),
        ("sensors", 0.3, True), ("sensors", 0.002, True), ("counts", 0.01, True), ("tall", 0.01, True),
        ("wide", 0.5, True), ("wide", 0.02, True), ("scales", 0.05, True), ("scales", 0.001, False),
        ("diabetes", 0.01, True), ("bibtex", 0.005, True), ("abalone", 0.001, True),
    ),
    *cases_of(
        "enet",
        ("snps", 0.02, True), ("clicks", 0.001, True), ("pairs", 0.1, False), ("sensors", 0.01, True),
        ("wide", 0.1, True), ("scales", 0.01, True), ("counts", 0.2, False), ("usps", 0.01, True),
    ),
    *cases_of(
        "l1_logistic",
        ("clicks", 0.1, True), ("clicks", 0.01, False), ("pairs", 0.3, True), ("pairs", 0.02, False),
        ("titles", 0.05, True), ("titles", 0.005, False), ("rare", 0.1, True), ("rare", 0.001, True),
        ("sensor_alarms", 0.02, True), ("snp_status", 0.2, True), ("sparse_scales", 0.01, True),
        ("mushrooms", 0.001, True), ("digits", 0.01, True), ("tall_labels", 0.1, True), ("wide_labels", 0.05, True),
    ),
    *cases_of(
        "enet_logistic",
        ("clicks", 0.02, False), ("pairs", 0.05, True), ("rare", 0.01, True), ("wide_labels", 0.5, False),
        ("snp_status", 0.02, True), ("sparse_scales", 0.1, False), ("mushrooms", 0.1, True),
    ),
    *cases_of(
        "l2_logistic",
        ("clicks", 1.0, True), ("clicks", 100.0, False), ("pairs", 10.0, False), ("titles", 1.0, True),
        ("titles", 100.0, True), ("sensor_alarms", 0.1, True), ("rare", 1.0, True), ("tall_labels", 10.0, True),
        ("wide_labels", 1.0, False), ("sparse_scales", 0.1, True), ("usps", 1.0, True), ("breast_cancer", 1.0, True),
        ("ionosphere", 100.0, False), ("snp_status", 0.01, True),
    ),
    *cases_of(
        "hinge",
        ("clicks", 0.1, False), ("pairs", 1.0, False), ("titles", 1.0, False), ("titles", 10.0, True),
        ("rare", 0.01, False), ("mushrooms", 1.0, False), ("digits", 0.1, False), ("wide_labels", 0.1, False),
        ("sparse_scales", 0.01, False),
    ),
    *cases_of(
        "l2_squared_hinge",
        ("clicks", 1.0, False), ("pairs", 0.1, False), ("titles", 10.0, False), ("sensor_alarms", 0.01, True),
        ("bibtex_label", 1.0, True), ("tall_labels", 1.0, False), ("usps", 0.1, False), ("wide_labels", 1.0, True),
    ),
    *cases_of(
        "l1_squared_hinge",
        ("clicks", 0.05, False), ("titles", 0.02, False), ("bibtex_label", 0.01, True), ("rare", 0.05, True),
        ("sparse_scales", 0.3, False),
    ),
    *cases_of(
        "ridge",
        ("clicks", 1.0, True), ("sensors", 0.1, True), ("wide", 1.0, True), ("tall", 1.0, True), ("counts", 10.0, True),
        ("scales", 1.0, True), ("pairs", 1.0, False),
    ),
    *cases_of("l2_poisson", ("counts", 1.0, True), ("tall_counts", 1.0, True), ("diabetes_counts", 0.1, True)),
    *cases_of("l1_poisson", ("counts", 0.05, True), ("tall_counts", 0.01, True), ("counts", 0.005, True)),
    *cases_of("svr", ("counts", 0.1, False), ("abalone", 1.0, False), ("titles_values", 1.0, False)),
    *cases_of("l2_svr", ("counts", 0.1, False), ("sensors", 0.01, False), ("abalone", 1.0, False)),
]  # fmt: skip


def _labels(load: Callable) -> Callable:
    """Signs of a centred target."""

    def labelled():
        A, b = load()
        return A, np.where(b > np.median(b), 1.0, -1.0)

    return labelled


def _standardised(A) -> np.ndarray:
    deviation = A.std(axis=0)
    return np.asfortranarray((A - A.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0))


def _bundled(name: str, labels: bool) -> Callable:
    """Data that scikit-learn carries, standardised; the classes from the upper half on against the others."""

    def load():
        import sklearn.datasets

        A, b = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        if labels:
            return _standardised(A), np.where(b >= (b.max() + 1) / 2, 1.0, -1.0)
        return _standardised(A), (b - b.mean()) / b.std()

    return load


def _stored(name: str, labels: bool, standardise: bool = False) -> Callable:
    """Real data from files: the class labels below the middle against the others, or values of deviation 1."""

    def load():
        A, y = datasets.load(name)
        y = np.asarray(y, dtype=float)
        b = np.where(y > np.median(y), 1.0, -1.0) if labels and np.unique(y).size > 2 else y
        if labels and np.unique(y).size == 2:
            b = np.where(y == y.max(), 1.0, -1.0)
        if not labels:
            b = (b - b.mean()) / b.std()
        return (_standardised(A) if standardise else A), b

    return load


def _counted(load: Callable) -> Callable:
    """Counts whose logarithm follows the target of another set."""

    def counted():
        A, b = load()
        return A, np.random.default_rng(11).poisson(np.exp(0.5 * b)).astype(float)

    return counted


def _values(load: Callable) -> Callable:
    """A target with noise, for regression on data that have labels."""

    def valued():
        A, b = load()
        return A, b + 0.5 * np.random.default_rng(12).standard_normal(b.size)

    return valued


def _snps():
    return genotypes(700, 4_000, causes=100, seed=21)


def _clicks():
    return made.one_hot(12_000, 150_000, seed=22, tail=1.15)


_diabetes = _bundled("diabetes", labels=False)

NET_SETS: dict[str, Callable] = {
    "snps": _snps,
    "snp_status": _labels(_snps),
    "clicks": _clicks,
    "pairs": made.pairs,
    "titles": made.titles,
    "titles_values": _values(made.titles),
    "sensors": made.sensors,
    "sensor_alarms": _labels(made.sensors),
    "counts": made.counts,
    "rare": made.rare,
    "tall": made.tall,
    "tall_labels": _labels(made.tall),
    "tall_counts": _counted(made.tall),
    "wide": made.wide,
    "wide_labels": _labels(made.wide),
    "scales": made.scales,
    "sparse_scales": made.sparse_scales,
    "diabetes": _diabetes,
    "diabetes_counts": _counted(_diabetes),
    "breast_cancer": _bundled("breast_cancer", labels=True),
    "digits": _bundled("digits", labels=True),
    "abalone": _stored("abalone", labels=False, standardise=True),
    "ionosphere": _stored("ionosphere", labels=True),
    "mushrooms": _stored("mushrooms", labels=True),
    "usps": _stored("usps", labels=True),
    "bibtex": _stored("bibtex", labels=False),
    "bibtex_label": _stored("bibtex", labels=True),
}

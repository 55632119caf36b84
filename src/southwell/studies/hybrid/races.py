"""Fang, Fang, Yu and Li 2021: greedy coordinate descent among candidates of blocks. The experiments of section 7."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...methods import AcceleratedCD
from ...penalties import ElasticNet
from ...problem import Problem
from ...rules import Greedy, Hybrid, MaxInnerProduct
from ..bench import Bench
from ..findings import Findings, Race
from ..runs import descent
from .problems import (
    BLOCKS,
    NAIVE,
    SEARCH,
    Entry,
    Error,
    accelerated,
    augmented,
    blobs,
    dual_error,
    hybrids,
    leukemia,
    overdetermined,
    primal_error,
    printed,
    propagation,
    race,
    task,
)

REGULARISATION = (
    "The paper does not give its strengths of regularisation; here l2 = 1/n, and l1 is a tenth of its maximum."
)
COMPILED = (
    "The paper's methods run in Python and ours are compiled, so a move costs less here and a clustering about as "
    "much: its share is larger."
)
FOLLOWED = 'The paper\'s greedy rule computes all gradients at every move ("greedy"); ours updates them ("followed").'


def blocks(bench: Bench) -> Findings:
    """Figure 6.1: ridge, logistic and L1 logistic regression on blobs and leukemia."""
    races = []
    for data, (A, b) in {"blobs": blobs(bench), "leukemia": leukemia(bench)}.items():
        for name in ("ridge", "logistic", "L1 logistic"):
            problem = task(name, A, b)
            entries: dict[str, Entry] = {
                "random": ("baseline", printed("uniform")),
                **hybrids(BLOCKS, printed),
                "greedy": ("baseline", printed(NAIVE)),
                "greedy, followed": ("ours", printed(Greedy())),
            }
            if name != "ridge":
                entries["hybrid 8, local curvature"] = ("ours", descent("primal", Hybrid(8)))
            races.append(race(bench, f"{name}, {data}", problem, primal_error(bench, problem), entries,
                              seconds=4.0, quick=0.3))  # fmt: skip
    return Findings(races, notes=(REGULARISATION, COMPILED, FOLLOWED))


def momentum(bench: Bench) -> Findings:
    """Figure 7.1: random, hybrid and greedy rules with and without acceleration."""
    races = []
    for data, (A, b) in {"blobs": blobs(bench), "leukemia": leukemia(bench)}.items():
        for name in ("ridge", "logistic"):
            problem = task(name, A, b)
            entries: dict[str, Entry] = {
                "random": ("baseline", printed("uniform")),
                "acc. random": ("baseline", accelerated("uniform")),
                **hybrids((8, 16), printed),
                **hybrids((8, 16), accelerated, "acc. hybrid"),
                "acc. hybrid 8, ours": ("ours", AcceleratedCD("primal", Hybrid(8), "mirror")),
                "greedy": ("baseline", printed(Greedy())),
                "acc. greedy": ("baseline", accelerated(Greedy())),
            }
            races.append(race(bench, f"{name}, {data}", problem, primal_error(bench, problem), entries,
                              seconds=4.0, quick=0.5))  # fmt: skip
    return Findings(races, notes=(REGULARISATION, COMPILED))


def clusterings(bench: Bench) -> Findings:
    """Figure 7.2, left: hybrid and accelerated hybrid with different partitions."""
    races = []
    for data, (A, b) in {"blobs": blobs(bench), "leukemia": leukemia(bench)}.items():
        problem = task("ridge", A, b)
        drawn = np.random.default_rng(bench.seed).integers(8, size=A.shape[1])
        entries: dict[str, Entry] = {}
        for how in ("kmeans", "minibatch-kmeans", "spectral"):
            entries |= {
                how: ("paper", descent("primal", Hybrid(8, how))),
                f"acc. {how}": ("paper", accelerated(Hybrid(8, how))),
            }
        entries["random blocks"] = ("ours", descent("primal", Hybrid(partition=drawn)))
        entries["acc. random blocks"] = ("ours", accelerated(Hybrid(partition=drawn)))
        races.append(
            race(bench, f"ridge, {data}", problem, primal_error(bench, problem), entries, seconds=4.0, quick=0.5)
        )
    return Findings(races, notes=(REGULARISATION, "Random blocks are ours: they show what clustering adds."))


def orders(bench: Bench) -> Findings:
    """Figure 7.2, right: random, cyclic and permuted orders against hybrid; also on an overdetermined system."""
    problems = {
        "ridge, blobs": task("ridge", *blobs(bench)),
        "ridge, leukemia": task("ridge", *leukemia(bench)),
        "overdetermined system": overdetermined(bench),
    }
    entries: dict[str, Entry] = {
        "random": ("baseline", descent("primal")),
        "cyclic": ("baseline", descent("primal", "cyclic")),
        "permuted": ("baseline", descent("primal", "shuffled")),
        **hybrids(BLOCKS, lambda rule: descent("primal", rule)),
    }
    races = [
        race(bench, title, problem, primal_error(bench, problem), entries, seconds=4.0, quick=0.5)
        for title, problem in problems.items()
    ]
    return Findings(races, notes=(REGULARISATION, COMPILED))


def svm(bench: Bench) -> Findings:
    """Figure 6.1, linear SVM: the dual objective and the accuracy on test data."""
    races = []
    for name in ("rcv1", "20news"):
        options = {"binary": True, "instead": "synthetic", "rows": bench.pick(None, 4000)}
        A, b = bench.data(name, part="train", **options)
        problem = Problem(A, b, "hinge", ElasticNet(l2=1e-4))
        entries: dict[str, Entry] = {
            "random": ("baseline", descent("dual")),
            **hybrids(BLOCKS, lambda rule: descent("dual", rule)),
            "greedy, followed": ("ours", descent("dual", Greedy())),
        }
        races.append(race(bench, f"SVM, {name}", problem, dual_error(bench, problem), entries, seconds=10.0, quick=2.0,
                          mistakes=mistakes(*bench.data(name, part="test", **options))))  # fmt: skip
    notes = (
        "l2 = 1e-4; the paper does not say its own.",
        "Generated data are easier to classify than rcv1, so the accuracy on 20news says more.",
        "Generated data have as many test rows as training rows, at most 20,000; the paper has 677,399 test rows.",
        COMPILED,
    )
    return Findings(races, notes=notes)


def mistakes(X: Any, y: np.ndarray) -> Error:
    """The share of samples of which x predicts the wrong sign."""
    return lambda x, dual: float(np.mean(np.where(X @ x > 0, 1.0, -1.0) != y))


def graph(bench: Bench) -> Findings:
    """Figure 6.1, label propagation on a graph of ijcnn1."""
    made = propagation(bench, bench.pick(49_990, 10_000))
    entries: dict[str, Entry] = {
        "random": ("baseline", descent("primal")),
        **hybrids(BLOCKS, lambda rule: descent("primal", rule)),
        "greedy": ("baseline", descent("primal", NAIVE)),
        "greedy, followed": ("ours", descent("primal", Greedy())),
    }
    found = race(bench, "label propagation, ijcnn1", made.problem, made.error, entries, seconds=6.0, quick=1.5)
    note = "k-means clusters the columns of the incidence matrix of the graph; the paper does not say what it clusters."
    return Findings([found], notes=(note, FOLLOWED, COMPILED))


def search(bench: Bench) -> Findings:
    """Figure 7.3: greedy by maximum inner product search, as printed and with what is known of the penalty."""
    A, b = blobs(bench, bench.pick(2000, 800))
    ridge = task("ridge", A, b)
    made = propagation(bench, bench.pick(8000, 4000))
    tall = overdetermined(bench)
    low = Problem(A, b)
    error = primal_error(bench, ridge)
    common: dict[str, Entry] = {
        "random": ("baseline", descent("primal")),
        "hybrid 8": ("paper", descent("primal", Hybrid(8))),
        "greedy": ("baseline", descent("primal", Greedy())),
    }
    literal: dict[str, Entry] = {"search": ("baseline", descent("primal", SEARCH))}
    mended: dict[str, Entry] = {"search, ours": ("ours", descent("primal", MaxInnerProduct()))}

    def compared(title: str, problem: Problem, error: Error, entries: Mapping[str, Entry]) -> Race:
        return race(bench, title, problem, error, entries, seconds=8.0, quick=1.5)

    every = common | literal | mended
    races = [
        compared("overdetermined system", tall, primal_error(bench, tall), every),
        compared("least squares, blobs", low, primal_error(bench, low), every),
        compared("label propagation, ijcnn1", made.problem, made.error, every),
    ]
    on_ridge = compared("ridge, blobs", ridge, error, common | mended)
    high = compared("ridge, blobs, n + d dimensions", augmented(ridge), error, literal)
    races.append(replace(on_ridge, traces=[*on_ridge.traces, *high.traces]))
    return Findings(races, notes=SEARCH_NOTES)


SEARCH_NOTES = (
    "hnswlib instead of nmslib, whose graphs it shares.",
    "The sizes are smaller than the paper's: an index holds dense vectors, one number for each sample or edge.",
    "Ridge is searched as in the paper: as least squares on [A; sqrt(n l2) I], vectors of n + d numbers.",
    '"least squares, blobs" has fewer equations than unknowns: vectors of 50 numbers, the search of low dimension with '
    "which the paper contrasts ridge. It is not one of its panels.",
)

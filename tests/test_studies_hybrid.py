"""The claims of Fang, Fang, Yu and Li 2021, judged on findings made by hand; and its studies at a tiny size."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell.studies import hybrid
from southwell.studies.bench import Bench
from southwell.studies.findings import ROLES, Findings, Race, Trace
from southwell.studies.hybrid import problems

CLAIMS = {claim.name: claim for claim in hybrid.CLAIMS}
HYBRID = tuple(f"hybrid {k}" for k in (2, 4, 8, 16))
OTHERS = {"random": 1000, "greedy": (10, 5.0), "greedy, followed": (10, 0.5)}


def run(label, moves, seconds=None, setup=0.0, last=1e-7, mistakes=0.1):
    """The error falls from 1 to ``last`` by factors of ten, equally far apart, and stays there; 1e-7 would take so many
    moves and seconds."""
    errors = np.maximum(10.0 ** -np.arange(8), last)
    spent = np.arange(8) / 7
    seconds = moves / 1000 if seconds is None else seconds
    columns = {
        "moves": moves * spent, "seconds": seconds * spent, "total": setup + seconds * spent, "error": errors,
        "mistakes": np.linspace(0.5, mistakes, errors.size),
    }  # fmt: skip
    return Trace(label, "paper", columns, setup)


def found(title, runs):
    """One race; ``runs`` are the arguments of ``run``, or the moves alone."""
    return Findings([race(title, runs)])


def race(title, runs):
    return Race(
        title, [run(label, *(given if isinstance(given, tuple) else (given,))) for label, given in runs.items()]
    )


def hybrids(*given):
    return dict.fromkeys(HYBRID, given)


def in_all(runs):
    """The same race in the three studies of figure 6.1."""
    return {f"hybrid-{name}": found(f"{name}, blobs", runs) for name in ("blocks", "svm", "graph")}


def momentum(random, hybrid, greedy):
    """Moves without and with acceleration."""
    pairs = {"random": random, "hybrid 8": hybrid, "hybrid 16": hybrid, "greedy": greedy}
    runs = {label: plain for label, (plain, _) in pairs.items()} | {f"acc. {k}": fast for k, (_, fast) in pairs.items()}
    return {"hybrid-accelerated": found("ridge, blobs", runs)}


def clusterings(*moves):
    runs = dict(zip(("kmeans", "minibatch-kmeans", "spectral", "random blocks"), moves, strict=True))
    return {"hybrid-clusterings": found("ridge, blobs", runs | {f"acc. {k}": v for k, v in runs.items()})}


def orders(random, cyclic, permuted, hybrid):
    runs = {"random": random, "cyclic": cyclic, "permuted": permuted} | hybrids(hybrid)
    return {"hybrid-orders": found("ridge, blobs", runs)}


def searches(search):
    titles = ("overdetermined system", "ridge, blobs", "label propagation, ijcnn1")
    runs = {"random": 100, "hybrid 8": 50, "search": search, "search, ours": 10}
    return {"hybrid-search": Findings([race(title, runs) for title in titles])}


STALLED = (10**5, 100.0, 0.0, 1e-2)

VERDICTS = {  # findings with which the claim holds, and with which it fails
    "H1": (
        {"hybrid-blocks": found("ridge, blobs", OTHERS | hybrids(15))},
        {"hybrid-blocks": found("ridge, blobs", OTHERS | hybrids(200) | {"hybrid 16": 90})},
    ),
    "H2": (in_all(OTHERS | hybrids(100, 0.1, 0.1)), in_all(OTHERS | hybrids(100, 0.1, 9.0))),
    "H3": (in_all(OTHERS | hybrids(100, 1.0, 0.01)), in_all(OTHERS | hybrids(100, 1.0, 1.0))),
    "H4": (momentum((100, 50), (80, 40), (60, 30)), momentum((50, 100), (40, 80), (30, 60))),
    "H5": (momentum((100, 90), (80, 20), (60, 30)), momentum((100, 90), (80, 70), (60, 30))),
    "H6": (clusterings(100, 110, 120, 300), clusterings(100, 110, 200, 100)),
    "H7": (orders(1000, 900, 800, 300), orders(1000, 100, 800, 300)),
    "H8": (searches((60, 0.06)), searches(STALLED)),
    "H9": (searches(STALLED), searches((60, 0.06))),
    "H10": (
        {"hybrid-svm": found("SVM, rcv1", {"random": 1000} | hybrids(300))},
        {"hybrid-svm": found("SVM, rcv1", {"random": 1000} | hybrids(3000))},
    ),
    "H11": (
        {"hybrid-graph": found("label propagation", OTHERS | hybrids(15, 0.5))},
        {"hybrid-graph": found("label propagation", OTHERS | hybrids(900, 9.0))},
    ),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_holds_and_fails_with_the_findings(name):
    good, bad = (CLAIMS[name].judge(findings) for findings in VERDICTS[name])
    assert (good.outcome, bad.outcome) == ("holds", "fails"), (good, bad)
    assert (good.because, good.cases) != (bad.because, bad.cases)
    assert any(letter.isdigit() for letter in good.because)


def test_a_claim_holds_in_part():
    between = in_all(OTHERS | hybrids(100, 0.8))  # between greedy as in the paper and greedy with scores that follow
    assert CLAIMS["H2"].judge(between).outcome == "in part"
    races = [each for findings in VERDICTS["H5"] for each in findings["hybrid-accelerated"].races]
    both = [replace(each, title=title) for each, title in zip(races, ("ridge", "logistic"), strict=True)]
    assert CLAIMS["H5"].judge({"hybrid-accelerated": Findings(both)}).outcome == "in part"


def test_without_arrivals_nobody_can_tell():
    slow = (10, 0.01, 0.0, 1.0)
    runs = dict.fromkeys(OTHERS, slow) | hybrids(*slow)
    assert CLAIMS["H1"].judge({"hybrid-blocks": found("ridge, blobs", runs)}).outcome == "cannot tell"
    assert CLAIMS["H3"].judge(in_all(runs)).outcome == "cannot tell"


class Small(Bench):
    """Studies of a few dozen rows and columns, with limits of milliseconds."""

    def data(self, name, **options):
        rng = np.random.default_rng(0)
        if name == "ijcnn1":
            X = rng.standard_normal((120, 5))
            return X, (X[:, 0] > 0).astype(float)
        A = rng.standard_normal((40, 30))
        b = np.where(A[:, 0] + 0.1 * rng.standard_normal(40) > 0, 1.0, -1.0)
        return (A, b) if name == "leukemia" else (sp.csr_array(A), b)

    def pick(self, full, quick):
        if isinstance(full, float):  # the seconds of a method, or of an optimum
            return 0.001 if full < 60 else full
        return 30 if isinstance(full, int) else quick


@pytest.fixture(scope="module")
def small_findings():
    pytest.importorskip("hnswlib")
    return {study.name: study.run(Small(quick=True)) for study in hybrid.STUDIES}


def test_studies_run_and_their_claims_are_judged(small_findings):
    for findings in small_findings.values():
        assert findings.races
        for each in findings.races:
            assert len({trace.label for trace in each.traces}) == len(each.traces)
            for trace in each.traces:
                assert trace.role in ROLES
                assert all(column in trace.columns for view in each.views for column in view)
                assert trace.columns["error"][0] == pytest.approx(1.0)
                assert trace.columns["total"][0] == trace.setup
    for claim in hybrid.CLAIMS:
        assert claim.judge({name: small_findings[name] for name in claim.studies}).because


def test_the_augmented_problem_is_ridge():
    rng = np.random.default_rng(1)
    ridge = problems.task("ridge", rng.standard_normal((6, 9)), rng.standard_normal(6))
    least_squares = problems.augmented(ridge)
    x = sw.solve(ridge, tol=1e-12).x
    assert np.allclose(sw.solve(least_squares, tol=1e-12).x, x)
    assert least_squares.certify(x).primal == pytest.approx(6 / 15 * ridge.certify(x).primal)


def test_the_answer_of_label_propagation_is_the_mean_of_neighbours():
    made = problems.propagation(Small(), 120)
    x = sw.solve(made.problem, tol=1e-12).x
    assert made.error(x, x) < 1e-9
    assert made.error(np.zeros_like(x), x) == pytest.approx(1.0)
    assert ((x > -1e-6) & (x < 1 + 1e-6)).all()

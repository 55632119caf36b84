"""How studies measure methods, and what the subpackages of the papers must hold."""

import re
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import southwell as sw
from southwell.methods import SPDC, CoordinateDescent
from southwell.studies import stopwatch
from southwell.studies.bench import ROWS, Bench, thinned
from southwell.studies.misprints import MISPRINTS
from southwell.studies.papers import PAPERS, registry
from southwell.studies.runs import quietly
from southwell.studies.stopwatch import PATIENCE, Stopwatch


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 20))
    b = np.where(A[:, 0] + 0.3 * rng.standard_normal(60) > 0, 1.0, -1.0)
    return sw.Problem(A, b, "smooth_hinge", sw.penalties.ElasticNet(0.01, 0.01))


def test_a_solve_is_traced(problem):
    bench = Bench()
    best = bench.optimum(problem)
    trace = bench.solve(problem, SPDC(), "SPDC", "paper", best.primal, seconds=20, tol=1e-9)
    columns = trace.columns
    assert {"epoch", "passes", "moves", "seconds", "error", "latest", "gap"} <= set(columns)
    assert len({len(column) for column in columns.values()}) == 1
    np.testing.assert_allclose(columns["moves"], 60 * (columns["epoch"]), rtol=0.5)
    assert columns["error"][0] == pytest.approx((problem.certify(np.zeros(20)).primal - best.primal) / best.scale)
    assert (np.diff(columns["error"]) <= 0).all() and columns["error"][-1] <= columns["gap"][-1] <= 1e-9
    assert (columns["latest"] >= columns["error"] - 1e-12).all()
    assert trace.reached(1e-6, "epoch") <= trace.last("epoch")
    halved = bench.solve(problem, SPDC(), "SPDC", "paper", best.primal, seconds=20, unit=2 * best.scale)
    assert halved.columns["error"][0] == pytest.approx(columns["error"][0] / 2)
    assert bench.notes == []


def test_factors_and_blocks_are_traced_too(problem):
    bench = Bench()
    factors = sw.Problem(sw.sketch_features(np.eye(60, 20), 5), problem.targets, "smooth_hinge", problem.penalty)
    blocks = sw.BlockProblem(np.eye(60, 20), np.arange(60) % 3, "softmax", sw.penalties.ElasticNet(0.01, 0.01))
    for each in (factors, blocks):
        best = bench.optimum(each)
        assert bench.solve(each, "auto", "auto", "ours", best.primal, seconds=20).last() < 1e-8


@pytest.mark.parametrize("rule", ["uniform", sw.rules.Hybrid(4)])
def test_moves_are_counted_and_the_best_is_kept(problem, rule):
    bench = Bench()
    best = bench.optimum(problem).primal
    method = CoordinateDescent(side="primal", rule=rule, coupling="mirror", shrinking=False, proximal=False)
    calls = []

    def error(x, y):
        calls.append(x.copy())
        return problem.certify(x).primal - best

    trace = bench.moves(problem, method, "CD", "paper", error, most=2_000, seconds=20)
    moves = trace.columns["moves"]
    assert moves[:7].tolist() == [0, 1, 2, 3, 4, 5, 7]
    assert len(calls) == len(moves) and not calls[0].any()
    assert (trace.columns["latest"] >= trace.columns["error"]).all() and (np.diff(trace.columns["error"]) <= 0).all()
    assert trace.last() < 1e-3 * trace.columns["error"][0]
    assert (trace.setup > 0) == (rule != "uniform")


def test_an_optimum_that_is_not_proven_is_noted(problem):
    bench = Bench()
    bench.optimum(problem, seconds=1e-9)
    assert len(bench.notes) == 1 and "relative gap" in bench.notes[0]


def a_clock(monkeypatch, *times):
    """The time of the processor, as it is read."""
    read = iter(times)
    monkeypatch.setattr(stopwatch, "CLOCK", lambda: next(read))


def test_seconds_are_those_of_the_processor_or_fewer_on_the_wall(monkeypatch):
    a_clock(monkeypatch, 100.0, 101.0, 102.0, 105.5)
    watch = Stopwatch(3.0)
    assert not watch(SimpleNamespace(seconds=4.0))  # the machine did other work
    assert not watch(SimpleNamespace(seconds=8.0))
    assert watch(SimpleNamespace(seconds=20.0)) and watch.spent == [0.0, 1.0, 2.0, 5.5]
    np.testing.assert_allclose(watch.of([0.0, 2.0, 4.0, 14.0]), [0.0, 0.5, 1.0, 3.75])
    a_clock(monkeypatch, 0.0, 2.0, 8.0)
    shared = Stopwatch(3.0)  # by two threads
    assert not shared(SimpleNamespace(seconds=1.0)) and shared(SimpleNamespace(seconds=4.0))
    assert shared.spent == [0.0, 1.0, 4.0]


def test_a_run_ends_when_its_seconds_are_spent_or_when_it_is_told_to(problem, monkeypatch):
    """In the end on the wall, too, since a processor that others hold spends none."""
    monkeypatch.setattr(stopwatch, "CLOCK", lambda: 7.0)
    options = {"method": SPDC(), "tol": 0.0, "check_every": 1, "max_epochs": 6}
    assert quietly(problem, seconds=5.0, **options).epochs == 6
    assert quietly(problem, seconds=5.0, callback=lambda at: at.epoch == 2, **options).epochs == 2
    assert quietly(problem, seconds=1e-12, **options).status is sw.Status.MAX_SECONDS
    assert Stopwatch(2.0).options["max_seconds"] == 2.0 * PATIENCE


def test_time_that_others_took_is_not_in_a_trace(problem, monkeypatch):
    monkeypatch.setattr(stopwatch, "CLOCK", lambda: 7.0)
    trace = Bench().solve(problem, SPDC(), "SPDC", "paper", 0.0, seconds=20, tol=1e-9)
    assert trace.columns["gap"][-1] <= 1e-9 and not trace.columns["seconds"].any()


def test_traces_are_thinned_but_keep_their_ends():
    columns = {"epoch": np.arange(10_000), "error": 1.0 / (1 + np.arange(10_000))}
    kept = thinned(columns)
    assert len(kept["epoch"]) <= ROWS
    assert kept["epoch"][:5].tolist() == [0, 1, 2, 3, 4] and kept["epoch"][-1] == 9_999
    np.testing.assert_array_equal(kept["error"], columns["error"][kept["epoch"]])
    few = {"epoch": np.arange(ROWS)}
    assert thinned(few) is few


def test_a_quick_run_picks_the_smaller_size():
    assert (Bench(quick=True).pick(3, 1), Bench().pick(3, 1)) == (1, 3)


def test_claims_name_studies_that_exist():
    known = registry()
    served = {name for claim in known.claims for name in claim.studies}
    assert served <= set(known.studies)
    for claim in known.claims:
        assert claim.studies, claim.name
        assert {known.studies[name].paper for name in claim.studies} == {claim.paper}
        assert claim.says and claim.where
    for name, study in known.studies.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and study.paper in PAPERS
        assert name not in PAPERS


def test_names_of_studies_differ():
    modules = [import_module(f"southwell.studies.{paper}") for paper in PAPERS]
    names = [study.name for module in modules for study in module.STUDIES]
    assert len(set(names)) == len(names) == len(registry().studies)


def test_misprints_are_of_known_papers():
    assert {misprint.paper for misprint in MISPRINTS} == set(PAPERS)

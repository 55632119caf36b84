"""A short run of the fuzzers, and their own tests: that they see what they look for."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import southwell as sw
from southwell._names import at_most

sys.path.append(str(Path(__file__).resolve().parent.parent))

from fuzz import exact, files, hostile, problems, workers
from fuzz.entries import entries
from fuzz.statement import CHANGES, Penalty, Statement

wide = pytest.mark.skipif(not exact.WIDE_ENOUGH, reason="np.longdouble is no wider than float64 here")


def statement(**changes) -> Statement:
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(12, 4)), rng.normal(size=12)
    return replace(Statement((A,), b, sw.losses.Squared(), Penalty(0.05, 0.1)), **changes)


def answer(s: Statement, label: str = "auto", **changes) -> problems.Answer:
    result = replace(sw.solve(s.problem(), tol=1e-10), **changes)
    evaluated = exact.Exact(s)
    return problems.Answer(label, s, evaluated, result, evaluated.primal(result.x, result.intercept))


def checked(*answers: problems.Answer) -> list[str]:
    case = problems.make(0, 0)
    case.statement, case.findings = answers[0].statement, []
    for one in answers:
        case._check_alone(one)
    case._check_together(list(answers))
    return [finding.key for finding in case.findings]


@wide
@pytest.mark.own_memory
def test_short_run_over_random_problems_finds_no_wrong_certificate():
    report = workers.run("problems", 21, 600.0, 50, batch=25, limit=120.0)
    assert report.cases == 50 and report.counts["certificates"] > 100
    assert [f for f in report.findings if f.kind != "refused"] == [], report.details()


@pytest.mark.own_memory
def test_short_run_of_hostile_calls_neither_crashes_nor_hangs():
    report = workers.run("hostile", 20, 600.0, 500, batch=250, limit=120.0)
    assert report.cases == 500
    assert [f for f in report.findings if f.kind in ("crash", "hang", "exit")] == [], report.details()


@pytest.mark.own_memory
def test_short_run_over_model_files_finds_nothing():
    report = workers.run("files", 20, 600.0, 200, batch=100, limit=120.0)
    assert report.cases == 200 and min(report.counts["loaded"], report.counts["refused"]) > 10
    assert report.findings == [], report.details()


@pytest.mark.own_memory
def test_short_run_over_data_files_finds_nothing():
    report = workers.run("readers", 20, 600.0, 400, batch=200, limit=120.0)
    assert report.cases == 400 and min(report.counts["read"], report.counts["refused"]) > 30
    assert report.findings == [], report.details()


@pytest.mark.own_memory
def test_short_run_over_proofs_finds_none_that_is_refused_or_accepted_wrongly():
    report = workers.run("proofs", 21, 600.0, 40, batch=20, limit=120.0)
    assert report.cases == 40 and report.counts["verified"] > 20 and report.counts["damaged"] > 80
    assert report.findings == [], report.details()


@wide
def test_sound_certificate_passes():
    assert checked(answer(statement())) == []


@wide
@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (lambda r: {"dual": r.primal * (1 + 1e-7), "gap": 0.0}, "dual above an objective (auto)"),
        (lambda r: {"primal": r.primal * (1 - 1e-7)}, "primal below the objective"),
        (lambda r: {"gap": -1e-9}, "negative gap"),
        (lambda r: {"gap": r.gap + 1e-5}, "gap is not primal - dual"),
        (lambda r: {"gap": np.nan}, "not a number"),
        (lambda r: {"tol": 0.0, "dual": r.dual - 1e-3, "gap": r.gap + 1e-3}, "CONVERGED with gap > tol * scale"),
    ],
)
def test_wrong_certificate_is_found(changes, key):
    s = statement()
    assert key in checked(answer(s, **changes(sw.solve(s.problem(), tol=1e-10))))


@wide
def test_dual_above_the_objective_of_another_answer_is_found():
    s = statement()
    worse = replace(s, penalty=Penalty(0.05, 0.2))  # another optimum, larger
    assert "dual above an objective (other)" in checked(answer(s), replace(answer(worse), label="other"))


@wide
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("blocks", [False, True])
def test_changes_keep_the_optimum(change, blocks):
    groups = Penalty(0.01, 0.1, strength=0.05, groups=np.array([0, 0, 1, 1]))
    given = {"b": np.tile([0, 1, 2], 4), "loss": sw.losses.Softmax(), "penalty": groups} if blocks else {}
    s = statement(intercept=True, weights=np.arange(12.0), **given)
    changed = change(s, np.random.default_rng(1))
    assert answer(changed).objective.value == pytest.approx(float(answer(s).objective.value), rel=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_sound_arguments_are_accepted():
    for entry in entries():
        entry.call(**entry.arguments)


def test_errors_that_nobody_wrote_are_unclear():
    def error_of(call) -> BaseException:
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        return caught.value

    assert hostile.unclear_because(error_of(lambda: sw.solve(np.eye(2), [1.0, np.nan]))) == ""
    assert hostile.unclear_because(error_of(lambda: at_most("rows", "x", 1, "samples"))) == "unclear error"


def test_unharmed_files_load():
    for content in files.corpus():
        findings, counts = files.check(content, "unharmed")
        assert findings == [] and counts == {"loaded": 1}


def test_model_that_loads_and_fails_is_found():
    model = sw.Lasso().fit(np.eye(3), np.arange(3.0))
    del model.coef_
    assert {f.kind for f in files.use(model, "no coefficients")} == {"loads but fails"}


@pytest.mark.own_memory
def test_workers_survive_crashes_and_hangs():
    report = workers.run("tests.crashing_part", 0, 600.0, 34, batch=8, limit=3.0)
    found = {(f.kind, f.case) for f in report.findings}
    assert found == {("crash", 3), ("hang", 5), ("wrong", 7), ("crash", 13)}
    assert all("alone: " in f.detail for f in report.findings if f.kind != "wrong")
    assert report.counts["muted"] == 2  # 23 and 33: two of their kind have crashed
    assert report.cases == 32

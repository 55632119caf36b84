"""The judges of the SPDC paper on findings made by hand, and its smallest studies."""

import numpy as np
import pytest

from southwell.studies.bench import Bench
from southwell.studies.findings import Race, Trace
from southwell.studies.spdc import CLAIMS, STUDIES
from southwell.studies.spdc.claims import largest_rise
from study_findings import found, judged, race

SETS = ("covtype", "rcv1", "news20")
LIKE = {"SPDC": 10, "AFG": 100, "L-BFGS": 50, "SAG": 12, "SDCA": 9, "ASDCA": 10}
NEVER = np.inf


def figures(l2=1e-4, **passes):
    """The same race on all sets, with some numbers of passes changed."""
    return found("spdc-figures", [race(f"{name}, l2 = {l2:g}", LIKE | passes) for name in SETS])


def outcome(name, findings):
    return judged(CLAIMS, name, findings).outcome


@pytest.mark.parametrize(
    ("name", "l2", "good", "bad"),
    [
        ("S1", 1e-4, {}, {"L-BFGS": 11, "AFG": 15}),
        ("S2", 1e-8, {"L-BFGS": 20}, {}),
        ("S3", 1e-4, {}, {"SAG": 50}),
        ("S4", 1e-8, {"SAG": 500, "SDCA": NEVER}, {}),
    ],
)
def test_comparisons_of_the_figures(name, l2, good, bad):
    assert outcome(name, figures(l2, **good)) == "holds"
    assert outcome(name, figures(l2, **bad)) == "fails"
    races = [*figures(l2, **good)["spdc-figures"].races[:2], *figures(l2, **bad)["spdc-figures"].races[2:]]
    assert outcome(name, found("spdc-figures", races)) == "in part"
    assert outcome(name, figures(1e-5)) == "cannot tell"


def test_asdca_wins_where_features_are_few():
    def of(covtype, others):
        return found("spdc-figures", [
            race(f"{name}, l2 = {l2:g}", LIKE | {"ASDCA": covtype if name == "covtype" else others})
            for name in SETS for l2 in (1e-6, 1e-8)
        ])  # fmt: skip

    assert outcome("S5", of(5, 20)) == "holds"
    assert outcome("S5", of(20, 20)) == "in part"
    assert outcome("S5", of(20, 5)) == "fails"


def oscillating(asdca):
    steady, at = np.array([1.0, 0.1, 0.01, 0.001]), np.arange(4.0)
    both = [Trace("SPDC", "paper", {"epoch": at, "latest": steady}),
            Trace("ASDCA", "baseline", {"epoch": at, "latest": np.array(asdca)})]  # fmt: skip
    return found("spdc-oscillation", [Race("latest, rcv1", both)])


def test_asdca_oscillates_or_not():
    verdict = judged(CLAIMS, "S6", oscillating([1.0, 0.1, 0.3, 0.01]))
    assert verdict.outcome == "holds"
    assert "up to 3 times for ASDCA, 1 times for SPDC; a line" in verdict.cases[0]
    assert "explains 100 %" in verdict.cases[0]
    assert outcome("S6", oscillating([1.0, 0.2, 0.04, 0.01])) == "fails"


def test_a_slow_rise_over_many_passes_is_an_oscillation():
    slow = Trace("t", "paper", {"latest": np.array([1.0, 0.1, 0.12, 0.14, 0.17, 0.2, 0.01, 0.02, 1e-9, 1.0])})
    assert largest_rise(slow) == pytest.approx(2.0)


def sweep(seconds, iterations=(1000, 600, 100), passes=(10, 12, 30)):
    sizes = (1, 2, 8)
    rows = [{"m": m, "threads": 1, "iterations": k, "passes": p, "seconds": s}
            for m, k, p, s in zip(sizes, iterations, passes, seconds, strict=True)]  # fmt: skip
    return found("spdc-batches", sweep=rows, processors=2)


def test_batches():
    assert outcome("S7", sweep((2.0, 1.0, 3.0))) == "holds"
    assert outcome("S7", sweep((1.0, 2.0, 3.0))) == "in part"
    assert outcome("S7", sweep((1.0, 2.0, 3.0), (10, 20, 30), (10, 9, 8))) == "fails"
    assert outcome("S7", sweep((1.0, NEVER, NEVER), (10, NEVER, NEVER), (10, NEVER, NEVER))) == "cannot tell"
    assert outcome("S7", sweep((NEVER,) * 3, (NEVER,) * 3, (NEVER,) * 3)) == "cannot tell"


def test_sampling_by_norms():
    def of(norms, uniform=100.0):
        rows = [{"lengths": name, "longest / mean": ratio, "uniform": uniform, "norms": norms}
                for name, ratio in (("equal", 1.0), ("Pareto", 50.0))]  # fmt: skip
        return found("spdc-sampling", sampling=rows)

    assert outcome("S8", of(10.0)) == "holds"
    assert outcome("S8", of(90.0)) == "fails"
    assert outcome("S8", of(NEVER)) == "fails"
    assert outcome("S8", of(NEVER, NEVER)) == "cannot tell"


def table_1(growth):
    """Passes that grow as (1 / eps)^growth log(1 / eps), more or less than the table says."""
    accuracies = (1e-1, 1e-2, 1e-3, 1e-4)
    rows = [{"case": f"exponent {k}", "exponent": k, "accuracy": eps, "passes": eps ** -(k + growth) * np.log(1 / eps)}
            for k in (0.0, 0.5, 1.0) for eps in accuracies]  # fmt: skip
    return found("spdc-table-1", table_1=rows)


def test_rates():
    assert outcome("S9", table_1(0.0)) == "holds"
    assert outcome("S9", table_1(-0.5)) == "holds"
    assert outcome("S9", table_1(0.5)) == "fails"
    unreached = table_1(0.0)
    for row in unreached["spdc-table-1"].numbers["table 1"]:
        row["passes"] = NEVER
    assert outcome("S9", unreached) == "cannot tell"


def test_cost_of_a_step():
    def of(by_d, by_k):
        return found(
            "spdc-costs", penalties=["l2"],
            by_features=[{"features": d, "l2": d**by_d} for d in (1000, 8000)],
            by_entries=[{"entries": k, "l2": k**by_k} for k in (10, 100)],
        )  # fmt: skip

    assert outcome("S10", of(0.1, 1.0)) == "holds"
    assert outcome("S10", of(1.0, 1.0)) == outcome("S10", of(-1.0, 1.0)) == "in part"
    assert outcome("S10", of(1.0, 0.0)) == "fails"


def test_theorems():
    def of(first, second):
        return found("spdc-theorems", theorems=[
            {"theorem": theorem, "how": how, "ratio": ratio}
            for theorem, ratio in ((1, first), (2, second)) for how in ("all draws", "averages")
        ])  # fmt: skip

    assert outcome("S11", of(0.9, 0.5)) == "holds"
    assert outcome("S11", of(0.9, 1.2)) == "in part"
    assert outcome("S11", of(1.2, 1.2)) == "fails"


QUICK = Bench(quick=True)


@pytest.mark.parametrize("name", ["spdc-sampling", "spdc-table-1"])
def test_small_studies(name):
    """They run, name what they measured, and are judged."""
    study = next(study for study in STUDIES if study.name == name)
    claim = next(claim for claim in CLAIMS if claim.studies == (name,))
    findings = study.run(QUICK)
    assert findings.tables and all(table.rows for table in findings.tables)
    assert claim.judge({name: findings}).outcome in ("holds", "in part")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spdc-theorems", "spdc-ridge", "spdc-batches"])
def test_larger_studies(name):
    findings = next(study for study in STUDIES if study.name == name).run(QUICK)
    assert findings.races or findings.tables

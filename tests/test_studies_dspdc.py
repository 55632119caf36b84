"""The judges of the DSPDC paper on findings made by hand, and its smallest studies."""

import numpy as np
import pytest

from southwell.metric import MatrixRisk
from southwell.metric._methods import Choice
from southwell.studies.bench import Bench
from southwell.studies.dspdc import CLAIMS, STUDIES
from southwell.studies.dspdc.matrices import pairs_of_classes, random_matrices, tens_of_classes
from southwell.studies.dspdc.matrix_traces import matrix_trace, tuned
from southwell.studies.dspdc.scales import largest_block
from study_findings import found, judged, race

NEVER = np.inf
BEHIND = {"DSPDC": 1, "SPDC": 2, "SDCA": NEVER}
AHEAD = {"DSPDC": 10, "SPDC": 2, "SDCA": 4}


def outcome(name, findings):
    return judged(CLAIMS, name, findings).outcome


def test_figure_1():
    def of(*races):
        return found("dspdc-figure-1", [race(str(k), needed) for k, needed in enumerate(races)])

    assert outcome("P1", of(BEHIND, BEHIND)) == "holds"
    verdict = judged(CLAIMS, "P1", of(BEHIND, AHEAD))
    assert verdict.outcome == "in part"
    assert verdict.because.startswith("DSPDC is more than 1.5 times as fast in 2 of 4 cases.")
    assert outcome("P1", of(AHEAD)) == "fails"
    assert outcome("P1", of()) == "cannot tell"


def test_figure_2():
    def of(covtype, rcv1, real_sim):
        named = zip(("covtype", "rcv1", "real-sim"), (covtype, rcv1, real_sim), strict=True)
        return found("dspdc-figure-2", [race(name, needed) for name, needed in named])

    level = {"DSPDC": 2, "SPDC": 2, "SDCA": 20}
    assert outcome("P2", of(BEHIND, BEHIND, level)) == "holds"
    assert outcome("P2", of(BEHIND, level, level)) == "in part"
    for other in ({"DSPDC": 2, "SPDC": 20, "SDCA": 200}, {"DSPDC": 20, "SPDC": 2, "SDCA": 200}):  # not level
        assert outcome("P2", of(BEHIND, BEHIND, other)) == "in part"
    assert outcome("P2", of(AHEAD, AHEAD, {"DSPDC": 10, "SPDC": 2, "SDCA": 1})) == "in part"
    last = {"DSPDC": 10, "SPDC": 2, "SDCA": 1}
    assert outcome("P2", of(last, last, last)) == "fails"


@pytest.mark.parametrize(("name", "study"), [("P3", "dspdc-figure-3"), ("P4", "dspdc-figure-4")])
def test_matrices(name, study):
    def of(tuned, theory):
        needed = {f"{label}, {kind}": value for kind, many in (("tuned", tuned), ("theory", theory))
                  for label, value in many.items()}  # fmt: skip
        return found(study, [race("one", needed)])

    assert outcome(name, of(BEHIND, BEHIND)) == "holds"
    assert outcome(name, of(BEHIND, AHEAD)) == "in part"
    assert outcome(name, of(AHEAD, AHEAD)) == "fails"


def scales(usual, safe, error=1e-6):
    return found("dspdc-lambda", scales=[{
        "data": "d", "m": 1, "q": 2, "usual": 1.0, "safe": 3.0, "found": 2.0, "epochs, usual": usual,
        "epochs, safe": safe, "error, usual": error, "error, safe": 1e-4, "epochs": 40,
    }])  # fmt: skip


def test_usual_scale():
    assert outcome("P5", scales(10.0, 20.0)) == "holds"
    assert outcome("P5", scales(NEVER, NEVER)) == "holds"  # it came further
    assert outcome("P5", scales(30.0, 20.0)) == "fails"
    assert outcome("P5", scales(NEVER, 20.0, error=10.0)) == "fails"


def test_cost():
    def of(by_n, by_size):
        return found(
            "dspdc-costs",
            by_shape=[{"n": n, "microseconds": n**by_n} for n in (1000, 8000)],
            by_size=[{"k (m + q)": k, "microseconds": k**by_size} for k in (100, 1000)],
        )

    assert outcome("P6", of(0.1, 0.9)) == "holds"
    assert outcome("P6", of(1.0, 0.9)) == "in part"
    assert outcome("P6", of(1.0, 2.0)) == "fails"


def theorems(outside, printed, second):
    rows = [{"theorem": 1, "form": "outside", "how": how, "ratio": outside} for how in ("all draws", "averages")]
    rows.append({"theorem": 1, "form": "under the root", "how": "averages", "ratio": printed})
    rows += [{"theorem": 2, "form": form, "how": "averages", "ratio": second} for form in ("statement", "proof")]
    return found("dspdc-theorems", theorems=rows)


def test_theorems():
    assert outcome("P7", theorems(0.9, 0.9, 0.1)) == "holds"
    assert outcome("P7", theorems(0.9, 1e3, 0.1)) == "in part"
    assert outcome("P7", theorems(2.0, 1e3, 2.0)) == "fails"


@pytest.fixture(scope="module")
def risk():
    D, b = random_matrices(6, 12, 5)
    return MatrixRisk(D, b, "smooth_hinge", l2=0.01)


@pytest.mark.parametrize("name", ["dspdc", "spdc", "sdca", "fista"])
def test_traces_over_matrices(risk, name):
    """Their errors are those of points: positive, and near zero in the end; FISTA counts as many moves as blocks."""
    best = risk.solve(tol=1e-10)
    options = {"dspdc": {"rows": 3, "blocks": 2}, "fista": {}}.get(name, {"rows": 3})
    trace = matrix_trace(Bench(), risk, Choice(name, **options), name, "paper", best.primal, seconds=60, most=150)
    assert trace.columns["latest"].min() > -1e-9
    assert trace.columns["error"][-1] < 0.1 * trace.columns["error"][0]
    assert (np.diff(trace.columns["error"]) <= 0).all() and (np.diff(trace.columns["seconds"]) > 0).all()
    each = {"dspdc": 2, "spdc": 5, "sdca": 5}.get(name)
    if each:
        assert (trace.columns["eigendecompositions"] == each * trace.columns["moves"]).all()


def test_tuning_takes_what_falls_furthest(risk):
    """Steps that are a million times too short do not win."""
    best = tuned(Bench(), risk, {"dspdc": Choice("dspdc", rows=3, blocks=2)}, 0.0, 0.02, ((1e-6, 1e-6), (1.0, 1.0)))
    assert best == {"dspdc": (1.0, 1.0)}


def test_largest_block_is_exact_for_one_row():
    A = np.array([[3.0, 0.0, 4.0], [1.0, 1.0, 1.0]])
    assert largest_block(A, 1, 2, np.random.default_rng(0)) == 25.0
    assert largest_block(A, 2, 3, np.random.default_rng(0)) == pytest.approx(np.linalg.norm(A, 2) ** 2)


def test_tasks():
    y = np.repeat(np.arange(20), 6)
    assert np.bincount(tens_of_classes(y)).tolist() == [60, 60]
    tasks = pairs_of_classes(y % 3, 0)
    assert sorted(set(tasks)) == [0, 1, 2]
    assert all(len(np.unique((y % 3)[tasks == t])) == 2 for t in range(3))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dspdc-costs", "dspdc-theorems", "dspdc-lambda"])
def test_small_studies(name):
    study = next(study for study in STUDIES if study.name == name)
    claim = next(claim for claim in CLAIMS if claim.studies == (name,))
    findings = study.run(Bench(quick=True))
    assert claim.judge({name: findings}).outcome in ("holds", "in part")

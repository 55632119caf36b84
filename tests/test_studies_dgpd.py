"""Claims of the DGPD paper are judged by the numbers that are found, and its studies run."""

import numpy as np
import pytest

from southwell.studies.dgpd import CLAIMS, STUDIES
from southwell.studies.dgpd.claims import APPENDIX, COSTS, FIGURE_1, PASSES, STRENGTHS, TABLE, THEOREM, _between
from southwell.studies.dgpd.contest import against_the_best
from southwell.studies.dgpd.problems import DENSE, METHODS, SPARSE, TABLE_2
from southwell.studies.findings import Findings, Race, Trace
from tiny_studies import judged, raced, run_and_judge, trace


def figures(dense, sparse):
    """Races with these costs, methods in the order of METHODS."""
    races = [
        raced(f"{name}, l1 0.1, l2 0.01", dict(zip(METHODS, dense if name in DENSE else sparse, strict=True)))
        for name in (*DENSE, *SPARSE)
    ]
    return Findings(races, numbers={"limit": 1e4})


def of_passes(one, five):
    traces = []
    for order in ("together", "in turn"):
        for many, cost in ((1, one), (5, five), (50, five)):
            traces.append(trace(f"{order}, {many} passes", cost))
    return Findings([Race("sector", traces)])


def means(factor):
    return Findings(
        numbers={"means": {
            name: {"x": factor * x, "y": factor * y, "classes": 10, "rows": 100, "features": 10}
            for name, (x, y) in TABLE_2.items() if name in ("sector", "mnist-RF", "mnist-RB")
        }, "seconds": {label: [cost] for label, cost in zip(METHODS, (factor, factor, 9.0, 2.0, 9.0), strict=True)}}
    )  # fmt: skip


def sweeps(nonzeros, errors, seconds):
    rows = [
        {"l1": 0.1, "l2": 0.1, "nonzeros of y": y, "balanced error": error, "dual RCD": 1.0,
         "DGPD, together": own, "DGPD, in turn": own}
        for y, error, own in zip(nonzeros, errors, seconds, strict=True)
    ]  # fmt: skip
    return Findings(numbers={"sweeps": {"l1": rows, "l2": rows}, "limit": 10.0})


def steps(printed, mended):
    row = {"loss": "squared", "size of A": 1.0, "printed": printed, "mended": mended, "factor": 0.99}
    return Findings(numbers={"steps": [row | {"R^2 times": constant} for constant in (5, 10)]})


def powers(s, ratio, n, pace):
    def rows(key, values, power, offset=0.0, factor=1.0):
        return [{key: value, "iterations": 100 * (offset + factor * value) ** power} for value in values]

    return Findings(
        numbers={
            "iterations": {
                "s": rows("s", (5.0, 10.0), s),
                "ratio": rows("kappa / n", (1.0, 4.0), ratio, 1.0, 10.0),
                "n": rows("n", (50.0, 100.0), n),
            },
            "pace": [{"n + d": size, "us": size, "entries": size**pace} for size in (100.0, 200.0)],
        }
    )


AS_SAID = {
    FIGURE_1: figures((1, 1, 90, 40, 50), (1, 1, 9, 4, 5)),
    APPENDIX: figures((1, 1, 90, 40, 50), (1, 1, 9, 4, 5)),
    PASSES: of_passes(2.0, 1.0),
    TABLE: means(1.1),
    STRENGTHS: sweeps((100, 1000), (0.1, 0.5), (0.1, 2.0)),
    THEOREM: steps(1.0, 0.9),
    COSTS: powers(1.0, 1.0, 0.0, 1.0),
}
OPPOSITE = {
    FIGURE_1: figures((30, 30, 1, 3, 2), (8, 8, 1, 3, 2)),
    APPENDIX: figures((30, 30, 1, 3, 2), (8, 8, 1, 3, 2)),
    PASSES: of_passes(1.0, 2.0),
    TABLE: means(3.0),
    STRENGTHS: sweeps((1000, 100), (0.5, 0.1), (2.0, 0.1)),
    THEOREM: steps(1.5, 0.9),
    COSTS: powers(2.0, 2.0, 1.0, 2.0),
}


@pytest.mark.parametrize("name", [f"D{k}" for k in range(1, 11)])
def test_claims_hold_on_what_the_paper_says_and_fail_on_the_opposite(name):
    assert judged(CLAIMS, name, AS_SAID) == "holds"
    assert judged(CLAIMS, name, OPPOSITE) == "fails"


def test_claims_that_hold_in_part():
    mixed = figures((1, 9, 90, 40, 50), (8, 1, 9, 3, 5))
    found = {FIGURE_1: mixed, APPENDIX: mixed, TABLE: means(1.5), COSTS: powers(1.0, 1.0, 1.0, 1.0)}
    for name in ("D1", "D3", "D5", "D10"):
        assert judged(CLAIMS, name, found) == "in part"


def test_a_speedup_of_our_order_alone_holds_in_part():
    ours = figures((10, 1, 90, 40, 50), (10, 1, 90, 40, 50))
    assert judged(CLAIMS, "D2", {FIGURE_1: ours, APPENDIX: ours}) == "in part"
    single = figures((10, 10, 400, 40, 50), (10, 10, 400, 40, 50))  # against one method
    assert judged(CLAIMS, "D2", {FIGURE_1: single, APPENDIX: single}) == "in part"
    neither = figures((10, 10, 90, 40, 50), (10, 10, 90, 40, 50))
    assert judged(CLAIMS, "D2", {FIGURE_1: neither, APPENDIX: neither}) == "fails"
    [d1] = [claim for claim in CLAIMS if claim.name == "D1"]
    because = d1.judge({FIGURE_1: ours, APPENDIX: ours}).because
    assert "24 of 24 comparisons with the moves of a pass made together" in because and "24 of 24 with" in because


def test_a_time_that_was_not_enough_decides_only_what_it_bounds():
    """One pass took 1.4 s, which is not 1.5 times 1, or 2 s; never came is not slower than never came."""

    def passes(one, five, end):
        late = Trace("together, 1 passes", "paper", {"seconds": np.array([0.0, end]), "error": np.array([1.0, 0.5])})
        runs = [late if np.isinf(one) else trace("together, 1 passes", one), trace("together, 5 passes", five)]
        others = [trace(f"in turn, {many} passes", np.inf) for many in (1, 5, 50)]
        return Findings([Race("sector", [*runs, trace("together, 50 passes", 0.1), *others])])

    assert judged(CLAIMS, "D4", {PASSES: passes(np.inf, 0.5, 1.4)}) == "holds"  # at 1e-3 alone
    assert judged(CLAIMS, "D4", {PASSES: passes(np.inf, 1.0, 1.4)}) == "cannot tell"
    assert judged(CLAIMS, "D4", {PASSES: passes(np.inf, np.inf, 1.4)}) == "cannot tell"
    assert _between(2.0, 4.0, 9.0) == (0.5, 0.5) and _between(np.inf, 3.0, 9.0) == (3.0, np.inf)
    assert _between(3.0, np.inf, 9.0) == (0.0, 3.0 / 9.0)
    [d7] = [claim for claim in CLAIMS if claim.name == "D7"]
    for first, last, told in (
        (np.inf, 20.0, 0),
        (np.inf, 2.0, 4),
        (0.1, np.inf, 4),
        (np.inf, np.inf, 0),
    ):  # seconds of DGPD
        cases = d7.judge({STRENGTHS: sweeps((100, 1000), (0.1, 0.5), (first, last))}).cases
        assert sum("times the seconds of" in case for case in cases) == told


def test_nothing_is_told_of_runs_that_never_arrive():
    never = figures((np.inf,) * 5, (np.inf,) * 5)
    classes = Findings(numbers={"seconds": {label: [np.inf] for label in METHODS}})
    for name in ("D1", "D2", "D3", "D6", "D8"):
        assert judged(CLAIMS, name, {FIGURE_1: never, APPENDIX: never, TABLE: classes}) == "cannot tell"


def test_errors_are_against_the_best_point_and_none_is_below_what_is_proven():
    def run(errors, dual):
        return Trace(
            "a", "paper", {"error": np.array(errors), "latest": np.array(errors), "dual_error": np.array([dual])}
        )

    [first, second], sure = against_the_best([run([1.0, -0.5], 0.6), run([1.0, 0.25], 0.7)], 0.3)
    assert sure == pytest.approx((0.5 - 0.4) / 0.5)
    assert first.columns["error"].tolist() == pytest.approx([3.0, 0.2])
    assert second.columns["latest"].tolist() == pytest.approx([3.0, 1.5])
    [only], sure = against_the_best([run([1.0, 1e-9], 0.0)], 1.0)
    assert sure == 0 and only.columns["error"].tolist() == [1.0, 1e-9]


def test_studies_run_and_are_judged():
    found = run_and_judge(STUDIES, CLAIMS)
    for findings in found.values():
        for race in findings.races:
            for run in race.traces:
                assert {name for view in race.views for name in view} <= set(run.columns)

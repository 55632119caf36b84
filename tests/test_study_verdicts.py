"""Which method is ahead in a race when not all of them arrive, and what judges share."""

import numpy as np
import pytest

from southwell.studies.ahead import Ratio, arrival, beyond, held
from southwell.studies.cards import judged
from southwell.studies.findings import Findings, Race, Trace
from southwell.studies.papers import registry
from southwell.studies.verdicts import count, decided, outcome, shown, slope


def run(label, errors, spent, unit="epoch"):
    return Trace(label, "paper", {unit: np.asarray(spent, dtype=float), "error": np.asarray(errors)})


def falling(label, end, last=1e-7):
    """The error falls by factors of ten, equally far apart, and stays at ``last``; 1e-7 would take so many moves."""
    return run(label, np.maximum(10.0 ** -np.arange(8), last), end * np.arange(8) / 7, "moves")


def pair(a, b):
    return Race("two", [a, b])


def test_an_arrival_lies_between_rows():
    trace = falling("method", 7)
    assert arrival(trace, 1e-2, "moves") == pytest.approx(2)
    assert arrival(trace, 10**-2.5, "moves") == pytest.approx(2.5)
    assert arrival(trace, 1e-8, "moves") == np.inf


def test_a_bound_decides_only_what_it_proves():
    race = pair(falling("fast", 70), falling("slow", 90, 1e-1))  # the second stops at 0.1, after 90 moves in all
    assert str(Ratio(race, ("slow",), ("fast",), "moves")) == "more than 1.5 (at 1e-6)"
    assert str(Ratio(race, ("fast",), ("slow",), "moves")) == "less than 0.667 (at 1e-6)"
    twice = Ratio(race, ("slow",), ("fast",), "moves", limit=2.0)  # at 1e-6 it might still be less
    assert (twice.held, twice.beyond, twice.target) == (False, True, 1e-4)
    wide = Ratio(race, ("slow",), ("fast",), "moves", limit=5.0)
    assert (wide.held, wide.target, wide.bound) == (True, 1e-1, "")
    nobody = pair(falling("a", 10, 1.0), falling("b", 10, 1.0))
    undecided = Ratio(nobody, ("a",), ("b",), "moves")
    assert (undecided.held, undecided.beyond, str(undecided)) == (None, None, "undecided")
    assert (held(twice, wide, undecided), beyond(twice, wide, undecided)) == ([False, True], [True, False])


def test_the_best_of_each_side_is_compared_at_one_target():
    """One that is fast to 0.1 stands for its side at 1e-6 only if it had the moves to get there."""
    fast, late = falling("a", 70), falling("late", 700)
    stuck = Race("three", [fast, falling("stuck", 7000, 1e-1), late])
    assert str(Ratio(stuck, ("stuck", "late"), ("a",), "moves")) == "10 (at 1e-6)"
    ended = Race("three", [fast, falling("ended", 7, 1e-1), late])  # after 7 moves: it might need fewer than "late"
    assert str(Ratio(ended, ("ended", "late"), ("a",), "moves")) == "0.1 (at 1e-1)"
    assert str(Ratio(ended, ("a",), ("ended", "late"), "moves")) == "10 (at 1e-1)"


def test_a_best_that_lies_between_bounds_decides_if_both_do():
    race = Race("three", [falling("a", 70), falling("ended", 350, 1e-1), falling("late", 700)])
    assert str(Ratio(race, ("ended", "late"), ("a",), "moves")) == "more than 5.83 (at 1e-6)"
    assert str(Ratio(race, ("ended", "late"), ("a",), "moves", 20.0)) == "less than 10 (at 1e-6)"
    assert str(Ratio(race, ("a",), ("ended", "late"), "moves")) == "less than 0.171 (at 1e-6)"


def test_targets_that_all_meet_at_once_decide_nothing():
    race = pair(run("a", [0.05, 0.04], [0, 9]), run("b", [0.05, 0.04], [0, 3]))
    assert Ratio(race, ("a",), ("b",), "epoch").held is None


def test_epochs_are_told_apart_no_finer_than_one():
    race = pair(run("a", [1.0, 1e-7], [0, 1e-3]), run("b", [1.0, 1e-7], [0, 3]))
    assert Ratio(race, ("b",), ("a",), "epoch").value == pytest.approx(arrival(race["b"], 1e-6, "epoch"))


def test_a_missing_method_is_named():
    with pytest.raises(KeyError, match="the race 'two' has no 'c'"):
        pair(falling("a", 1), falling("b", 1))["c"]


def test_outcomes_of_several_cases():
    assert [outcome(held) for held in ([], [True], [True, False], [False])] == ["cannot tell", "holds", "in part",
                                                                               "fails"]  # fmt: skip
    assert decided([], "Why.").because == "No case could be decided. Why."
    assert decided([np.True_], "Why.", ["a", "b"]).cases == ("a", "b")
    assert (count([True, False]), shown(np.inf), shown(0.12345)) == ("1 of 2", "never", "0.123")


def test_the_exponent_of_a_power():
    x = np.array([1.0, 2.0, 5.0])
    assert slope(x, 3 * x**1.5) == pytest.approx(1.5)
    assert slope(x, [2.0, 4.0, np.inf]) == pytest.approx(1.0)
    assert np.isnan(slope(x, [2.0, np.nan, np.inf]))


class Holding(dict):
    """Numbers of every name, all empty."""

    def __init__(self, kind):
        self.kind = kind

    def __missing__(self, name):
        return self.kind()


@pytest.mark.parametrize("kind", [list, dict])
@pytest.mark.parametrize("claim", registry().claims, ids=lambda claim: claim.name)
def test_nothing_is_decided_by_findings_of_nothing(claim, kind):
    verdict, _ = judged(claim, {name: Findings(numbers=Holding(kind)) for name in claim.studies})
    assert verdict.outcome == "cannot tell"

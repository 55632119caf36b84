"""The cases of benchmarks/peers.py: every objective is the one that is solved, and halves are fixed by names."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw

ROOM = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def cases():
    """The modules of the benchmarks, which import one another by their names alone."""
    sys.path.insert(0, str(ROOM))
    try:
        import _net_cases
        import _net_data
        import _peers_cases
    finally:
        sys.path.remove(str(ROOM))
    return _peers_cases, _net_cases, _net_data


LOSSES = {
    "squared": "real", "logistic": "signs", "hinge": "signs", "squared_hinge": "signs", "smooth_hinge": "signs",
    "poisson": "counts", "epsilon_insensitive": "real", "squared_epsilon_insensitive": "real",
}  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_all_solvers_are_judged_by_our_objective(cases, loss, intercept):
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((40, 5)), rng.standard_normal(40)
    b = {"real": b, "signs": np.sign(b), "counts": np.floor(np.exp(b))}[LOSSES[loss]]
    result = sw.solve(A, b, loss=loss, l1=0.02, l2=0.3, intercept=intercept)
    ask = cases[0].Ask("", 0.02, 0.3, intercept)
    assert cases[0].objective(A, b, loss, ask, result.x, result.intercept) == pytest.approx(result.primal, rel=1e-12)


def test_every_case_names_a_model_and_data_that_exist(cases, tmp_path):
    first, net, _ = cases
    known = {*first.sets(True, tmp_path), *net.NET_SETS}
    assert {case.data for case in [*first.CASES, *net.NET]} <= known
    assert {case.model for case in [*first.CASES, *net.NET]} == set(first.LOSSES)


def test_halves_of_the_net_depend_on_names_alone_and_are_alike_in_size(cases):
    names = [case.name for case in cases[1].NET]
    assert len(set(names)) == len(names) == 100
    seen = {case.name for case in cases[1].NET if case.half == "seen"}
    assert len(seen) == 50
    assert {"lasso titles l1=0.02", "hinge pairs C=1"} <= seen
    assert not seen & {"lasso clicks l1=0.01 +c", "hinge titles C=1"}


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("one_hot", (50, 1000)), ("pairs", (30, 200, 8)), ("titles", (60, 40)), ("sensors", (50, 25)),
        ("counts", (50, 30)), ("rare", (400, 6)), ("tall", (80, 3)), ("wide", (9, 80)), ("scales", (40, 6)),
        ("sparse_scales", (40, 30)),
    ],
)  # fmt: skip
def test_generated_data_are_finite_repeatable_and_of_the_shape_asked_for(cases, kind, arguments):
    (A, b), (again, same) = (getattr(cases[2], kind)(*arguments) for _ in range(2))
    assert A.shape == arguments[:2]
    assert b.shape == arguments[:1]
    stored, also = (M.data if sp.issparse(M) else M for M in (A, again))
    assert np.isfinite(stored).all()
    assert np.array_equal(stored, also)
    assert np.array_equal(b, same)
    assert np.unique(b).size > 1

"""The numbers that the default method decides by: listed with reasons, and without influence on the answer."""

import numpy as np
import pytest

import southwell as sw
from southwell.methods import Auto, default_policy

NAMES = list(default_policy())


def problem(loss="logistic"):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 30))
    return sw.Problem(
        A, np.sign(A[:, 0] + rng.normal(size=80)), loss, sw.penalties.ElasticNet(0.02, 1e-3), intercept=True
    )


def test_every_number_has_a_reason():
    assert len(NAMES) == len(set(NAMES)) > 50
    for number, reason in default_policy().values():
        assert number > 0
        assert len(reason.split()) >= 3


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_do_not_change_the_answer(name, factor):
    best = sw.solve(problem(), tol=1e-9)
    number = default_policy()[name][0]
    other = min(factor * number, 0.95) if number < 1 else factor * number  # parts of one stay parts of one
    r = sw.solve(problem(), tol=1e-9, method=Auto(policy={name: other}))
    assert r.status is sw.Status.CONVERGED
    assert abs(r.primal - best.primal) <= 2e-9 * r.scale


def test_numbers_are_obeyed():
    plain = sw.solve(problem("hinge"), tol=1e-9, method=Auto(movers="primal"))
    short = sw.solve(problem("hinge"), tol=1e-9, method=Auto(movers="primal", policy={"steps_a_round": 1}))
    assert short.epochs > plain.epochs


@pytest.mark.parametrize(
    ("policy", "error", "words"),
    [
        ({"sweep": 3}, ValueError, "policy.*sweeps"),
        ({"sweeps": -1}, ValueError, r"policy\['sweeps'\]"),
        ({"sweeps": "many"}, TypeError, r"policy\['sweeps'\]"),
        (3, TypeError, "mapping"),
    ],
)
def test_policy_of_another_kind_is_refused(policy, error, words):
    with pytest.raises(error, match=words):
        Auto(policy=policy)

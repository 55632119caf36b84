"""Steps as papers have them: 1/L_j, 1/L_max, theta_0 = 1, candidates compared by gradients; each is its reference."""

import numpy as np
import pytest

import southwell as sw
from southwell import reference, rules
from southwell.methods import AcceleratedCD, CoordinateDescent, Start, accelerated
from southwell.penalties import ElasticNet
from twins import FORMS, PENALTIES, SMOOTH, D, Formulas, N, Pair, forms, problem_of

BOUNDED = [loss for loss in SMOOTH if np.isfinite(sw.losses.get(loss).smoothness)]
STEPS = 50
LITERAL = {"curvature": "largest", "compare": "gradient", "theta0": 1.0}
"""Algorithm 3 of Fang et al. as printed."""


@pytest.mark.parametrize("curvature", ["coordinate", "largest"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", BOUNDED)
def test_plain_steps_are_those_of_the_reference(loss, penalty, curvature):
    for form in forms(loss):
        for coupling in ("mirror", "gram")[: 1 + (loss == "squared")]:
            problem = problem_of(loss, penalty, form)
            method = CoordinateDescent("primal", "uniform", coupling, shrinking=False, curvature=curvature)
            core = method.prepare(problem, Start(np.zeros(D)), 0).algorithm
            core.settle()
            formulas = Formulas(problem, "primal")
            order = core.lead(STEPS)
            largest = curvature == "largest"
            want = reference.primal_coordinate_descent(*formulas.parts, order, formulas.at, largest=largest)
            np.testing.assert_allclose(core.point()[0], want, atol=1e-10)


def test_local_curvature_is_the_default_and_differs_for_logistic_alone():
    for loss, same in (("squared", True), ("smooth_hinge", True), ("logistic", False)):
        ends = []
        for options in ({}, {"curvature": "local"}, {"curvature": "coordinate"}):
            method = CoordinateDescent("primal", "cyclic", "mirror", **options)
            core = method.prepare(problem_of(loss, "l2"), Start(np.zeros(D)), 0).algorithm
            core.settle()
            core.lead(STEPS)
            ends.append(core.point()[0].tobytes())
        assert ends[0] == ends[1] and (ends[0] == ends[2]) == same


@pytest.mark.parametrize(
    "options",
    [{"theta0": 1.0}, {"theta0": 0.3}, {"curvature": "largest"}, {"compare": "gradient"}, LITERAL],
    ids=lambda options: " ".join(f"{name}={value}" for name, value in options.items()),
)
@pytest.mark.parametrize("rule", ["uniform", "hybrid", "greedy"])
@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "squared")])
def test_accelerated_options_are_those_of_the_reference(side, loss, rule, options):
    if side == "dual":
        options = {name: value for name, value in options.items() if name != "curvature"}
    size = D if side == "primal" else N
    rule = rules.Hybrid(partition=np.arange(size) % 7) if rule == "hybrid" else rule
    for form in FORMS:
        for penalty in ("l2", ElasticNet(l2=0.01, weights=np.linspace(0.3, 3.0, D))):
            for coupling in ("mirror", "gram")[: 1 + (loss == "squared")]:
                pair = Pair(problem_of(loss, penalty, form), side, rule, coupling, **options)
                pair.lead(STEPS)
                pair.agree()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_printed_algorithm_takes_an_intercept(loss):
    for rule in ("greedy", rules.Hybrid(partition=np.arange(D) % 7)):
        pair = Pair(problem_of(loss, "l2", "centred", intercept=True), "primal", rule, **LITERAL)
        pair.lead(STEPS)
        pair.agree()


def test_one_candidate_takes_l1_with_the_largest_curvature():
    for penalty in ("l1", "box", "elastic net"):
        pair = Pair(problem_of("logistic", penalty), "primal", "uniform", curvature="largest")
        pair.lead(STEPS)
        pair.agree()


def test_with_one_curvature_both_comparisons_are_the_same():
    rule = rules.Hybrid(partition=np.arange(D) % 7)
    runs = [
        Pair(problem_of("squared", "l2"), "primal", rule, curvature="largest", compare=compare).core.lead(400)
        for compare in ("scaled", "gradient")
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("options", [LITERAL, {"theta0": 1.0}, {"curvature": "largest"}, {"compare": "gradient"}])
def test_restarts_and_certificates_follow_the_options(options):
    problem = problem_of("squared", "l2")
    for rule in ("hybrid", "greedy", "uniform"):
        for coupling in ("mirror", "gram"):
            method = AcceleratedCD("primal", rule, coupling, **options)
            assert sw.solve(problem, method=method, tol=1e-8, max_epochs=5000).status is sw.Status.CONVERGED


@pytest.mark.parametrize("room", [1, 200, 2000])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_columns_may_leave_the_cache(side, form, room, monkeypatch):
    monkeypatch.setattr(accelerated, "COLUMN_ROOM", room)
    pair = Pair(problem_of("squared", "l2", form, intercept=side == "primal"), side, "greedy")
    for _ in range(3):
        pair.lead(100)
        pair.core.settle()
        pair.agree()


@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("form", FORMS)
def test_kept_readings_restart_as_the_gram_matrix_does(form, side):
    """Both fold u into z and correct products; readings that are kept differ in how columns are made alone."""
    problem = problem_of("squared", ElasticNet(l2=0.3), form)  # so strongly convex that it restarts every few epochs
    ends = []
    for coupling in ("mirror", "gram"):
        with pytest.warns(sw.ConvergenceWarning):
            method = AcceleratedCD(side, "greedy", coupling)
            ends.append(sw.solve(problem, method=method, tol=0, max_epochs=12, check_every=100))
    np.testing.assert_allclose(ends[0].x, ends[1].x, atol=1e-8)
    assert "Gram columns" in ends[0].method and "Gram matrix" in ends[1].method


# Refusals


def test_options_that_cannot_work_are_refused():
    def refused(match, method, **options):
        with pytest.raises(ValueError, match=match) as caught:
            sw.solve(problem_of(**{"loss": "squared", "penalty": "l2", **options}), method=method)
        assert len(str(caught.value)) < 400

    for curvature in ("coordinate", "largest"):
        refused("for steps on the primal side", CoordinateDescent("dual", curvature=curvature))
        poisson = CoordinateDescent("primal", curvature=curvature)
        refused("poisson has none. Use curvature='local'", poisson, loss="poisson")
    refused("is for the primal side", AcceleratedCD("dual", curvature="largest"))
    refused("above one over the number of coordinates, 60", AcceleratedCD("primal", theta0=1.0), penalty="l1")
    refused("needs the squared loss on the dual side", AcceleratedCD("dual", theta0=1.0), loss="hinge")
    refused("at least one over the number of coordinates, 60", AcceleratedCD("primal", theta0=1e-3))
    AcceleratedCD("primal", theta0=1 / D).prepare(problem_of("squared", "l1"), Start(np.zeros(D)), 0)


def test_blocks_have_no_choice_of_curvature():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="single coefficients; steps on blocks"):
        sw.solve(
            rng.normal(size=(9, 3)), rng.normal(size=(9, 2)), l1=0.1, method=CoordinateDescent(curvature="largest")
        )


@pytest.mark.parametrize("given", ["Largest", "global", None, 1, ["largest"]])
def test_unknown_words_are_refused(given):
    for make in (
        lambda: CoordinateDescent(curvature=given),
        lambda: AcceleratedCD(curvature=given),
        lambda: AcceleratedCD(compare=given),
    ):
        with pytest.raises((TypeError, ValueError), match=r"curvature|compare"):
            make()
    with pytest.raises(ValueError, match="curvature"):
        AcceleratedCD(curvature="local")


@pytest.mark.parametrize("given", [0, -0.1, 1.1, np.nan, np.inf, "half", [0.5]])
def test_theta0_out_of_range_is_refused(given):
    with pytest.raises((TypeError, ValueError), match="theta0 must be"):
        AcceleratedCD(theta0=given)

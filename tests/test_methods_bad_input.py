"""Methods refuse what they cannot use, in words; steps that are too long end with a warning."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import D, N, honest, problem_of, quietly
from southwell import rules
from southwell.methods import (
    DGPD,
    DSPDC,
    FISTA,
    LBFGS,
    MISO,
    SAG,
    SAGA,
    SGD,
    SPDC,
    SVRG,
    AcceleratedCD,
    AcceleratedSDCA,
    Auto,
    CoordinateDescent,
    ProximalGradient,
)  # fmt: skip
from southwell.penalties import ElasticNet

NAN, INF = float("nan"), float("inf")


def refuses(error, match, *args, **options):
    with pytest.raises(error, match=match):
        sw.solve(*args, **options)


GREEDY = partial(DGPD, active_sets=False)


# How many


@pytest.mark.parametrize(
    ("method", "match"),
    [
        (SPDC(batch=N + 1), f"batch must be .*{N}.*; got {N + 1}"),
        (SPDC(batch=10**12), f"batch must be .*{N}"),
        (DSPDC(rows=N + 1, columns=1), f"rows must be 1 to {N}.*; got {N + 1}"),
        (DSPDC(rows=1, columns=D + 1), f"columns must be 1 to {D}.*; got {D + 1}"),
        (DGPD(active_sets=False, rows=N + 1), f"rows must be 1 to {N}.*; got {N + 1}"),
        (DGPD(active_sets=False, columns=D + 1), f"columns must be 1 to {D}.*; got {D + 1}"),
    ],
)
def test_more_rows_or_columns_than_there_are_are_refused(method, match):
    refuses(ValueError, match, problem_of(), method=method)


def test_an_intercept_counts_as_a_column():
    problem = problem_of(intercept=True)
    assert quietly(problem, method=DSPDC(rows=N, columns=D + 1), max_epochs=2).epochs == 2
    assert quietly(problem, method=DGPD(active_sets=False, columns=D + 1), max_epochs=2).epochs == 2
    refuses(ValueError, f"columns must be 1 to {D + 1}", problem, method=DSPDC(rows=1, columns=D + 2))


COUNTS = [
    (SPDC, "batch"), (SPDC, "n_threads"), (DSPDC, "rows"), (DSPDC, "columns"), (DGPD, "rows"), (DGPD, "columns"),
    (DGPD, "enter"), (DGPD, "passes"), (SVRG, "snapshot_every"), (LBFGS, "memory"), (AcceleratedSDCA, "inner_epochs"),
]  # fmt: skip
NO_COUNTS = [0, -1, 1.5, True, "two", None, 2**63]


@pytest.mark.parametrize(
    ("kind", "name", "given"),  # None is the default of DGPD's
    [(*count, given) for count in COUNTS for given in NO_COUNTS if count[0] is not DGPD or given is not None],
)
def test_counts_that_are_not_integers_are_refused(kind, name, given):
    with pytest.raises(ValueError, match=f"{name} must be an integer >= 1"):
        kind(**{name: given})


# Steps and names


STEPS = [
    (SPDC, "tau"), (SPDC, "sigma"), (DSPDC, "tau"), (DSPDC, "sigma"), (DSPDC, "scale"), (DGPD, "step"), (SAGA, "step"),
    (SAG, "step"), (SVRG, "step"), (SGD, "step"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), STEPS)
def test_steps_that_are_not_positive_are_refused(kind, name):
    for given in (0.0, -1.0, NAN, INF, -INF):
        with pytest.raises(ValueError, match=f"{name} must be > 0"):
            kind(**{name: given})
    if name != "scale":
        with pytest.raises(TypeError, match=f"{name} must be a number"):
            kind(**{name: "small"})


@pytest.mark.parametrize("kind", [SPDC, DSPDC])
def test_theta_may_be_0(kind):
    assert kind(theta=0.0).theta == 0.0
    for given in (-0.1, NAN, INF):
        with pytest.raises(ValueError, match="theta must be >= 0"):
            kind(theta=given)


@pytest.mark.parametrize(
    ("kind", "options", "match"),
    [
        (SPDC, {"sampling": "norm"}, "Unknown sampling 'norm'.*Did you mean 'norms'.*uniform"),
        (SPDC, {"sampling": "norms", "batch": 2}, "one row at a time"),
        (DSPDC, {"aim": "gaps"}, "Unknown aim 'gaps'.*Did you mean 'gap'.*point"),
        (DSPDC, {"scale": "save"}, "Unknown scale 'save'.*Did you mean 'safe'.*usual"),
        (DSPDC, {"sampling": "norm"}, "Unknown sampling 'norm'.*Did you mean 'norms'.*uniform"),
        (DSPDC, {"sampling": "norms", "rows": 2}, "one row at a time.*got rows=2"),
        (DGPD, {"order": "in_turn"}, "Unknown order 'in_turn'.*Did you mean 'in turn'.*together"),
        (DGPD, {"columns": 2}, "columns needs active_sets=False; got columns=2 with active_sets=True"),
        (DGPD, {"rows": 2}, "rows needs active_sets=False; got rows=2"),
        (DGPD, {"step": 2.0}, "step needs order='together' or active_sets=False.*got step=2.0"),
        (DGPD, {"adapt": False}, "adapt needs order='together' or active_sets=False.*got adapt=False"),
        (GREEDY, {"enter": 1}, "enter needs active_sets=True; got enter=1 with active_sets=False"),
        (GREEDY, {"passes": 1}, "passes needs active_sets=True"),
        (GREEDY, {"order": "in turn"}, "order needs active_sets=True"),
        (GREEDY, {"step": 1.0, "adapt": True}, "step and adapt=True must not be given together"),
        (AcceleratedSDCA, {"rule": "cyclic"}, "Known: shuffled, uniform"),
    ],
)
def test_unknown_names_are_refused(kind, options, match):
    with pytest.raises(ValueError, match=match):
        kind(**options)


@pytest.mark.parametrize(
    "given", ["none", -1.0, NAN, INF, (0.1,), (0.1, 0.1, 0.1), (0.1, -0.1), ("a", 0.1), None, [1, 2]]
)
@pytest.mark.parametrize("kind", [SPDC, DSPDC, DGPD])
def test_perturbations_that_are_not_numbers_are_refused(kind, given):
    with pytest.raises(ValueError, match="perturb must be 'auto', a number >= 0, or two"):
        kind(perturb=given)


@pytest.mark.parametrize(
    ("kind", "name"), [(SPDC, "recentre"), (DSPDC, "recentre"), (DGPD, "active_sets"), (DGPD, "adapt")]
)
def test_flags_that_are_not_booleans_are_refused(kind, name):
    with pytest.raises(TypeError, match=f"{name} must be True or False"):
        kind(**{name: "no"})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (CoordinateDescent, "shrinking"), (CoordinateDescent, "proximal"), (AcceleratedCD, "restart"),
        (SPDC, "recentre"), (DGPD, "active_sets"), (GREEDY, "adapt"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("given", [True, False])
def test_flags_of_numpy_are_flags(kind, name, given):
    method = kind(**{name: np.bool_(given)})
    assert getattr(method, name) is given and method == kind(**{name: given})
    assert quietly(problem_of("smooth_hinge"), method=method, max_epochs=2).epochs == 2


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (SPDC, "batch"), (SPDC, "n_threads"), (DSPDC, "rows"), (DSPDC, "columns"), (GREEDY, "rows"),
        (GREEDY, "columns"), (DGPD, "enter"), (DGPD, "passes"), (SVRG, "snapshot_every"), (LBFGS, "memory"),
        (AcceleratedSDCA, "inner_epochs"),
    ],
)  # fmt: skip
def test_counts_of_numpy_become_integers(kind, name, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # overflow in a small type
        method = kind(**{name: dtype(2)})
        assert type(getattr(method, name)) is int and method == kind(**{name: 2})
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        sw.solve(problem_of("smooth_hinge"), method=method, max_epochs=2)


def test_many_pairs_given_as_a_small_integer():
    problem = problem_of("logistic", penalty=ElasticNet(l2=0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        assert sw.solve(problem, method=LBFGS(memory=np.uint8(200)), max_epochs=2).epochs > 0


@pytest.mark.parametrize("scale", [1e308, 1e-320])
def test_scales_near_the_limits_do_not_warn_of_overflow(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        sw.solve(problem_of("smooth_hinge"), method=DSPDC(scale=scale), max_epochs=2)


def test_policies_are_kept_as_floats():
    key = next(iter(sw.methods.default_policy()))
    method = sw.methods.Auto(policy={key: np.float32(1.0)})
    assert type(method.policy[key]) is float and method == sw.methods.Auto(policy={key: 1})


def test_methods_are_found_by_name():
    for name in (
        "spdc", "dspdc", "dgpd", "saga", "sag", "svrg", "fista", "lbfgs", "accelerated_sdca", "miso",
        "proximal_gradient",
    ):  # fmt: skip
        assert sw.solve(problem_of("squared", "l2"), method=name).status is sw.Status.CONVERGED
    refuses(ValueError, "Unknown method 'sdpc'.*Did you mean 'spdc'", problem_of(), method="sdpc")


# What they cannot do


@pytest.mark.parametrize("kind", [SPDC, DSPDC, DGPD])
def test_strong_convexity_or_a_perturbation_is_required(kind):
    weights = ElasticNet(l1=0.1, l2=0.1, weights=np.arange(D) % 2)
    for problem in (problem_of("squared", "l1"), problem_of(intercept=True), problem_of("squared", weights)):
        advice = f"{kind.__name__} needs strong convexity: l2 > 0 .*no intercept.*perturb='auto'.*CoordinateDescent"
        for perturb in (0, 0.0, (0.0, 0.5)):
            refuses(ValueError, advice, problem, method=kind(perturb=perturb))
        assert quietly(problem, method=kind(perturb=(0.1, 0.0)), max_epochs=3).epochs == 3
    for loss in ("hinge", "quantile", "epsilon_insensitive", "poisson"):
        advice = f"needs a smooth loss; {loss} is not.*perturb='auto'"
        for perturb in (0, (0.5, 0.0)):
            refuses(ValueError, advice, problem_of(loss), method=kind(perturb=perturb))


@pytest.mark.parametrize(
    "method", [SAGA(), SAG(), SVRG(), SGD(), MISO(), FISTA(), ProximalGradient(), LBFGS(), AcceleratedSDCA()]
)
@pytest.mark.parametrize("loss", ["hinge", "quantile", "epsilon_insensitive"])
def test_losses_with_kinks_are_refused(method, loss):
    refuses(ValueError, "needs a smooth loss.*SPDC", problem_of(loss, "l2"), method=method)


@pytest.mark.parametrize("method", [SAGA(), SAG(), SVRG(), SGD(), MISO(), AcceleratedSDCA()])
def test_poisson_is_refused_where_curvature_must_be_bounded(method):
    refuses(ValueError, "needs a smooth loss.*SPDC", problem_of("poisson", "l2"), method=method)


@pytest.mark.parametrize("penalty", ["elastic net", "l1", "box", ElasticNet(l2=0.1, lower=0.0)])
def test_sag_refuses_penalties_that_are_not_smooth(penalty):
    refuses(
        ValueError, "SAG is for smooth penalties: l1 = 0 and no bounds.*SAGA", problem_of(penalty=penalty), method="sag"
    )


def test_miso_needs_strong_convexity_and_a_share():
    for problem in (problem_of("squared", "l1"), problem_of(intercept=True), problem_of("squared", "partly free")):
        refuses(ValueError, "l2 > 0 on every coefficient and no intercept.*SPDC", problem, method="miso")
    with pytest.raises(ValueError, match=r"share must be > 0 and at most 1; got 1\.5"):
        MISO(1.5)
    with pytest.raises(ValueError, match="share must be > 0"):
        MISO(0.0)


def test_accelerated_sdca_needs_strong_convexity():
    for problem in (problem_of("squared", "l1"), problem_of(intercept=True), problem_of("squared", "partly free")):
        refuses(ValueError, "l2 > 0 on every coefficient and no intercept.*SPDC", problem, method="accelerated_sdca")


@pytest.mark.parametrize("method", [SPDC(), SPDC(batch=4), SAGA(), SAG(), SVRG(), SGD()])
def test_centred_sparse_data_are_refused_and_dense_are_solved(method):
    A = problem_of().data.rows
    centred = problem_of("squared", "l2", lambda _: sw.Centred(sp.csr_array(A)))
    refuses(ValueError, "every feature in every step.*intercept=True.*CoordinateDescent", centred, method=method)
    dense = problem_of("squared", "l2", lambda _: sw.Centred(A))
    tol = 1e-2 if method == SGD() else 1e-6
    assert quietly(dense, method=method, max_epochs=5000, tol=tol).status is sw.Status.CONVERGED


def test_active_sets_need_0_within_the_bounds():
    problem = problem_of(penalty=ElasticNet(l2=0.1, lower=0.1, upper=2.0))
    refuses(ValueError, "keeps inactive coefficients at 0.*active_sets=False", problem, method="dgpd")
    assert sw.solve(problem, method=DGPD(active_sets=False), max_epochs=5000).x.min() >= 0.1


# Steps that are too long


TOO_LONG = [
    SPDC(tau=1e6, sigma=1e6),
    SPDC(tau=1e6, sigma=1e6, theta=0.9),
    SPDC(batch=4, tau=1e6, sigma=1e6),
    SPDC(sampling="norms", tau=1e6, sigma=1e6),
    SAGA(step=1e6),
    SAG(step=1e6),
    SVRG(step=1e6),
    DSPDC(rows=1, columns=1, tau=1e6, sigma=1e6),
    DSPDC(rows=3, columns=2, tau=1e6, sigma=1e6),
    DSPDC(rows=N, columns=D, scale=1e-9),
    DGPD(active_sets=False, step=1e6),
]


@pytest.mark.parametrize("method", TOO_LONG, ids=repr)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_steps_that_diverge_end_with_a_warning(method, form):
    problem = problem_of("squared", ElasticNet(l2=0.01), form)
    with pytest.warns(sw.ConvergenceWarning, match="by hand smaller, or leave them to the method") as caught:
        r = sw.solve(problem, method=method)
    assert len(caught) == 1
    assert r.status is sw.Status.DIVERGED and not r.status
    honest(r, sw.solve(problem, tol=1e-13).primal)
    assert r.primal <= r.scale * (1 + 1e-12)  # no worse than the zero model
    again = quietly(problem, method=type(method)(), warm_start=r, max_epochs=20_000)
    assert again.status is sw.Status.CONVERGED


@pytest.mark.parametrize("every", [2, 3])
def test_the_best_x_is_kept_when_objectives_overflow(every):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 6))
    r = quietly(A, A @ rng.normal(size=6) + 0.3, l2=0.1, method=SAGA(step=1e6), check_every=every)
    assert r.status is sw.Status.DIVERGED
    honest(r)


@pytest.mark.parametrize(
    ("method", "options", "match"),
    [
        (AcceleratedCD("primal", "greedy"), {"l1": 0.1}, "smooth objectives: l1 = 0 and no bounds.*rule='uniform'"),
        (AcceleratedCD("primal", "hybrid"), {"l1": 0.1, "l2": 0.1}, "hybrid.*l1 = 0 and no bounds.*rule='uniform'"),
        (AcceleratedCD("primal", "hybrid"), {"penalty": ElasticNet(l2=1.0, lower=0.0)}, "no bounds.*rule='uniform'"),
        (AcceleratedCD("dual", "greedy"), {"loss": "hinge", "l2": 0.1}, "the squared loss on the dual.*rule='uniform'"),
        (AcceleratedCD("dual", "hybrid"), {"loss": "logistic", "l2": 0.1}, "the squared loss on the dual.*'uniform'"),
        (AcceleratedCD("primal"), {"loss": "poisson", "l2": 0.1}, "poisson.*Use CoordinateDescent, or side='dual'"),
        (AcceleratedCD("dual"), {"l2": 0.1, "intercept": True}, "l2 > 0 .*no intercept.*Use side='primal'"),
        (AcceleratedCD("dual"), {"l1": 0.1}, "l2 > 0 on every coefficient.*CoordinateDescent"),
        (AcceleratedCD("dual"), {"penalty": ElasticNet(l2=1.0, weights=[1, 1, 0])}, "l2 > 0 on every coefficient"),
        (AcceleratedCD("primal"), {"loss": "hinge", "l2": 0.1}, "needs a smooth loss.*side='dual'"),
        (AcceleratedCD("primal", coupling="gram"), {"loss": "logistic"}, "coupling='gram' needs.*coupling='mirror'"),
        (AcceleratedCD("dual", coupling="gram"), {"l1": 0.1, "l2": 0.1}, "coupling='gram' needs.*coupling='mirror'"),
    ],
)
def test_accelerated_descent_refuses_what_it_cannot_solve(method, options, match):
    b = np.array([1.0, -1.0, 1.0, -1.0])
    b = np.abs(b) if options.get("loss") == "poisson" else b
    with pytest.raises(ValueError, match=match):
        sw.solve(np.arange(12.0).reshape(4, 3), b, method=method, **options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"schedule": "fixd"}, "Unknown schedule 'fixd'. Did you mean 'fixed'.*Known: fixed, timed"),
        ({"movers": "both"}, "Unknown movers 'both'.*Known: auto, dual, primal"),
        ({"movers": None}, "Unknown movers None"),
        ({"movers": ("primal", "dual")}, "Unknown movers"),
    ],
)
def test_auto_refuses_unknown_schedules_and_movers(options, match):
    with pytest.raises(ValueError, match=match):
        Auto(**options)


@pytest.mark.parametrize("name", [name for name in rules.ALL if name not in ("uniform", "hybrid", "greedy")])
def test_accelerated_descent_refuses_other_rules(name):
    with pytest.raises(ValueError, match=f"takes the rules uniform, hybrid and greedy; got {name}"):
        AcceleratedCD(rule=name)


def test_accelerated_descent_refuses_other_options():
    with pytest.raises(ValueError, match="cannot use refresh_every"):
        AcceleratedCD(rule=rules.Greedy(refresh_every=3))
    with pytest.raises(TypeError, match="restart must be True or False"):
        AcceleratedCD(restart="yes")
    with pytest.raises(ValueError, match="Did you mean 'uniform'"):
        AcceleratedCD(rule="unifrom")
    with pytest.raises(ValueError, match="Did you mean 'primal'"):
        AcceleratedCD(side="prime")
    assert AcceleratedCD() == sw.methods.get("accelerated_cd") == AcceleratedCD(rule="uniform")

"""Penalties, names and options that cannot be used are refused before any work, in words."""

import datetime
import re
import warnings

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import southwell as sw
from inputs import CD, SIGNS, A, B, ElasticNet, reference, refused
from southwell import ConvergenceWarning

# Penalties


@pytest.mark.parametrize("name", ["l1", "l2", "tol"])
@pytest.mark.parametrize("bad", [-1e-300, -1.0, np.nan, np.inf, -np.inf])
def test_strengths_out_of_range_are_refused(name, bad):
    refused(f"{name} must be >= 0 and finite; got", A, B, **{name: bad})


@pytest.mark.parametrize("name", ["l1", "l2", "tol"])
@pytest.mark.parametrize("bad", ["0.1", "a lot", b"1", None, 1j, [0.1], np.array([0.1, 0.2]), datetime.date.today()])
def test_strengths_that_are_not_numbers_are_refused(name, bad):
    refused(f"{name} must be a number; got", A, B, error=TypeError, **{name: bad})


def test_strengths_may_be_of_any_number_type():
    expected = reference(l1=0.25)
    for l1 in (np.float32(0.25), np.float64(0.25), np.array(0.25)):
        np.testing.assert_array_equal(reference(l1=l1).x, expected.x)
    np.testing.assert_array_equal(reference(l1=0, l2=1).x, reference(l1=0.0, l2=np.int64(1)).x)


@pytest.mark.parametrize(
    "bounds, match",
    [
        ({"lower": 1.0, "upper": 0.0}, r"coefficient 0 has lower=1.0, upper=0.0"),
        ({"lower": [0, 0, 0, 2, 0], "upper": 1.0}, r"coefficient 3 has lower=2.0, upper=1.0"),
        ({"lower": np.inf}, "Bounds must leave room"),
        ({"upper": -np.inf}, "Bounds must leave room"),
        ({"lower": np.nan}, "lower contains NaN"),
        ({"upper": [0, np.nan, 0, 0, 0]}, "upper contains NaN"),
        ({"lower": np.zeros(4)}, r"lower must be one number or 5 .*got shape \(4,\)"),
        ({"upper": np.zeros(6)}, r"upper must be one number or 5 .*got shape \(6,\)"),
        ({"upper": np.zeros((5, 1))}, r"upper must be one number or 5"),
        ({"weights": np.ones(6)}, r"weights must be one number or 5"),
        ({"weights": []}, r"weights must be one number or 5"),
        ({"weights": [1, 1, 1, 1, -0.5]}, "weights must be >= 0.*got -0.5"),
        ({"weights": [1, 1, 1, 1, np.nan]}, "weights contains NaN or infinity"),
        ({"weights": [1, 1, 1, 1, np.inf]}, "weights contains NaN or infinity"),
    ],
)
def test_bad_bounds_and_penalty_weights_are_refused(bounds, match):
    with pytest.raises(ValueError, match=match):
        sw.Problem(A, B, penalty=ElasticNet(0.1, **bounds))
    with pytest.raises(ValueError, match=match):
        sw.solve(A, B, penalty=ElasticNet(0.1, **bounds))


@pytest.mark.parametrize("name", ["lower", "upper", "weights"])
@pytest.mark.parametrize("bad", ["low", {"a": 1}, [1j] * 5, [None, 1, 1, 1, "x"]])
def test_bounds_and_penalty_weights_that_are_not_numbers_are_refused(name, bad):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=f"{name} must be real numbers"):
            sw.Problem(A, B, penalty=ElasticNet(0.1, **{name: bad}))


def test_a_penalty_that_overflows_is_refused():
    refused("weights|l1", A, B, l1=0.0, penalty=ElasticNet(1e300, weights=np.full(5, 1e300)))


@pytest.mark.parametrize("penalty", ["l1", 0.1, ElasticNet, {"l1": 0.1}])
def test_things_that_are_not_penalties_are_refused(penalty):
    refused(
        "penalty must be a southwell penalty such as ElasticNet; got", A, B, l1=0.0, penalty=penalty, error=TypeError
    )


def test_a_penalty_given_twice_is_refused():
    refused("either penalty or l1 and l2", A, B, penalty=ElasticNet(0.1), error=TypeError)
    refused("either penalty or l1 and l2", A, B, l1=0, l2=0.1, penalty=ElasticNet(0.1), error=TypeError)


@pytest.mark.parametrize(
    "part, match",
    [
        (lambda: sw.losses.Huber(0), "delta must be > 0"),
        (lambda: sw.losses.Huber(np.nan), "delta must be > 0"),
        (lambda: sw.losses.SmoothHinge(-1), "corner must be > 0"),
        (lambda: sw.losses.SmoothHinge(np.inf), "corner must be > 0"),
        (lambda: sw.losses.Quantile(0), "q must be > 0 and < 1"),
        (lambda: sw.losses.Quantile(1), "q must be > 0 and < 1"),
        (lambda: sw.losses.EpsilonInsensitive(-0.1), "epsilon must be >= 0"),
    ],
)
def test_loss_parameters_out_of_range_are_refused(part, match):
    with pytest.raises(ValueError, match=match):
        part()


@pytest.mark.parametrize("make", [sw.losses.Huber, sw.losses.Quantile, sw.losses.EpsilonInsensitive])
@pytest.mark.parametrize("bad", ["0.5", None, [0.5], 0.5j])
def test_loss_parameters_that_are_not_numbers_are_refused(make, bad):
    with pytest.raises(TypeError, match="must be a number; got"):
        make(bad)


# Names


@pytest.mark.parametrize(
    "given, meant",
    [("logstic", "logistic"), ("squred", "squared"), ("hing", "hinge"), ("Poisson", "poisson"), ("SQUARED", "squared"),
     ("squared-hinge", "squared_hinge"), ("smoothhinge", "smooth_hinge"), ("SmoothHinge", "smooth_hinge"),
     ("quantil", "quantile"), ("hubber", "huber"), ("epsilon-insensitive", "epsilon_insensitive")],
)  # fmt: skip
def test_misspelt_losses_are_refused_with_a_guess(given, meant):
    text = refused(f"Unknown loss '{given}'. Did you mean '{meant}'", A, B, loss=given)
    assert "Known: " in text and all(name in text for name in sw.losses.ALL)


def test_misspelt_rules_methods_sides_and_couplings_are_refused_with_a_guess():
    refused("Unknown method 'coordinate-descent'. Did you mean 'coordinate_descent'", A, B, method="coordinate-descent")
    refused("Unknown method 'newton'. Known: .*auto", A, B, method="newton")
    for options, match in [
        ({"rule": "cylic"}, "Unknown rule 'cylic'. Did you mean 'cyclic'"),
        ({"rule": "shuffle"}, "Did you mean 'shuffled'"),
        ({"rule": "zigzag"}, "Unknown rule 'zigzag'. Known: .*uniform"),
        ({"rule": "hybird"}, "Did you mean 'hybrid'"),
        ({"side": "prima"}, "Unknown side 'prima'. Did you mean 'primal'"),
        ({"side": "Dual"}, "Did you mean 'dual'"),
        ({"side": None}, "Unknown side None"),
        ({"side": 1}, "Unknown side 1"),
        ({"coupling": "graam"}, "Unknown coupling 'graam'. Did you mean 'gram'"),
    ]:
        with pytest.raises(ValueError, match=match):
            CD(**options)


@pytest.mark.parametrize("bad", [None, 3, ["squared"], sw.rules.Cyclic(), object])
def test_parts_of_another_kind_are_refused(bad):
    refused("loss must be a name .* or an object of southwell; got", A, B, loss=bad, error=TypeError)
    refused("method must be a name .* or an object of southwell; got", A, B, method=bad, error=TypeError)
    if not isinstance(bad, sw.rules.Rule):
        with pytest.raises(TypeError, match="rule must be a name"):
            CD(rule=bad)


def test_classes_serve_as_names():
    np.testing.assert_array_equal(reference(loss=sw.losses.Squared, method=sw.methods.Auto).x, reference().x)


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match=r"no argument 'alpha'\. Give l1 and l2"):
        sw.solve(A, B, l1=0.1, alpha=1.0)
    with pytest.raises(TypeError, match="positional"):
        sw.solve(A, B, "logistic")


# What cannot work together


@pytest.mark.parametrize("loss", ["hinge", "quantile", "epsilon_insensitive"])
def test_losses_with_kinks_are_refused_on_the_primal_side(loss):
    b = SIGNS if loss == "hinge" else B
    text = refused(f"primal needs a smooth loss; got {loss}", A, b, loss=loss, method=CD(side="primal"))
    assert "side='dual'" in text and ("smooth_hinge" if loss == "hinge" else "huber") in text


@pytest.mark.parametrize("loss", sorted(sw.losses.ALL))
def test_the_dual_side_requires_a_penalty(loss):
    smooth = sw.losses.get(loss).smooth
    b = {"signs": SIGNS, "real": B, "counts": np.abs(B), "positive": np.abs(B) + 0.1}[sw.losses.get(loss).targets]
    text = refused("dual needs a penalty; got l1 = 0 and l2 = 0", A, b, loss=loss, l1=0.0, method=CD(side="dual"))
    assert ("side='primal'" if smooth else "small l2") in text


@pytest.mark.parametrize(
    "loss, options, side",
    [
        ("logistic", {"l1": 0.1}, "primal"),
        ("huber", {"l1": 0.1}, "primal"),
        ("squared", {"l1": 0.1}, "dual"),
        ("squared", {"l1": 0.1, "l2": 0.1}, "dual"),
        ("hinge", {"l1": 0.0, "penalty": ElasticNet(0, 0.1, lower=0)}, "dual"),
        ("hinge", {"l1": 0.0, "penalty": ElasticNet(0, 0.1, weights=[1, 1, 0, 1, 1])}, "dual"),
    ],
)
def test_a_gram_matrix_is_refused_where_there_is_none(loss, options, side):
    b = B if sw.losses.get(loss).targets == "real" else SIGNS
    text = refused("coupling='gram' needs", A, b, loss=loss, method=CD(side=side, coupling="gram"), **options)
    assert "coupling='mirror'" in text


# Options of the solve


@pytest.mark.parametrize("name", ["max_epochs", "check_every", "seed"])
@pytest.mark.parametrize("bad", [-1, 1.0, 2.5, "10", np.nan, True, [3], np.array([3]), 1j, 2**64, 2**70])
def test_counts_that_are_not_integers_are_refused(name, bad):
    refused(f"{name} must be an integer", A, B, error=(TypeError, ValueError), **{name: bad})


def test_limits_of_none_and_zero_are_refused():
    refused("max_epochs must be an integer >= 0.*got None", A, B, max_epochs=None)
    refused("seed must be an integer >= 0.*got None", A, B, seed=None)
    refused("check_every must be an integer >= 1.*got 0", A, B, check_every=0)
    refused("max_seconds must be > 0", A, B, max_seconds=0)


@pytest.mark.parametrize("bad", [-1, np.nan, "1", "soon", 1j, [1.0], datetime.timedelta(seconds=1)])
def test_bad_max_seconds_is_refused(bad):
    refused("max_seconds must be", A, B, error=(TypeError, ValueError), max_seconds=bad)


@pytest.mark.parametrize("bad", [3, "print", [print], True])
def test_callbacks_that_are_not_callable_are_refused(bad):
    refused("callback must be callable; got", A, B, callback=bad, error=TypeError)


@pytest.mark.parametrize("bad", ["no", "False", np.array([True, False])])
def test_intercepts_that_are_not_truth_values_are_refused(bad):
    refused("intercept must be", A, B, intercept=bad, error=(TypeError, ValueError))


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_bad_warm_starts_are_refused(side):
    options = {"method": CD(side=side), "intercept": True, "error": (TypeError, ValueError)}
    zero = np.zeros(5)
    refused("warm_start must have 5 entries.*got 4", A, B, warm_start=zero[:4], **options)
    refused("warm_start must be one-dimensional", A, B, warm_start=np.zeros((5, 5)), **options)
    refused("warm_start contains NaN", A, B, warm_start=[np.nan, 0, 0, 0, 0], **options)
    refused("warm_start contains NaN", A, B, warm_start=[np.inf, 0, 0, 0, 0], **options)
    refused("warm_start", A, B, warm_start="previous", **options)
    refused("warm_start must hold real numbers", A, B, warm_start=[1j] * 5, **options)
    refused("warm_start", A, B, warm_start=(zero, 0.0, 0.0), **options)
    for intercept in (np.nan, np.inf, "c", None, zero):
        refused("warm_start.*intercept|intercept.*warm_start", A, B, warm_start=(zero, intercept), **options)
    other = sw.solve(A[:, :3], B, l1=0.1)
    refused(r"warm_start.x must have 5 entries.*got 3", A, B, warm_start=other, **options)


def test_a_warm_start_of_other_samples_gives_its_coefficients():
    start = sw.solve(A[:9], B[:9], l1=0.05)
    for side in ("primal", "dual"):
        r = sw.solve(A, B, l1=0.05, warm_start=start, method=CD(side=side), tol=1e-10, max_epochs=100000)
        np.testing.assert_allclose(r.x, reference().x, atol=1e-5)


@pytest.mark.parametrize(
    "again", [{"b": B}, {"loss": "logistic"}, {"l1": 0.2}, {"l2": 0.2}, {"penalty": ElasticNet(0.1)},
              {"intercept": True}, {"sample_weight": np.ones(12)}],
)  # fmt: skip
def test_a_problem_stated_again_is_refused(again):
    problem = sw.Problem(A, B, penalty=ElasticNet(0.1))
    with pytest.raises(TypeError, match="Problem already holds b, loss, penalty"):
        sw.solve(problem, **again)


@pytest.mark.parametrize(
    "again", [{"l1": np.array([0.2, 0.1])}, {"intercept": np.array([True, False])}, {"loss": ["logistic"]}]
)
def test_a_problem_stated_again_with_odd_values_is_refused(again):
    with pytest.raises(TypeError, match="Problem already holds b, loss, penalty"):
        sw.solve(sw.Problem(A, B, penalty=ElasticNet(0.1)), **again)


def test_bad_means_are_refused():
    with pytest.raises(ValueError, match="means must have 5 entries"):
        sw.Problem(sw.Centred(A, means=np.zeros(4)), B)
    with pytest.raises(ValueError, match="means contains NaN"):
        sw.Problem(sw.Centred(A, means=np.full(5, np.nan)), B)
    with pytest.raises((TypeError, ValueError), match="A must be"):
        sw.Problem(sw.Centred(sw.Centred(A)), B)
    with pytest.raises((TypeError, ValueError), match="A must be"):
        sw.Problem(sw.Problem(A, B), B)


def test_points_that_do_not_fit_cannot_be_certified():
    problem = sw.Problem(A, B, penalty=ElasticNet(0.1), intercept=True)
    with pytest.raises(ValueError, match="x must have 5 entries"):
        problem.certify(np.zeros(4))
    with pytest.raises(ValueError, match="y must have 12 entries"):
        problem.certify(np.zeros(5), np.zeros(5))
    with pytest.raises(ValueError, match="x contains NaN"):
        problem.certify(np.full(5, np.nan))
    with pytest.raises(ValueError, match="intercept"):
        problem.certify(np.zeros(5), intercept=np.nan)


def test_lambda_max_refuses_what_solve_refuses():
    with pytest.raises(ValueError, match="b must have 12 entries"):
        sw.lambda_max(A, B[:3])
    with pytest.raises(ValueError, match="Unknown loss"):
        sw.lambda_max(A, B, loss="logit")
    with pytest.raises(ValueError, match="weights must be >= 0"):
        sw.lambda_max(A, B, weights=[1, 1, 1, 1, -1])
    with pytest.raises(ValueError, match="weights must be one number or 5"):
        sw.lambda_max(A, B, weights=np.zeros(4))
    with pytest.raises(TypeError, match="weights must be real numbers"):
        sw.lambda_max(A, B, weights="none")
    groups = sw.BlockProblem(A, B, penalty=sw.penalties.Groups(0.1, weights=1e-320))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in ({"A": A, "b": B, "weights": 1e-320}, {"A": groups}):
            with pytest.raises(ValueError, match="No finite strength makes all coefficients zero: the smallest"):
                sw.lambda_max(**given)
    assert sw.lambda_max(A, B, weights=2.0) == pytest.approx(sw.lambda_max(A, B) / 2)
    assert sw.lambda_max(A, B, weights=0.0) == sw.lambda_max(A, B, weights=np.zeros(5)) == 0.0


@hypothesis.settings(max_examples=100, deadline=None, derandomize=True)
@hypothesis.given(st.data())
def test_random_arguments_are_refused_or_taken(data):
    """Odd values in any one argument: refused with ValueError or TypeError, or solved."""
    odd = st.sampled_from([None, -1, 0, 1, 2.5, np.nan, np.inf, "x", "", [], [1.0], (), {}, object(), b"x", 1j,
                           np.zeros(0), np.zeros(5), np.zeros(12), np.zeros((2, 2)), np.float32(1), True])  # fmt: skip
    name = data.draw(st.sampled_from(["A", "b", "loss", "l1", "l2", "penalty", "intercept", "sample_weight", "method",
                                      "tol", "max_epochs", "max_seconds", "check_every", "seed", "callback",
                                      "warm_start"]))  # fmt: skip
    options = {"A": A, "b": B, "l1": 0.1} | {name: data.draw(odd)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            r = sw.solve(options.pop("A"), options.pop("b"), **options)
        except (ValueError, TypeError) as error:
            assert "incompatible function arguments" not in str(error)
        else:
            assert np.isfinite(r.x).all() and np.isfinite(r.gap)


@pytest.mark.parametrize("given", [0, -1, 1.0, 2.5, "2", True, np.nan, [2], 2**63])
def test_numbers_of_threads_that_cannot_be_are_refused(given):
    match = re.escape("n_threads must be an integer >= 1 (and below 2**31); got ") + re.escape(repr(given))
    before = sw.get_num_threads()
    for call in (
        lambda: sw.set_num_threads(given),
        lambda: sw.solve(np.eye(3), np.ones(3), l1=0.1, n_threads=given),
        lambda: sw.path(sw.Problem(np.eye(3), np.ones(3)), l1s=[0.1], n_threads=given),
        lambda: sw.solve_many(np.eye(3), np.eye(3), l1=0.1, n_threads=given),
    ):
        with pytest.raises(ValueError, match=match):
            call()
    assert sw.get_num_threads() == before


@pytest.mark.parametrize("kind", [sw.Problem, sw.BlockProblem])
def test_words_of_another_kind_are_refused(kind):
    with pytest.raises(TypeError, match="words must be Words, what messages call A and b; got 'X'"):
        kind(A, B, penalty=ElasticNet(0.1), words="X")


def test_starts_of_mixed_lengths_are_refused():
    with pytest.raises(TypeError, match="warm_start must be an array or lists of equal lengths"):
        sw.solve(A, B, l1=0.1, warm_start=([1.0, [2.0]], 0.0))
    blocks = sw.BlockProblem(A, B, penalty=sw.penalties.Groups(0.1))
    with pytest.raises(ValueError, match="intercept must be one number or 1"):
        blocks.certify(np.zeros(5), intercept=[1.0, [2.0]])


@pytest.mark.parametrize("sketch", [sw.sketch_features, sw.sketch_instances])
def test_sketches_that_overflow_are_refused(sketch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="The sketch of A overflows"):
            sketch(np.full((6, 5), 1e308), 2)

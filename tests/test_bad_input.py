"""What cannot be solved is refused before any work, in words; what can be read in another form is read."""

import copy
import datetime
import itertools
import subprocess
import sys
import warnings

import hypothesis
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

import southwell as sw
from southwell import ConvergenceWarning

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix

CD = sw.methods.CoordinateDescent
ElasticNet = sw.penalties.ElasticNet
RNG = np.random.default_rng(0)
A = RNG.standard_normal((12, 5))
A[RNG.random((12, 5)) < 0.4] = 0.0
B = RNG.standard_normal(12)
SIGNS = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
SPARSE = [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array]
MARGIN_LOSSES = ["logistic", "hinge", "squared_hinge", "smooth_hinge"]


def refused(match, *arguments, error=ValueError, **options):
    """solve, Problem and lambda_max alike refuse, with a message that matches."""
    options.setdefault("l1", 0.1)
    with pytest.raises(error, match=match) as caught:
        sw.solve(*arguments, **options)
    text = str(caught.value)
    assert "incompatible function arguments" not in text, "the compiled core's own words"
    assert len(text) < 600
    return text


def reference(**options):
    return sw.solve(A, B, **({"l1": 0.05, "tol": 1e-10} | options))


# Numbers that are not finite


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, np.float32, *SPARSE, sp.coo_array])
@pytest.mark.parametrize("place", [(0, 0), (11, 4), (5, 2)])
def test_a_not_finite(bad, form, place):
    broken = A.copy()
    broken[place] = bad
    refused("A contains NaN or infinity", form(broken), B)
    with pytest.raises(ValueError, match="A contains NaN or infinity"):
        sw.Problem(form(broken), B)
    with pytest.raises(ValueError, match="A contains NaN or infinity"):
        sw.lambda_max(form(broken), B)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000, 4097])
def test_one_nan_anywhere_is_found(size):
    for k in {0, size // 2, size - 1}:
        column = np.ones((size, 1))
        column[k] = np.nan
        refused("A contains NaN", column, np.ones(size))


def test_numbers_whose_sum_overflows_are_finite():
    big = np.full((4, 2), 1.5e308)
    assert sw.Problem(big, np.ones(4)).n_samples == 4
    assert sw.Problem(big, np.full(4, 1.5e308)).n_samples == 4


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_b_and_weights_not_finite(bad, dtype):
    broken = np.ones(12, dtype)
    broken[3] = bad
    refused("b contains NaN or infinity", A, broken)
    refused("sample_weight contains NaN or infinity", A, B, sample_weight=broken)


# Shapes


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("size", [0, 1, 11, 13])
def test_lengths_that_disagree(form, size):
    refused(f"b must have 12 entries.*got {size}", form(A), np.ones(size))
    refused(f"sample_weight must have 12 entries.*got {size}", form(A), B, sample_weight=np.ones(size))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
@pytest.mark.parametrize("form", [np.zeros, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_empty(shape, form):
    refused("A is empty: its shape is", form(shape), np.ones(shape[0]))


@pytest.mark.parametrize("b", [np.float64(3.0), np.ones((12, 1, 1))])
def test_b_of_other_dimensions(b):
    refused("b must be one-dimensional; got shape", A, b)


def test_a_column_or_a_row_of_targets_is_a_vector():
    for b in (B[:, None], B[None, :], B.tolist(), tuple(B), np.asmatrix(B)):
        np.testing.assert_array_equal(reference().x, sw.solve(A, b, l1=0.05, tol=1e-10).x)


def test_a_of_other_dimensions():
    text = refused("A must be 2-d", A[:, 0], B)
    assert "reshape(-1, 1)" in text
    refused("A must be 2-d", A[:, :, None], B)
    refused("A must be 2-d", 3.0, B)
    if (flat := sp.coo_array(A[:, 0])).ndim == 1:  # SciPy before 1.13 makes a row of it
        refused("A must be 2-d", flat, B)
    refused("A must be", None, B, error=(TypeError, ValueError))
    refused("A must be", "data.csv", B, error=(TypeError, ValueError))
    refused("A must be", [[1.0, 2.0], [3.0]], [1.0, 2.0], error=(TypeError, ValueError))
    refused("A must be", {1: 2}, B, error=(TypeError, ValueError))


def test_b_is_missing():
    refused("needs targets b", A, error=TypeError)
    refused("b must", A, "labels", error=(TypeError, ValueError))
    refused("b must", A, sp.csr_array(B[:, None]), error=(TypeError, ValueError))


# Targets and weights


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
@pytest.mark.parametrize("labels", [(0, 1), (1, 2), (-1, 0, 1), (-1, 2), (0.5, 1), (True, False)])
def test_labels_that_are_not_signs(loss, labels):
    text = refused(f"The {loss} loss takes targets -1 and \\+1; got", A, np.resize(labels, 12), loss=loss)
    assert "np.where(" in text
    assert f"{min(labels):g}" in text


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
@pytest.mark.parametrize("sign", [1, -1])
def test_one_class(loss, sign):
    refused("needs both classes", A, np.full(12, sign), loss=loss)
    refused("needs both classes", A, SIGNS, loss=loss, sample_weight=sign == SIGNS)


def test_many_labels_are_not_all_shown():
    assert len(refused("takes targets -1 and", RNG.standard_normal((3000, 2)), np.arange(3000), loss="hinge")) < 300


@pytest.mark.parametrize("labels", [["a", "b"], [b"a", b"b"], [None, 1.0]])
def test_labels_that_are_not_numbers(labels):
    refused("b must hold real numbers", A, np.resize(labels, 12), loss="logistic", error=(TypeError, ValueError))


def test_negative_counts():
    refused("poisson loss takes targets >= 0; the smallest is -0.5", A, np.where(B < 0, -0.5, 1.0), loss="poisson")


def test_weights():
    refused("sample_weight must be >= 0; the smallest is -1", A, B, sample_weight=SIGNS)
    refused("positive, finite sum", A, B, sample_weight=np.zeros(12))
    huge = sw.solve(A, B, l1=0.1, sample_weight=np.full(12, 1e308))  # only ratios matter, even if the sum overflows
    np.testing.assert_allclose(huge.x, sw.solve(A, B, l1=0.1).x)
    refused("sample_weight must", A, B, sample_weight="balanced", error=(TypeError, ValueError))
    refused("sample_weight must", A, B, sample_weight=3.0, error=(TypeError, ValueError))
    refused("sample_weight must", A, B, sample_weight=np.ones((12, 2)))
    for w in (np.full(12, 7), [2.0] * 12, np.ones(12, bool), np.ones(12, np.float16), np.full(12, 5e-324)):
        np.testing.assert_allclose(reference(sample_weight=w).x, reference().x, atol=1e-12)


# Penalties


@pytest.mark.parametrize("name", ["l1", "l2", "tol"])
@pytest.mark.parametrize("bad", [-1e-300, -1.0, np.nan, np.inf, -np.inf])
def test_strengths_out_of_range(name, bad):
    refused(f"{name} must be >= 0 and finite; got", A, B, **{name: bad})


@pytest.mark.parametrize("name", ["l1", "l2", "tol"])
@pytest.mark.parametrize("bad", ["0.1", "a lot", b"1", None, 1j, [0.1], np.array([0.1, 0.2]), datetime.date.today()])
def test_strengths_that_are_not_numbers(name, bad):
    refused(f"{name} must be a number; got", A, B, error=TypeError, **{name: bad})


def test_strengths_of_other_number_types():
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
def test_bounds_and_penalty_weights(bounds, match):
    with pytest.raises(ValueError, match=match):
        sw.Problem(A, B, penalty=ElasticNet(0.1, **bounds))
    with pytest.raises(ValueError, match=match):
        sw.solve(A, B, penalty=ElasticNet(0.1, **bounds))


@pytest.mark.parametrize("name", ["lower", "upper", "weights"])
@pytest.mark.parametrize("bad", ["low", {"a": 1}, [1j] * 5, [None, 1, 1, 1, "x"]])
def test_bounds_and_penalty_weights_that_are_not_numbers(name, bad):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=f"{name} must be real numbers"):
            sw.Problem(A, B, penalty=ElasticNet(0.1, **{name: bad}))


def test_a_penalty_that_overflows():
    refused("weights|l1", A, B, l1=0.0, penalty=ElasticNet(1e300, weights=np.full(5, 1e300)))


@pytest.mark.parametrize("penalty", ["l1", 0.1, ElasticNet, {"l1": 0.1}])
def test_things_that_are_not_penalties(penalty):
    refused(
        "penalty must be a southwell penalty such as ElasticNet; got", A, B, l1=0.0, penalty=penalty, error=TypeError
    )


def test_penalty_given_twice():
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
def test_loss_parameters(part, match):
    with pytest.raises(ValueError, match=match):
        part()


@pytest.mark.parametrize("make", [sw.losses.Huber, sw.losses.Quantile, sw.losses.EpsilonInsensitive])
@pytest.mark.parametrize("bad", ["0.5", None, [0.5], 0.5j])
def test_loss_parameters_that_are_not_numbers(make, bad):
    with pytest.raises(TypeError, match="must be a number; got"):
        make(bad)


# Names


@pytest.mark.parametrize(
    "given, meant",
    [("logstic", "logistic"), ("squred", "squared"), ("hing", "hinge"), ("Poisson", "poisson"), ("SQUARED", "squared"),
     ("squared-hinge", "squared_hinge"), ("smoothhinge", "smooth_hinge"), ("SmoothHinge", "smooth_hinge"),
     ("quantil", "quantile"), ("hubber", "huber"), ("epsilon-insensitive", "epsilon_insensitive")],
)  # fmt: skip
def test_misspelt_losses(given, meant):
    text = refused(f"Unknown loss '{given}'. Did you mean '{meant}'", A, B, loss=given)
    assert "Known: " in text and all(name in text for name in sw.losses.ALL)


def test_misspelt_rules_methods_sides_couplings():
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
def test_things_of_another_kind(bad):
    refused("loss must be a name .* or an object of southwell; got", A, B, loss=bad, error=TypeError)
    refused("method must be a name .* or an object of southwell; got", A, B, method=bad, error=TypeError)
    if not isinstance(bad, sw.rules.Rule):
        with pytest.raises(TypeError, match="rule must be a name"):
            CD(rule=bad)


def test_classes_serve_as_names():
    np.testing.assert_array_equal(reference(loss=sw.losses.Squared, method=sw.methods.Auto).x, reference().x)


def test_unknown_options():
    with pytest.raises(TypeError, match="unexpected keyword"):
        sw.solve(A, B, l1=0.1, alpha=1.0)
    with pytest.raises(TypeError, match="positional"):
        sw.solve(A, B, "logistic")


# What cannot work together


@pytest.mark.parametrize("loss", ["hinge", "quantile", "epsilon_insensitive"])
def test_kinks_on_the_primal_side(loss):
    b = SIGNS if loss == "hinge" else B
    text = refused(f"primal needs a smooth loss; got {loss}", A, b, loss=loss, method=CD(side="primal"))
    assert "side='dual'" in text and ("smooth_hinge" if loss == "hinge" else "huber") in text


@pytest.mark.parametrize("loss", sorted(sw.losses.ALL))
def test_no_penalty_on_the_dual_side(loss):
    smooth = sw.losses.get(loss).smooth
    b = {"signs": SIGNS, "real": B, "counts": np.abs(B)}[sw.losses.get(loss).targets]
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
def test_gram_where_there_is_none(loss, options, side):
    b = B if sw.losses.get(loss).targets == "real" else SIGNS
    text = refused("coupling='gram' needs", A, b, loss=loss, method=CD(side=side, coupling="gram"), **options)
    assert "coupling='mirror'" in text


# Options of the solve


@pytest.mark.parametrize("name", ["max_epochs", "check_every", "seed"])
@pytest.mark.parametrize("bad", [-1, 1.0, 2.5, "10", np.nan, True, [3], np.array([3]), 1j, 2**64, 2**70])
def test_counts(name, bad):
    refused(f"{name} must be an integer", A, B, error=(TypeError, ValueError), **{name: bad})


def test_none_and_zero():
    refused("max_epochs must be an integer >= 0.*got None", A, B, max_epochs=None)
    refused("seed must be an integer >= 0.*got None", A, B, seed=None)
    refused("check_every must be an integer >= 1.*got 0", A, B, check_every=0)
    refused("max_seconds must be > 0", A, B, max_seconds=0)


@pytest.mark.parametrize("bad", [-1, np.nan, "1", "soon", 1j, [1.0], datetime.timedelta(seconds=1)])
def test_max_seconds(bad):
    refused("max_seconds must be", A, B, error=(TypeError, ValueError), max_seconds=bad)


@pytest.mark.parametrize("bad", [3, "print", [print], True])
def test_callbacks(bad):
    refused("callback must be callable; got", A, B, callback=bad, error=TypeError)


@pytest.mark.parametrize("bad", ["no", "False", np.array([True, False])])
def test_intercepts_that_are_not_truth_values(bad):
    refused("intercept must be", A, B, intercept=bad, error=(TypeError, ValueError))


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_warm_starts(side):
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
def test_a_problem_stated_again(again):
    problem = sw.Problem(A, B, penalty=ElasticNet(0.1))
    with pytest.raises(TypeError, match="Problem already holds b, loss, penalty"):
        sw.solve(problem, **again)


@pytest.mark.parametrize(
    "again", [{"l1": np.array([0.2, 0.1])}, {"intercept": np.array([True, False])}, {"loss": ["logistic"]}]
)
def test_a_problem_stated_again_with_odd_values(again):
    with pytest.raises(TypeError, match="Problem already holds b, loss, penalty"):
        sw.solve(sw.Problem(A, B, penalty=ElasticNet(0.1)), **again)


def test_centred():
    with pytest.raises(ValueError, match="means must have 5 entries"):
        sw.Problem(sw.Centred(A, means=np.zeros(4)), B)
    with pytest.raises(ValueError, match="means contains NaN"):
        sw.Problem(sw.Centred(A, means=np.full(5, np.nan)), B)
    with pytest.raises((TypeError, ValueError), match="A must be"):
        sw.Problem(sw.Centred(sw.Centred(A)), B)
    with pytest.raises((TypeError, ValueError), match="A must be"):
        sw.Problem(sw.Problem(A, B), B)


def test_certify():
    problem = sw.Problem(A, B, penalty=ElasticNet(0.1), intercept=True)
    with pytest.raises(ValueError, match="x must have 5 entries"):
        problem.certify(np.zeros(4))
    with pytest.raises(ValueError, match="y must have 12 entries"):
        problem.certify(np.zeros(5), np.zeros(5))
    with pytest.raises(ValueError, match="x contains NaN"):
        problem.certify(np.full(5, np.nan))
    with pytest.raises(ValueError, match="intercept"):
        problem.certify(np.zeros(5), intercept=np.nan)


def test_lambda_max_checks_too():
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
    assert sw.lambda_max(A, B, weights=2.0) == pytest.approx(sw.lambda_max(A, B) / 2)
    assert sw.lambda_max(A, B, weights=0.0) == sw.lambda_max(A, B, weights=np.zeros(5)) == 0.0


# Number types and memory layouts


@pytest.mark.parametrize("dtype", [object, complex, "U8", "S8", "datetime64[s]", "timedelta64[s]", [("x", float)]])
def test_dtypes_that_are_not_real(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        odd = np.zeros((12, 5), dtype=dtype)
    text = refused("A must hold real numbers; got dtype", odd, B, error=TypeError)
    assert "astype" in text
    refused("b must hold real numbers; got dtype", A, odd[:, 0], error=TypeError)
    refused("sample_weight must hold real numbers; got dtype", A, B, sample_weight=odd[:, 0], error=TypeError)


@pytest.mark.parametrize("form", [*SPARSE, sp.coo_array])
def test_complex_sparse(form):
    refused("A must hold real numbers; got dtype complex", form(A.astype(complex)), B, error=TypeError)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "?", ">f4", ">f8", ">i4", "g"])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_real_dtypes(dtype, form, side):
    whole = np.clip(np.round(np.abs(A) * 3), 0, 1 if dtype == "?" else 100)
    given = whole.astype(dtype)
    if form in (sp.csr_array, sp.csc_array):
        matrix = form(whole)
        matrix.data = matrix.data.astype(dtype)
        given = matrix
    else:
        given = form(given)
    options = {"l1": 0.05, "l2": 0.01, "tol": 1e-9, "method": CD(side=side)}
    expected, got = sw.solve(whole, B, **options), sw.solve(given, B, **options)
    np.testing.assert_allclose(got.x, expected.x, atol=1e-12)
    np.testing.assert_allclose(sw.solve(whole, np.round(B * 3).astype("i4"), **options).x,
                               sw.solve(whole, np.round(B * 3).astype(">f8"), **options).x, atol=1e-12)  # fmt: skip


def layouts():
    wide = np.zeros((24, 15))
    wide[::2, ::3] = A
    back = np.ascontiguousarray(A[::-1, ::-1])
    frozen = A.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + A.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(A.shape)
    return {
        "C": np.ascontiguousarray(A),
        "F": np.asfortranarray(A),
        "strided": wide[::2, ::3],
        "backwards": back[::-1, ::-1],
        "rows backwards": np.ascontiguousarray(A[::-1])[::-1],
        "columns backwards": np.asfortranarray(A[:, ::-1])[:, ::-1],
        "read-only": frozen,
        "read-only F": np.asfortranarray(frozen),
        "transposed": np.ascontiguousarray(A.T).T,
        "unaligned": unaligned,
        "list": A.tolist(),
        "tuple": tuple(map(tuple, A)),
        "list of arrays": list(A),
        "matrix": np.asmatrix(A),
        "subclass": A.view(type("Own", (np.ndarray,), {})),
    }


@pytest.mark.parametrize("name", layouts())
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("coupling", ["mirror", "gram"])
def test_dense_layouts(name, side, coupling):
    given = layouts()[name]
    kept = copy.deepcopy(given)
    method = CD(side=side, coupling=coupling)
    r = sw.solve(given, B, l2=0.05, intercept=True, tol=1e-10, method=method)
    np.testing.assert_allclose(r.x, reference(l1=0, l2=0.05, intercept=True).x, atol=1e-5)
    assert r.x.flags.writeable and r.x.shape == (5,) and r.y.shape == (12,)
    np.testing.assert_array_equal(given, kept)


def test_broadcast_array():
    given = np.broadcast_to(A[:1], (12, 5))
    np.testing.assert_array_equal(sw.solve(given, B, l1=0.05).x, sw.solve(given.copy(), B, l1=0.05).x)
    assert np.isfinite(sw.solve(A, np.broadcast_to(np.float64(2.0), 12), l1=0.05).primal)


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_maps(tmp_path, mode, order, dtype):
    path = tmp_path / "A.bin"
    np.asarray(A, dtype).ravel(order).tofile(path)
    before = path.read_bytes()
    mapped = np.memmap(path, dtype=dtype, mode=mode, shape=A.shape, order=order)
    for side in ("primal", "dual"):
        r = sw.solve(mapped, B, l1=0.05, l2=0.01, method=CD(side=side), tol=1e-10)
        np.testing.assert_allclose(r.x, reference(l2=0.01).x, atol=1e-5)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "form",
    [sp.coo_matrix, sp.coo_array, sp.lil_matrix, sp.lil_array, sp.dok_matrix, sp.dok_array, sp.dia_matrix,
     sp.dia_array, sp.bsr_matrix, sp.bsr_array, *SPARSE],
)  # fmt: skip
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_sparse_formats(form, side):
    given = form(A)
    r = sw.solve(given, B, l1=0.05, l2=0.01, intercept=True, tol=1e-10, method=CD(side=side))
    np.testing.assert_allclose(r.x, reference(l2=0.01, intercept=True).x, atol=1e-5)
    np.testing.assert_array_equal(given.toarray(), A)


# Sparse structure


def compressed(form, value=np.float64, index=np.int32, pointer=None):
    """A compressed matrix of A with the given types."""
    matrix = form(A.astype(value))
    matrix.indices = matrix.indices.astype(index)
    matrix.indptr = matrix.indptr.astype(pointer or index)
    return matrix


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize(
    "index, pointer",
    [("i4", "i4"), ("i4", "i8"), ("i8", "i4"), ("i8", "i8"), ("u4", "u4"), ("i2", "i8"), ("u8", "i8"), ("i1", "i2")],
)
def test_index_types(form, value, index, pointer):
    given = compressed(form, value, index, pointer)
    for side in ("primal", "dual"):
        r = sw.solve(given, B, l1=0.05, l2=0.01, tol=1e-9, method=CD(side=side))
        np.testing.assert_allclose(r.x, reference(l2=0.01).x, atol=1e-4)


@pytest.mark.parametrize("form", SPARSE)
def test_compressed_arrays_are_not_copied(form):
    for value, index in itertools.product([np.float32, np.float64], [np.int32, np.int64]):
        given = compressed(form, value, index)
        matrix = sw.Problem(given, B).data
        kept = matrix.rows if given.format == "csr" else matrix.columns
        for name in ("data", "indices", "indptr"):
            assert np.shares_memory(getattr(kept, name), getattr(given, name)), name


def test_dense_arrays_are_not_copied():
    for given in (A, np.asfortranarray(A), A.astype(np.float32)):
        matrix = sw.Problem(given, B).data
        assert np.shares_memory(matrix.rows if given.flags.c_contiguous else matrix.columns, given)


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    "breakage, match",
    [
        (lambda m: m.indices.__setitem__(0, 100), "index 100 is outside"),
        (lambda m: m.indices.__setitem__(-1, 10**9), "outside"),
        (lambda m: m.indices.__setitem__(3, -1), "index -1 is outside"),
        (lambda m: m.indices.__setitem__(3, np.iinfo(m.indices.dtype).min), "outside"),
        (lambda m: m.indptr.__setitem__(2, m.indptr[1] - 1), "indptr decreases"),
        (lambda m: m.indptr.__setitem__(1, -4), "indptr decreases"),
        (lambda m: m.indptr.__setitem__(1, m.nnz + 50), "indptr decreases"),
        (lambda m: m.indptr.__setitem__(0, 1), "indptr must start at 0"),
        (lambda m: m.indptr.__setitem__(0, -1), "indptr must start at 0"),
        (lambda m: m.indptr.__setitem__(-1, m.indptr[-1] + 7), "beyond|values for"),
        (lambda m: m.indptr.__setitem__(-1, np.iinfo(m.indptr.dtype).max), "beyond|values for"),
        (lambda m: setattr(m, "indptr", m.indptr[:-1].copy()), "indptr has .* entries; its shape needs"),
        (lambda m: setattr(m, "indptr", np.append(m.indptr, m.indptr[-1])), "indptr has .* entries; its shape needs"),
        (lambda m: setattr(m, "indptr", m.indptr[:0].copy()), "indptr has 0 entries"),
        (lambda m: setattr(m, "data", m.data[:-2].copy()), "values for"),
        (lambda m: setattr(m, "data", m.data[:0].copy()), "0 values for"),
        (lambda m: setattr(m, "indices", m.indices[:-2].copy()), "beyond"),
        (lambda m: setattr(m, "indices", m.indices[:0].copy()), "beyond"),
        (lambda m: setattr(m, "indices", m.indices.astype(float)), "indices must be integers"),
        (lambda m: setattr(m, "indptr", m.indptr.astype(float)), "indices must be integers"),
        (lambda m: setattr(m, "indptr", m.indptr[:, None]), "A is broken"),
        (lambda m: setattr(m, "indices", m.indices[:, None]), "A is broken"),
        (lambda m: setattr(m, "data", m.data[:, None]), "A is broken"),
        (lambda m: setattr(m, "indices", np.full(m.nnz, 2**64 - 1, np.uint64)), "outside"),
    ],
)
def test_broken_structure_is_refused(form, index, breakage, match):
    matrix = compressed(form, index=index)
    breakage(matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(match, matrix, B, error=(TypeError, ValueError))


def test_broken_coordinates_are_refused():
    """In a process of its own: a bad row overwrites memory where nobody looks first."""
    code = """
import numpy as np, scipy.sparse as sp, southwell as sw
for name, bad in (("row", 2**31 - 1), ("row", -1), ("row", 12), ("col", 5), ("col", -1)):
    A = sp.coo_array(np.arange(60.0).reshape(12, 5))
    getattr(A, name)[2] = bad
    try:
        print(name, bad, sw.solve(A, np.arange(12.0), l1=0.1, max_epochs=5).status)
    except ValueError as error:
        print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == 5 and all(line.startswith("refused:") for line in said), said


@pytest.mark.parametrize("breakage", ["index", "pointer"])
def test_broken_blocks_are_refused(breakage):
    matrix = sp.bsr_array(A, blocksize=(2, 1))
    if breakage == "index":
        matrix.indices[0] = 77
    else:
        matrix.indptr[-1] += 5
    refused("A is broken|outside|exceed|index", matrix, B)


def unsorted(form):
    """A with the entries of each fiber reversed."""
    matrix = compressed(form)
    for start, end in itertools.pairwise(matrix.indptr.copy()):
        matrix.indices[start:end] = matrix.indices[start:end][::-1].copy()
        matrix.data[start:end] = matrix.data[start:end][::-1].copy()
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    return matrix


def repeated(form, claim):
    """A with each entry stored as two halves, flagged canonical or not."""
    plain = compressed(form)
    data, indices = np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2)
    matrix = form((data, indices, plain.indptr * 2), shape=A.shape)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = claim
    return matrix


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("kind", ["unsorted", "repeated", "repeated but called canonical"])
def test_structure_that_is_not_canonical(form, side, kind):
    given = unsorted(form) if kind == "unsorted" else repeated(form, kind != "repeated")
    kept = [getattr(given, name).copy() for name in ("data", "indices", "indptr")]
    for coupling in ("mirror", "gram"):
        method = CD(side=side, coupling=coupling)
        r = sw.solve(given, B, l2=0.05, tol=1e-10, method=method)
        q = sw.solve(form(A), B, l2=0.05, tol=1e-10, method=method)
        np.testing.assert_allclose(r.x, q.x, atol=1e-12)
    for name, before in zip(("data", "indices", "indptr"), kept, strict=True):
        np.testing.assert_array_equal(getattr(given, name), before)


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_explicit_zeros_and_spare_room(form, side):
    full = form((12, 5))
    dense = A if full.format == "csr" else A.T
    full.data = dense.ravel().copy()
    full.indices = np.tile(np.arange(dense.shape[1], dtype=np.int32), dense.shape[0])
    full.indptr = np.arange(0, dense.size + 1, dense.shape[1], dtype=np.int32)
    spare = compressed(form)
    spare.data = np.append(spare.data, [np.nan, 1e300])  # beyond the end: never read
    spare.indices = np.append(spare.indices, np.array([-7, 10**6], np.int32))
    for given in (full, spare):
        r = sw.solve(given, B, l1=0.05, l2=0.01, tol=1e-10, method=CD(side=side))
        np.testing.assert_allclose(r.x, reference(l2=0.01).x, atol=1e-5)


def test_read_only_sparse_arrays_in_any_order():
    for given in (unsorted(sp.csr_array), repeated(sp.csc_array, False), compressed(sp.csr_array)):
        for name in ("data", "indices", "indptr"):
            getattr(given, name).flags.writeable = False
        for side in ("primal", "dual"):
            r = sw.solve(given, B, l1=0.05, l2=0.01, tol=1e-10, method=CD(side=side))
            np.testing.assert_allclose(r.x, reference(l2=0.01).x, atol=1e-5)


def test_strided_sparse_arrays():
    given = compressed(sp.csr_array)
    for name in ("data", "indices", "indptr"):
        setattr(given, name, np.repeat(getattr(given, name), 2)[::2])
    np.testing.assert_allclose(sw.solve(given, B, l1=0.05, tol=1e-10).x, reference().x, atol=1e-5)


@pytest.mark.parametrize("form", SPARSE)
def test_nothing_stored(form):
    r = sw.solve(form((12, 5)), B, l1=0.1, intercept=True)
    assert r.status is sw.Status.CONVERGED and not r.x.any()
    np.testing.assert_allclose(r.intercept, B.mean())


# Whatever is in the index arrays: an exception or a sane result, never a crash.


@st.composite
def corrupted(draw):
    rows, cols = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    form = draw(st.sampled_from(SPARSE))
    index = draw(st.sampled_from([np.int32, np.int64]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = form(np.where(rng.random((rows, cols)) < 0.6, rng.standard_normal((rows, cols)), 0.0))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    wild = st.one_of(st.integers(-3, 9), st.sampled_from([-(2**31), 2**31 - 1, 1000, -1000]))
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from(["indices", "indptr", "data"]))
        array = getattr(matrix, name).copy()
        if draw(st.booleans()) and array.size:
            place = draw(st.integers(0, array.size - 1))
            array[place] = draw(st.floats(allow_nan=True, width=16) if name == "data" else wild)
        else:
            array = np.resize(array, max(array.size + draw(st.integers(-3, 3)), 0)) if array.size else array
        setattr(matrix, name, array)
    return matrix


@hypothesis.settings(max_examples=400, deadline=None, derandomize=True)
@hypothesis.given(matrix=corrupted(), side=st.sampled_from(["primal", "dual"]), intercept=st.booleans())
def test_corrupted_sparse_structure(matrix, side, intercept):
    kept = [getattr(matrix, name).copy() for name in ("data", "indices", "indptr")]
    b = np.arange(matrix.shape[0]) - 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            r = sw.solve(matrix, b, l1=0.05, l2=0.1, intercept=intercept, method=CD(side=side), max_epochs=200)
        except (ValueError, TypeError) as error:
            assert "A is broken" in str(error) or "A contains NaN or infinity" in str(error), str(error)
        else:
            assert np.isfinite(r.x).all() and np.isfinite(r.primal) and r.gap >= 0 and r.x.shape == (matrix.shape[1],)
            dense = np.zeros(matrix.shape)
            for k, (start, stop) in enumerate(itertools.pairwise(matrix.indptr)):
                for e in range(start, stop):
                    place = (k, matrix.indices[e]) if matrix.format == "csr" else (matrix.indices[e], k)
                    dense[place] += matrix.data[e]
            margins = dense @ r.x + r.intercept
            value = np.mean((margins - b) ** 2) / 2 + 0.05 * np.abs(r.x).sum() + 0.05 * r.x @ r.x
            np.testing.assert_allclose(r.primal, value, rtol=1e-9, atol=1e-12)
    for name, before in zip(("data", "indices", "indptr"), kept, strict=True):
        np.testing.assert_array_equal(getattr(matrix, name), before)


@hypothesis.settings(max_examples=100, deadline=None, derandomize=True)
@hypothesis.given(st.data())
def test_random_arguments_of_solve(data):
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


# The caller's arrays


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, np.float32, *SPARSE])
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("coupling", ["mirror", "gram"])
def test_nothing_given_is_modified(form, side, coupling):
    given = form(A)
    b, w, pw, start = B.copy(), np.arange(12.0), np.arange(1.0, 6.0), np.ones(5)
    arrays = [b, w, pw, start, *([given.data, given.indices, given.indptr] if sp.issparse(given) else [given])]
    kept = [a.copy() for a in arrays]
    r = sw.solve(
        given, b, penalty=ElasticNet(0, 0.05, weights=pw), sample_weight=w, intercept=True, warm_start=start,
        method=CD(side=side, coupling=coupling),
    )  # fmt: skip
    sw.lambda_max(given, b, weights=pw, sample_weight=w, intercept=True)
    for array in (r.x, r.y):
        assert not any(np.shares_memory(array, a) for a in arrays)
        array[:] = 7.0
    for array, before in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_targets_and_weights_changed_later_do_not_change_the_problem():
    b, w = B.copy(), np.ones(12)
    problem = sw.Problem(A, b, penalty=ElasticNet(0.05), sample_weight=w)
    expected = sw.solve(problem, tol=1e-10).x
    b[:], w[:] = np.nan, 0.0
    np.testing.assert_array_equal(sw.solve(problem, tol=1e-10).x, expected)

"""Problems of blocks that cannot be solved are refused before any work, in words: what was given, what is allowed, what
to do."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import _core
from southwell.penalties import ElasticNet, Groups

RNG = np.random.default_rng(0)
A = RNG.standard_normal((12, 5))
B = RNG.standard_normal(12)
Y = RNG.standard_normal((12, 3))
SIGNS = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
LABELS = np.arange(12) % 3
FACTORS = sw.Factorised(A[:, :2], A[:2])
CLASSES = list(sw.losses.OF_CLASSES)


def refused(match, work, error=ValueError):
    with pytest.raises(error, match=match) as caught:
        work()
    text = str(caught.value)
    assert "incompatible function arguments" not in text, "the compiled core's own words"
    assert len(text) < 600
    return text


# Groups


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        ([[0, 1], [2]], "2 features are in no group, the first is 3.*Every feature must be in one"),
        ([[0, 0, 1], [2, 3, 4]], "Feature 0 is in more than one group, or twice in group 0.*must not overlap"),
        ([[0, 1, 2], [2, 3, 4]], "Feature 2 is in more than one group.*repeat the column once for each"),
        ([[0, 1], [2, 3, 5]], "Group 1 has feature 5; there are 0 to 4"),
        ([[0, -1], [2, 3, 4]], "Group 0 has feature -1; there are 0 to 4"),
        ([[0, 1, 2, 3, 4], []], r"Group 1 must be a list of features, at least one; got \[\]"),
        ([[], [0, 1, 2, 3, 4]], r"Group 0 must be a list of features, at least one; got \[\]"),
        ([[0.0, 1.0], [2.0, 3.0, 4.0]], "Group 0 must be a list of features"),
        ([["0", "1"], ["2", "3", "4"]], "Group 0 must be a list of features"),
        ([[True] * 5], "Group 0 must be a list of features"),
        ([[[0, 1]], [[2, 3, 4]]], "Group 0 must be a list of features"),
        ([[0, 1], 2], "Group 1 must be a list of features.*got 2"),
        ([], r"a label for each of the 5 features, or lists of features; got shape \(0,\)"),
        ([0, 1, 2], r"a label for each of the 5 features, or lists of features; got shape \(3,\)"),
        (np.zeros(6), r"a label for each of the 5 features.*got shape \(6,\)"),
        ([0, 0, np.nan, 1, 1], "groups contains NaN"),
        ([0, 0, np.inf, 1, 1], "groups contains NaN or infinity"),
        ("size", "a label for each of the 5 features"),
        ("abcde", "groups must"),
        ([0, [1, 2, 3, 4]], "groups must|Group 0 must"),
        (3, "groups must"),
        ([None, None, 1, 1, 1], "labels of one kind: make them all strings, or all numbers"),
        (np.array(["a", "a", 1, 2, 2], object), "labels of one kind: make them all strings, or all numbers"),
    ],
)
def test_groups_that_are_not_a_partition_are_refused(groups, match):
    penalty = Groups(0.1, groups=groups)
    either = (ValueError, TypeError)
    refused(match, lambda: sw.solve(A, B, penalty=penalty), either)
    refused(match, lambda: sw.BlockProblem(A, LABELS, "softmax", penalty), either)
    refused(match, lambda: sw.BlockProblem(A, Y, "squared", Groups(0.1)).with_penalty(penalty), either)


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1, -1, 1], "Group weights must be >= 0.*got -1"),
        (-0.5, "Group weights must be >= 0.*got -0.5"),
        ([1, np.nan, 1], "weights contains NaN or infinity"),
        ([np.inf, 1, 1], "weights contains NaN or infinity"),
        ("sizes", "weights must be 'size' or 3 numbers, one a group; got 'sizes'"),
        (["a", "b", "c"], "weights must be real numbers; got"),
        ([1.0, 1.0], r"one a group.*got shape \(2,\)"),
        (np.ones((3, 1)), r"one a group.*got shape \(3, 1\)"),
    ],
)
def test_bad_weights_of_groups_are_refused(weights, match):
    penalty = Groups(0.1, groups=[[0, 1], [2, 3], [4]], weights=weights)
    refused(match, lambda: sw.solve(A, B, penalty=penalty), (ValueError, TypeError))


@pytest.mark.parametrize("name", ["strength", "l1", "l2"])
def test_bad_strengths_are_refused(name):
    for bad in (-1e-300, -1.0, np.nan, np.inf):
        refused(f"{name} must be >= 0 and finite; got", lambda bad=bad: Groups(**{name: bad}))
    for bad in ("0.1", None, [0.1], 1j):
        refused(f"{name} must be a number; got", lambda bad=bad: Groups(**{name: bad}), TypeError)


@pytest.mark.parametrize("penalty", [Groups(1e300, weights=1e300), ElasticNet(1e300, weights=np.full(5, 1e300))])
def test_weights_that_overflow_are_refused(penalty):
    refused("times the weights overflows", lambda: sw.BlockProblem(A, Y, "squared", penalty))


def test_a_penalty_must_be_one():
    refused("penalty must be a southwell penalty.*got float", lambda: sw.BlockProblem(A, Y, penalty=0.1), TypeError)
    refused("either penalty or l1 and l2", lambda: sw.solve(A, B, l1=0.1, penalty=Groups(0.1)), TypeError)


def test_bad_weights_of_an_elastic_net_are_refused():
    penalty = ElasticNet(0.1, weights=[1, -2, 1, 1, 1])
    refused("Penalty weights must be >= 0.*got -2", lambda: sw.solve(A, Y, penalty=penalty))
    penalty = ElasticNet(0.1, weights=[1.0, 2.0])
    refused(r"one number or 5 \(one a feature\); got shape", lambda: sw.solve(A, Y, penalty=penalty))
    penalty = ElasticNet(0.1, weights=[1, np.nan, 1, 1, 1])
    refused("weights contains NaN", lambda: sw.solve(A, Y, penalty=penalty))


# Classes


@pytest.mark.parametrize("loss", CLASSES)
@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (np.zeros(12, int), "at least two classes; all samples of positive weight are of class 0"),
        (LABELS * 1j, "labels of classes.*got complex128"),
        (np.full(12, np.datetime64("2020-01-01")), "labels of classes.*got datetime64"),
        (LABELS[:5], "must have 12 entries to agree with A; got 5"),
        (np.eye(3)[LABELS], r"must be one-dimensional; got shape \(12, 3\)"),
        (1, r"must be one-dimensional; got shape \(\)"),
        (LABELS + 0.5, r"labels of classes.*got float64: 0\.5, 1\.5.*'squared'"),
        (np.where(LABELS == 1, np.nan, LABELS), "NaN"),
        (np.where(LABELS == 1, np.inf, LABELS), "infinity"),
        (np.where(LABELS == 1, None, LABELS), "missing labels"),
        (np.array(["a", 1, "b"] * 4, dtype=object), "cannot be compared"),
        ([[0], [1, 2]], "one-dimensional labels; got list of mixed shapes"),
    ],
)
def test_bad_labels_are_refused(loss, labels, match):
    refused(match, lambda: sw.solve(A, labels, loss=loss, l2=0.1), (ValueError, TypeError))
    refused(match, lambda: sw.BlockProblem(A, LABELS, loss, Groups(0.1)).with_targets(labels), (ValueError, TypeError))


@pytest.mark.parametrize("loss", CLASSES)
def test_a_class_without_weight_does_not_count(loss):
    there = LABELS < 2
    r = sw.solve(A, LABELS, loss=loss, l2=0.1, sample_weight=there * 1.0, tol=1e-10)
    assert r.classes.tolist() == [0, 1] and r.x.shape == (5, 2)
    np.testing.assert_allclose(r.x, sw.solve(A[there], LABELS[there], loss=loss, l2=0.1, tol=1e-10).x, atol=1e-4)


@pytest.mark.parametrize("loss", CLASSES)
def test_class_numbers_in_other_forms_are_read(loss):
    want = sw.solve(A, LABELS, loss=loss, l2=0.1).x
    for form in (
        LABELS.astype(float),
        LABELS.tolist(),
        LABELS.astype(np.uint8),
        LABELS.astype(np.uint64),
        LABELS.astype(">i4"),
        LABELS.astype(object),
        LABELS - 1,
        LABELS * 1e30,
        np.array(list("abc"))[LABELS],
    ):
        np.testing.assert_array_equal(sw.solve(A, form, loss=loss, l2=0.1).x, want)
    two = sw.solve(A, LABELS > 0, loss=loss, l2=0.1)
    np.testing.assert_array_equal(two.x, sw.solve(A, (LABELS > 0).astype(int), loss=loss, l2=0.1).x)


def test_a_column_of_classes_is_a_vector():
    sw.solve(A, LABELS[:, None], loss="softmax", l2=0.1)


# Tables of targets


@pytest.mark.parametrize(
    ("b", "match"),
    [
        (Y[:5], r"a row for each of the 12 samples and a column for each task; got shape \(5, 3\)"),
        (Y.T, r"a row for each of the 12 samples and a column for each task; got shape \(3, 12\)"),
        (np.where(Y > 1, np.nan, Y), "b contains NaN or infinity"),
        (np.where(Y > 1, np.inf, Y), "b contains NaN or infinity"),
        (Y.astype(str), "b must hold real numbers; got dtype <U"),
        (np.full((12, 2), None), "b must hold real numbers; got dtype object"),
        (Y * 1j, "b must hold real numbers; got dtype complex128"),
        (Y[:, :, None], r"must (be one-dimensional|have shape .*n_tasks\)).*got (shape )?\(12, 3, 1\)"),
        ([[1.0, 2.0], [3.0]] * 6, "b must"),
        (sp.csr_array(Y), "sparse"),
    ],
)
def test_bad_tables_of_targets_are_refused(b, match):
    either = (ValueError, TypeError)
    refused(match, lambda: sw.solve(A, b, l2=0.1), either)
    refused(match, lambda: sw.BlockProblem(A, b, penalty=Groups(0.1)), either)


def test_ragged_targets_of_a_single_problem_are_refused():
    refused(
        "b must be one-dimensional numbers; got list of mixed shapes", lambda: sw.solve(A, [[1.0], [2.0, 3.0]], l1=0.1)
    )


def test_an_empty_table_is_refused():
    refused(r"got shape \(12, 0\)", lambda: sw.BlockProblem(A, Y[:, :0], penalty=Groups(0.1)))


def test_targets_of_each_task_are_checked():
    one = np.stack([SIGNS, np.ones(12)], axis=1)
    refused("needs both classes", lambda: sw.solve(A, one, loss="logistic", l2=0.1))
    other = np.stack([SIGNS, SIGNS + 1], axis=1)
    refused(r"same two labels.*\[-1.*\] and \[0.*2", lambda: sw.solve(A, other, loss="logistic", l2=0.1))
    refused("takes targets >= 0; the smallest is", lambda: sw.solve(A, Y, loss="poisson", l2=0.1))


def test_bad_sample_weights_are_refused():
    for weights, match in ((np.ones(5), "sample_weight must have 12 entries.*got 5"), (-np.ones(12), "must be >= 0"),
                           (np.zeros(12), "positive, finite sum"), (np.full(12, np.nan), "NaN")):  # fmt: skip
        refused(match, lambda w=weights: sw.solve(A, Y, l2=0.1, sample_weight=w))


# Losses, methods, data


@pytest.mark.parametrize("loss", [name for name in sw.losses.ALL if not sw.losses.get(name).smooth])
def test_losses_with_kinks_are_solved_or_refused(loss):
    b = SIGNS if loss == "hinge" else B
    try:
        r = sw.solve(A, b, loss=loss, penalty=Groups(0.1, l2=0.1), tol=1e-4)
    except ValueError as refusal:
        assert loss in str(refusal) and "smooth" in str(refusal)
    else:
        assert r.status is sw.Status.CONVERGED


@pytest.mark.parametrize("method", [name for name, known in sw.methods.ALL.items() if not known.takes_blocks])
def test_methods_of_single_coordinates_are_refused(method):
    for given in ((Y, {}), (LABELS, {"loss": "softmax"})):
        text = refused("does not support problems with blocks.*Use one of auto",
                       lambda g=given: sw.solve(A, g[0], l2=0.1, method=method, **g[1]))  # fmt: skip
        assert sw.methods.ALL[method].__name__ in text


def test_data_that_blocks_do_not_take_are_refused():
    for given in ((Y, {}), (LABELS, {"loss": "softmax"})):
        assert sw.solve(sw.Centred(sp.csr_array(A)), given[0], l2=0.1, **given[1]).status is sw.Status.CONVERGED
        text = refused("do not take factorised data", lambda g=given: sw.solve(FACTORS, g[0], l2=0.1, **g[1]))
        assert "U @ V" in text


def test_a_problem_of_blocks_is_stated_as_one():
    refused("Groups make a BlockProblem", lambda: sw.Problem(A, B, "squared", Groups(0.1)), TypeError)
    refused("state it as a BlockProblem", lambda: sw.Problem(A, LABELS, "softmax"), TypeError)
    refused("Did you mean 'softmax'", lambda: sw.solve(A, LABELS, loss="softmx", l2=0.1))
    refused("already holds", lambda: sw.solve(sw.BlockProblem(A, Y, penalty=Groups(0.1)), l2=0.1), TypeError)


def test_bad_corners_are_refused():
    for bad in (0, -1, np.nan, np.inf):
        refused("corner must be > 0 and finite; got", lambda bad=bad: sw.losses.MulticlassHinge(bad))
    refused("corner must be a number", lambda: sw.losses.MulticlassHinge("1"), TypeError)


# Points

X = np.zeros((5, 3))
PLAIN = sw.BlockProblem(A, LABELS, "softmax", Groups(0.1))
SHIFTED = sw.BlockProblem(A, LABELS, "softmax", Groups(0.1), intercept=True)


@pytest.mark.parametrize(
    ("work", "match"),
    [
        (lambda: PLAIN.certify(X.T), r"x must have shape \(5, 3\); got \(3, 5\)"),
        (lambda: PLAIN.certify(X.ravel()), r"x must have shape \(5, 3\); got \(15,\)"),
        (lambda: PLAIN.certify(X * np.nan), "x contains NaN"),
        (lambda: PLAIN.certify("x"), "x must be real numbers; got 'x'"),
        (lambda: PLAIN.certify([[1], [2, 3]]), "x must be an array or lists of equal lengths; got"),
        (lambda: PLAIN.certify(None), "x must be real numbers; got None"),
        (lambda: PLAIN.certify(X, np.zeros((12, 2))), r"y must have shape \(12, 3\); got \(12, 2\)"),
        (lambda: PLAIN.certify(X, np.zeros(12)), r"y must have shape \(12, 3\); got \(12,\)"),
        (lambda: PLAIN.certify(X, np.full((12, 3), np.inf)), "y contains NaN or infinity"),
        (lambda: PLAIN.certify(X, intercept=1.0), "has no intercept; got 1.0. State it with intercept=True"),
        (lambda: SHIFTED.certify(X, intercept=np.nan), "intercept must be finite; got nan"),
        (lambda: SHIFTED.certify(X, intercept=None), "intercept must be one number or 3, one a column of X; got None"),
        (lambda: sw.solve(PLAIN, warm_start=np.zeros(5)), r"warm_start must have shape \(5, 3\); got \(5,\)"),
        (lambda: sw.solve(PLAIN, warm_start=X * np.nan), "warm_start contains NaN"),
        (lambda: sw.solve(PLAIN, warm_start="x"), "warm_start must be real numbers; got 'x'"),
        (lambda: sw.solve(PLAIN, warm_start=(X, np.ones(3))), "This problem has no intercept"),
        (lambda: sw.solve(PLAIN, warm_start=sw.solve(A, B, l1=0.1)), r"must have shape \(5, 3\); got \(5,\)"),
        (lambda: sw.solve(A, B, l1=0.1, warm_start=sw.solve(PLAIN)), r"must be one-dimensional; got shape"),
        (lambda: SHIFTED.certify(X, intercept=np.ones(2)), "intercept must"),
        (lambda: SHIFTED.certify(X, intercept=np.ones((3, 3))), "intercept must"),
        (lambda: SHIFTED.certify(X, intercept="a"), "intercept must"),
        (lambda: sw.solve(SHIFTED, warm_start=(X, np.ones(2))), "intercept must"),
        (lambda: sw.solve(PLAIN, warm_start=X * 1j), "warm_start must"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_points_of_the_wrong_shape_are_refused(work, match):
    refused(match, work, (ValueError, TypeError))


# Losses over tables


@pytest.mark.parametrize("loss", CLASSES)
def test_tables_and_labels_that_do_not_fit_are_refused(loss):
    loss = sw.losses.get(loss)
    for label in (2, -1):
        refused(f"Class numbers b must go from 0 to 1 here; got {label}", lambda b=label: loss.value([[0.0, 1.0]], [b]))
    several = np.zeros(100_000, int)
    for work in (
        lambda: loss.value([[0.0, 1.0]], [0, 1]), lambda: loss.conjugate([[0.0, 0.0]], [0, 1]),
        lambda: loss.derivative([[0.0, 1.0]], several), lambda: loss.maximise([[0.0, 1.0]], [[0.0, 0.0]], 1.0, several),
    ):  # fmt: skip
        refused(r"[my] needs a row for each class number in b; got \(1, 2\) and", work)
    refused("m and y0 must have one shape; got", lambda: loss.maximise([[0.0, 1.0]], [[0.0, 0.0, 0.0]], 1.0, [0]))


TABLES = {"value": 1, "derivative": 1, "conjugate": 1, "into_domain": 1, "balance": 1, "bend": 2, "maximise": 2}


@pytest.mark.parametrize("method", TABLES)
@pytest.mark.parametrize("size", [0, 2, 29, 31])
def test_tables_of_the_wrong_length_are_refused(method, size):
    """The core writes where its samples are."""
    labels, s = np.zeros(10, np.int64), np.full(10, 0.1)
    right, wrong, more = np.zeros(30), np.zeros(size), [1.0] if method == "maximise" else []
    for wide in (
        _core.class_loss("softmax", 0.0, 3, labels, s, np.empty(0)),
        _core.task_loss(sw.losses.Squared().core, 3, right, s, np.empty(0)),
    ):
        for place in range(TABLES[method]):
            tables = [wrong if at == place else right for at in range(TABLES[method])]
            refused("an array of the wrong length", lambda w=wide, t=tables: getattr(w, method)(*t, *more))


def test_labels_of_a_loss_must_be_whole():
    refused("b must be class numbers 0, 1, ...; got .0.5", lambda: sw.losses.Softmax().value([[0.0, 1.0]], [0.5]))


def test_block_descent_says_what_it_needs():
    def descend(loss, penalty, **more):
        intercept = more.pop("intercept", False)
        method = sw.methods.CoordinateDescent(**more)
        b = np.abs(Y) if loss == "poisson" else Y
        return lambda: sw.solve(sw.BlockProblem(A, b, loss, penalty, intercept=intercept), method=method)

    group, ridge = Groups(0.1), Groups(0.1, l2=0.1)
    refused("needs a smooth loss; got quantile", descend("quantile", group, side="primal"))
    refused("needs a bound on the loss's curvature; poisson", descend("poisson", group, side="primal"))
    refused("this problem has l2 = 0", descend("squared", group, side="dual"))
    refused("this problem has an intercept", descend("squared", ridge, side="dual", intercept=True))
    refused("rule must be one of .*; got greedy", descend("squared", ridge, rule="greedy"))


def test_lambda_max_of_blocks():
    problem = sw.BlockProblem(A, Y, "squared", ElasticNet(0.1, weights=np.arange(1.0, 6.0)))
    most = sw.lambda_max(problem)
    for share, zero in ((1.001, True), (0.999, False)):
        penalty = ElasticNet(share * most, weights=np.arange(1.0, 6.0))
        assert (np.abs(sw.solve(sw.BlockProblem(A, Y, "squared", penalty), tol=1e-12).x).max() < 1e-9) == zero
    refused("has its own weights", lambda: sw.lambda_max(problem, weights=np.ones(5)), TypeError)
    refused("needs targets b", lambda: sw.lambda_max(A), TypeError)

"""Label propagation finds the harmonic function, and its bounds hold exactly."""

from fractions import Fraction

import hypothesis
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.semi_supervised import LabelPropagation as ScikitLabelPropagation

import southwell as sw
from graphs import ENDS, PATH, exactly_harmonic, harmonic, propagate, quietly, random_graph

# The answer


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_equals_a_direct_solve(n_classes, seed):
    W, y = random_graph(120, n_classes, seed)
    model = propagate(W, y, tol=1e-13)
    expected = harmonic(W, y)
    np.testing.assert_allclose(model.label_distributions_, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(model.transduction_, expected.argmax(axis=1))
    assert model.gap_ <= 1e-13
    assert len(model.results_) == (1 if n_classes == 2 else n_classes)
    assert model.n_iter_ == max(result.epochs for result in model.results_)


def test_a_path_by_hand():
    model = propagate(PATH, ENDS, tol=1e-14)
    np.testing.assert_allclose(model.label_distributions_[:, 1], [0, 0.25, 0.5, 0.75, 1], atol=1e-10)
    assert model.transduction_[[0, 1, 3, 4]].tolist() == [0, 0, 1, 1]


def test_agrees_with_scikit_learn():
    """Its iteration, run long enough, ends at the harmonic function too; loops of the kernel change nothing."""
    X, labels = make_blobs(60, centers=3, random_state=0)
    y = np.where(np.arange(60) % 6 == 0, labels, -1)
    theirs = ScikitLabelPropagation(kernel="rbf", gamma=0.3, tol=1e-13, max_iter=100_000).fit(X, y)
    ours = propagate(rbf_kernel(X, gamma=0.3), y, tol=1e-13)
    np.testing.assert_allclose(ours.label_distributions_, theirs.label_distributions_, atol=1e-8)
    np.testing.assert_array_equal(ours.transduction_, theirs.transduction_)


def without_arguments(known):
    for name, kind in known.items():
        try:
            kind()
        except TypeError:
            continue
        yield name


@pytest.mark.parametrize("rule", list(without_arguments(sw.rules.ALL)))
def test_every_rule_reaches_the_same_answer(rule):
    W, y = random_graph(60, 3, seed=1)
    model = propagate(W, y, rule=rule, tol=1e-12)
    np.testing.assert_allclose(model.label_distributions_, harmonic(W, y), rtol=0, atol=1e-8)
    again = propagate(W, y, rule=sw.rules.ALL[rule](), tol=1e-12)
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)


def test_a_method_takes_the_place_of_the_rule():
    W, y = random_graph(60, 3, seed=1)
    plain = sw.methods.CoordinateDescent(side="primal", rule="shuffled", shrinking=False)
    model = propagate(W, y, method=plain, tol=1e-12)
    assert "shuffled" in model.results_[0].method
    np.testing.assert_allclose(model.label_distributions_, harmonic(W, y), rtol=0, atol=1e-8)
    assert "primal" in propagate(W, y, method="auto").results_[0].method
    with pytest.raises(ValueError, match="needs a penalty"):
        propagate(W, y, method=sw.methods.CoordinateDescent(side="dual"))


# The proof


@hypothesis.given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3), digits=st.integers(0, 16),
                  spread=st.sampled_from([0.0, 1.0, 4.0]))  # fmt: skip
def test_bounds_hold_in_exact_arithmetic(seed, n_classes, digits, spread):
    W, y = random_graph(10, n_classes, seed, spread=spread)
    model = quietly(lambda: propagate(W, y, tol=10.0**-digits, max_epochs=3000))
    exact = exactly_harmonic(W, y)
    for row, truth, bound in zip(model.label_distributions_, exact, model.node_error_bound_, strict=True):
        assert max(abs(Fraction(f) - t) for f, t in zip(row, truth, strict=True)) <= Fraction(bound)
    assert model.error_bound_ == model.node_error_bound_.max() <= 1
    assert (model.node_error_bound_[y != -1] == 0).all()


@pytest.mark.parametrize("max_epochs", [0, 1, 5, 50])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_bounds_hold_before_convergence(max_epochs, n_classes):
    W, y = random_graph(200, n_classes, seed=3, unlabelled=0.95)
    with pytest.warns(sw.ConvergenceWarning, match=r"relative gap is .*may be off by .*raise max_epochs"):
        model = propagate(W, y, tol=1e-14, max_epochs=max_epochs)
    error = abs(model.label_distributions_ - harmonic(W, y)).max(axis=1)
    assert (error <= model.node_error_bound_ + 1e-12).all()
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1.0, rtol=1e-14)


def test_bounds_are_useful():
    W, y = random_graph(200, 3, seed=4)
    for tol, wanted in [(1e-4, 1e-1), (1e-8, 1e-5), (1e-12, 1e-8)]:
        model = propagate(W, y, tol=tol)
        error = abs(model.label_distributions_ - harmonic(W, y)).max()
        assert error <= model.error_bound_ <= wanted
        assert model.error_bound_ <= 100 * error + 1e-10


def test_a_node_that_hardly_hangs_on_is_not_promised():
    """Held by less than rounding, two nodes may be anywhere; the bound says so."""
    W = np.array([[0, 1e-40, 0, 0], [1e-40, 0, 1, 0], [0, 1, 0, 1e-40], [0, 0, 1e-40, 0]])
    y = np.array([0, -1, -1, 1])
    model = quietly(lambda: propagate(W, y, max_epochs=100))
    np.testing.assert_array_equal(model.node_error_bound_, [0, 1, 1, 0])


def test_seconds_are_shared_by_the_classes():
    n = 3000
    path = sp.csr_array(sp.diags([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]))
    y = np.full(n, -1)
    y[[0, n // 2, n - 1]] = 0, 1, 2
    with pytest.warns(sw.ConvergenceWarning, match="3 of 3 solves"):
        model = propagate(path, y, tol=1e-12, max_epochs=10**9, max_seconds=0.06)
    assert all(result.status is sw.Status.MAX_SECONDS for result in model.results_)


# What must not matter


@pytest.mark.parametrize("factor", [2.0**-900, 0.25, 1e-5, 7.0, 1e300])
def test_the_scale_of_the_weights(factor):
    W, y = random_graph(50, 3, seed=6)
    one, other = (propagate(weights, y, tol=1e-12) for weights in (W, W * factor))
    np.testing.assert_allclose(other.label_distributions_, one.label_distributions_, rtol=0, atol=1e-9)
    assert other.error_bound_ == pytest.approx(one.error_bound_, rel=1e-3, abs=1e-9)


def test_the_order_of_the_nodes():
    W, y = random_graph(50, 3, seed=7)
    order = np.random.default_rng(0).permutation(50)
    one, other = propagate(W, y, tol=1e-13), propagate(W[order][:, order], y[order], tol=1e-13)
    np.testing.assert_allclose(other.label_distributions_, one.label_distributions_[order], rtol=0, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_names_of_the_classes(n_classes):
    W, y = random_graph(50, n_classes, seed=8)
    one, other = propagate(W, y, tol=1e-13), propagate(W, np.where(y == -1, -1, 10 - y), tol=1e-13)
    np.testing.assert_array_equal(other.transduction_, 10 - one.transduction_)
    np.testing.assert_allclose(other.label_distributions_[:, ::-1], one.label_distributions_, rtol=0, atol=1e-8)


def test_the_form_of_the_affinity():
    W, y = random_graph(40, 3, seed=9)
    expected = propagate(W, y).label_distributions_
    loops = W + sp.dia_array(sp.diags(np.arange(40.0)))
    zeros = sp.csr_array(W.toarray() + 1.0)
    zeros.data -= 1.0  # every edge stored, most of weight zero
    twice = sp.coo_array((np.tile(W.tocoo().data / 2, 2), np.tile([W.tocoo().row, W.tocoo().col], 2)), shape=W.shape)
    wide = W.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (W.toarray(), np.asfortranarray(W.toarray()), W.tocsc(), sp.csr_matrix(W), loops, zeros, twice, wide):
        before = form.copy()
        np.testing.assert_allclose(propagate(form, y).label_distributions_, expected, rtol=0, atol=1e-12)
        assert abs(form - before).max() == 0, "what was given is not changed"
    rounded = np.float32(W.toarray())
    np.testing.assert_allclose(propagate(rounded, y).label_distributions_, expected, atol=1e-4)


def test_asymmetry_by_rounding_is_forgiven():
    W, y = random_graph(40, 3, seed=9)
    skewed = sp.csr_array(sp.triu(W) * (1 + 1e-15) + sp.tril(W))
    np.testing.assert_allclose(propagate(skewed, y).label_distributions_, propagate(W, y).label_distributions_)


def test_same_seed_same_numbers():
    W, y = random_graph(60, 3, seed=10)
    runs = [propagate(W, y, rule="uniform", tol=1e-3, random_state=seed) for seed in (3, 3, 4)]
    runs += [propagate(W, y, rule="uniform", random_state=state) for state in (None, np.random.RandomState(0))]
    values = [model.label_distributions_ for model in runs]
    np.testing.assert_array_equal(values[0], values[1])
    assert (values[0] != values[2]).any()
    assert runs[0].error_bound_ == runs[1].error_bound_

"""Bounds that count every rounding error: above P, below the optimum, and close to the plain certificate."""

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import southwell as sw
from cases import CENTRED, FORMS, LOSSES, PENALTIES, sparse_model
from southwell import Status

# kappa, eps and the domain of phi*(y) = b y + eps |y| + (kappa/2) y^2, by loss and its parameter; see mathematics.md.
PIECES = {
    "squared": lambda p, b: (1, 0, None, None),
    "smooth_hinge": lambda p, b: (p, 0, min(-b, 0), max(-b, 0)),
    "hinge": lambda p, b: (0, 0, min(-b, 0), max(-b, 0)),
    "squared_hinge": lambda p, b: (1, 0, None if b > 0 else 0, None if b < 0 else 0),
    "modified_huber": lambda p, b: (Fraction(1, 2), 0, min(-4 * b, 0), max(-4 * b, 0)),
    "huber": lambda p, b: (1, 0, -p, p),
    "quantile": lambda p, b: (0, 0, -p, 1 - p),
    "epsilon_insensitive": lambda p, b: (0, p, -1, 1),
    "squared_epsilon_insensitive": lambda p, b: (1, p, None, None),
}
TARGETS = {
    "real": (-1.7, 0.0, 1e6, 3e-9),
    "signs": (-1.0, 1.0),
    "counts": (0.0, 0.3, 7.0),
    "positive": (1e-9, 0.3, 7.0),
}


def exact_value(loss, m: float, b: float) -> Decimal | Fraction:
    """phi(m; b) in exact arithmetic, or with 60 digits."""
    if loss.name == "logistic":
        z = Decimal(-b) * Decimal(m)
        small = (-abs(z)).exp()
        return max(z, Decimal(0)) + (small - small**2 / 2 + small**3 / 3 if small < 1e-20 else (1 + small).ln())
    if loss.log_link:
        return exact_mean_value(loss, Decimal(m), Decimal(b))
    kappa, eps, lo, hi = PIECES[loss.name](Fraction(loss.parameter), Fraction(b))
    r = Fraction(m) - Fraction(b)
    pull = max(abs(r) - eps, 0) * (1 if r > 0 else -1)
    if kappa:
        y = pull / kappa
        y = y if lo is None else max(y, lo)
        y = y if hi is None else min(y, hi)
    else:
        y = hi if pull > 0 else lo if pull < 0 else 0
    return y * r - eps * abs(y) - Fraction(kappa) / 2 * y * y


def exact_mean_value(loss, m: Decimal, b: Decimal) -> Decimal:
    """That of a loss with a log link."""
    if loss.name == "gamma":
        return m + b * (-m).exp()
    if loss.name == "negative_binomial":
        theta = Decimal(loss.theta)
        ratio = m.exp() / theta
        return (b + theta) * (ratio - ratio**2 / 2 if ratio < 1e-30 else (1 + ratio).ln()) - b * m
    if loss.name == "tweedie":
        a, c = Decimal(2) - Decimal(loss.power), Decimal(loss.power) - 1
        return (a * m).exp() / a + b * (-c * m).exp() / c
    return m.exp() - b * m


def tweedie_margin(a: Decimal, c: Decimal, y: Decimal, b: Decimal) -> Decimal | None:
    """Where e^(a m) - b e^(-c m) = y, to 60 digits by bisection and Newton; None at the end of the domain."""
    if b == 0:
        return y.ln() / a if y > 0 else None
    low, high = Decimal(-3000), Decimal(3000)
    for _ in range(60):
        m = (low + high) / 2
        low, high = (m, high) if (a * m).exp() - b * (-c * m).exp() < y else (low, m)
    for _ in range(4):
        up, down = (a * m).exp(), b * (-c * m).exp()
        m -= (up - down - y) / (a * up + c * down)
    return m


def exact_conjugate(loss, y: float, b: float) -> Decimal | Fraction:
    def xlogx(t):
        return t * t.ln() if t > 0 else Decimal(0)

    if loss.name == "logistic":
        t = Decimal(-b) * Decimal(y)
        return xlogx(t) + (t**2 / 2 - t if t < 1e-20 else xlogx(1 - t))
    if loss.name == "poisson":
        u = Decimal(y) + Decimal(b)
        return xlogx(u) - u
    if loss.name == "gamma":
        u = 1 - Decimal(y)
        return xlogx(u) - u - u * Decimal(b).ln()
    if loss.name == "negative_binomial":
        u, v, theta = Decimal(y) + Decimal(b), Decimal(loss.theta) - Decimal(y), Decimal(loss.theta)
        return xlogx(u) + xlogx(v) - xlogx(u + v) + u * theta.ln()
    if loss.name == "tweedie":
        m = tweedie_margin(Decimal(2) - Decimal(loss.power), Decimal(loss.power) - 1, Decimal(y), Decimal(b))
        return Decimal(0) if m is None else Decimal(y) * m - exact_mean_value(loss, m, Decimal(b))
    kappa, eps, _, _ = PIECES[loss.name](Fraction(loss.parameter), Fraction(b))
    y = Fraction(y)
    return Fraction(b) * y + eps * abs(y) + Fraction(kappa) / 2 * y * y


def off(computed: float, exact) -> float:
    return float(abs((Decimal(computed) if isinstance(exact, Decimal) else Fraction(computed)) - exact))


@pytest.mark.parametrize("name", LOSSES)
def test_errors_of_losses_are_within_their_bounds(name):
    loss, rng = sw.losses.get(name), np.random.default_rng(0)
    if not (name in PIECES or name == "logistic" or loss.log_link):
        pytest.skip("no exact formula was written for it here")
    sizes = np.concatenate([10.0 ** rng.uniform(-20, 4, 150), 10.0 ** rng.uniform(-2, 1.5, 150), [0.0, 0.1, 1.0]])
    margins = sizes * rng.choice([-1.0, 1.0], sizes.size)
    for b in TARGETS[loss.targets]:
        at = margins + (b if loss.targets == "real" else 0.0)
        if loss.traits.may_overflow:
            at = at[np.abs(at) < 700]
        targets = np.full(at.size, b)
        values, bounds = loss.core.value(at, targets), loss.core.value_rounding(at, targets)
        duals = loss.core.derivative(at, targets)
        duals = np.concatenate([duals, duals * rng.random(duals.size)])
        conjugates, dual_bounds = (
            f(duals, np.full(duals.size, b)) for f in (loss.core.conjugate, loss.core.conjugate_rounding)
        )
        with localcontext(prec=60):
            for m, value, bound in zip(at, values, bounds, strict=True):
                assert off(value, exact_value(loss, m, b)) <= bound, (m, b)
            for y, value, bound in zip(duals, conjugates, dual_bounds, strict=True):
                assert off(value, exact_conjugate(loss, y, b)) <= bound, (y, b)
        longer = 40 if name == "tweedie" else 1  # the error of an exponential grows with its argument
        assert (bounds <= longer * 1e-14 * (1 + np.abs(values) + (np.abs(at) + abs(b)) ** 2)).all()  # and of use


@pytest.mark.parametrize("name", sorted(sw.losses.OF_CLASSES))
@pytest.mark.parametrize("k", [2, 3, 17])
def test_errors_of_losses_over_classes_are_within_their_bounds(name, k):
    rng, n = np.random.default_rng(k), 60
    labels = rng.integers(0, k, n)
    margins = rng.normal(size=(n, k)) * 10.0 ** rng.uniform(-6, 2.5, (n, 1))
    loss = sw.losses.get(name)
    weights, arguments = np.full(n, 1 / n), (name, getattr(loss, "corner", 0.0), k, labels)
    y = loss.over(labels, k, weights).derivative(margins.ravel())
    found = [
        sw._core.over_classes(*arguments, table, conjugate, rounding)
        for table, conjugate in ((margins.ravel(), False), (y, True))
        for rounding in (False, True)
    ]
    y = y.reshape(n, k)
    with localcontext(prec=60):
        for i, b in enumerate(labels):
            m = [Decimal(v) for v in margins[i]]
            p = [Decimal(v) for v in y[i]]
            p[b] = 1 - sum(v for c, v in enumerate(p) if c != b)
            if name == "softmax":
                value = sum((v - m[b]).exp() for v in m).ln()
                conjugate = sum(v * v.ln() for v in p if v > 0)
            else:
                corner = Decimal(loss.corner)
                lifted = [v + (c != b) for c, v in enumerate(m)]
                value = _simplex_value(lifted, b, corner)
                rest = [v - (c == b) for c, v in enumerate(p)]
                conjugate = rest[b] + corner / 2 * sum(v * v for v in rest)
            assert off(found[0][i], value) <= found[1][i]
            assert off(found[2][i], conjugate) <= found[3][i]


def _simplex_value(m, b, corner):
    """max over probability vectors p of <p - e_b, m> - (corner/2) ||p - e_b||^2, through the sorted threshold."""
    v = [u / corner + (c == b) for c, u in enumerate(m)]
    ordered, total = sorted(v, reverse=True), Decimal(0)
    for count, u in enumerate(ordered, 1):
        total += u
        if u - (total - 1) / count > 0:
            threshold = (total - 1) / count
    y = [max(u - threshold, Decimal(0)) - (c == b) for c, u in enumerate(v)]
    return sum(u * w - corner / 2 * u * u for u, w in zip(y, m, strict=True))


@pytest.mark.parametrize("form", [*FORMS, *CENTRED])
@pytest.mark.parametrize("intercept", [False, True])
def test_sizes_bound_the_terms_of_products(form, intercept):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(9, 6)) * (rng.random((9, 6)) < 0.6)
    problem = sw.Problem((FORMS | CENTRED)[form](A), rng.normal(size=9), intercept=intercept)
    layout = problem.ready_layout()
    dense = np.column_stack([layout.apply(unit) for unit in np.eye(layout.cols)])
    x, u = rng.normal(size=layout.cols), rng.normal(size=9)
    (along, along_sizes), (across, across_sizes) = layout.apply_with_sizes(x), layout.adjoint_with_sizes(u)
    assert np.allclose(along, dense @ x, rtol=0, atol=1e-14 * along_sizes.max())
    assert np.allclose(across, dense.T @ u, rtol=0, atol=1e-14 * across_sizes.max())
    assert (along_sizes >= (1 - 1e-14) * (np.abs(dense) @ np.abs(x))).all()
    assert (across_sizes >= (1 - 1e-14) * (np.abs(dense).T @ np.abs(u))).all()
    if form in FORMS and not (intercept and problem.shifts is not None):  # nothing cancels, so they are equal
        assert np.allclose(along_sizes, np.abs(dense) @ np.abs(x), rtol=1e-13)
    assert layout.longest_row >= (dense != 0).sum(axis=1).max()
    assert layout.longest_column >= (dense != 0).sum(axis=0).max()


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
def test_margins_that_overflow_are_bounded_by_nothing(loss):
    # Added up from the left, the first margin is -infinity, where the hinge loss is zero; exactly it is 1.5e308.
    big = 1.5e308
    A = sp.csc_array([[-big, -big, big, big, big], [1, 0, 0, 0, 0]])
    assert sw.Problem(A, [-1.0, 1.0], loss).prove(np.ones(5)).primal == np.inf


def test_sums_over_many_samples_stay_tight():
    # Errors grow with the square root of a chunk, not with the samples.
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(200_000, 2)), rng.normal(size=200_000)
    result = sw.solve(A, b, l2=0.1, tol=1e-12)
    proof = result.prove()
    assert proof.gap < 1e-11 * result.scale


THREE = [0, 0, 1, 1, 2, 2, 2]


def proven(problem, tol=1e-8, **options):
    result = sw.solve(problem, tol=tol, **options)
    return result, result.prove()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("intercept", [False, True])
def test_bounds_enclose_the_plain_certificate_and_are_close(loss, penalty, intercept):
    A, b = sparse_model(loss, 30, 7, 3)
    problem = sw.Problem(A, b, loss, PENALTIES[penalty], intercept=intercept)
    result, proof = proven(problem)
    assert result.status is Status.CONVERGED
    assert proof.primal >= result.primal * (1 - 1e-14)
    assert proof.dual <= result.dual + 1e-14 * result.scale
    assert 0 <= proof.gap <= result.gap + 2e-10 * result.scale
    assert problem.certify(result.x, result.y, result.intercept, rigorous=True).gap <= proof.gap + 1e-9 * result.scale


@pytest.mark.parametrize("form", [*FORMS, *CENTRED])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_kind_of_data_has_bounds(form, dtype, intercept):
    A, b = sparse_model("logistic", 40, 8, 5, density=0.5)
    problem = sw.Problem((FORMS | CENTRED)[form](A.astype(dtype)), b, "logistic", PENALTIES["l1"], intercept=intercept)
    result, proof = proven(problem)
    assert 0 <= proof.gap <= result.gap + 1e-11


def test_factors_have_bounds():
    rng = np.random.default_rng(0)
    U, V = rng.normal(size=(40, 3)), rng.normal(size=(3, 10))
    for intercept in (False, True):
        problem = sw.Problem(
            sw.Factorised(U, V), np.sign(U[:, 0] + 0.1), "logistic", PENALTIES["l2"], intercept=intercept
        )
        result, proof = proven(problem)
        assert 0 <= proof.gap <= result.gap + 1e-12


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        *itertools.product(["softmax", "multiclass_hinge"], [PENALTIES["l1"], PENALTIES["elastic net"]]),
        *itertools.product(["squared", "logistic", "huber"], [sw.penalties.Groups(0.05, groups=THREE)]),
        ("squared", sw.penalties.Groups(0.03, groups=THREE, l1=0.01, l2=0.1)),
    ],
)
def test_blocks_have_bounds(loss, penalty, intercept):
    A, b = sparse_model("logistic" if loss == "logistic" else "squared", 40, 7, 2)
    if loss in sw.losses.OF_CLASSES:
        b = np.digitize(b, np.quantile(b, [0.3, 0.7]))
    problem = sw.BlockProblem(A, b, loss, penalty, intercept=intercept)
    result, proof = proven(problem)
    assert result.status is Status.CONVERGED
    assert proof.primal >= result.primal * (1 - 1e-14)
    assert 0 <= proof.gap <= result.gap + 1e-10 * result.scale


def test_tasks_have_bounds():
    rng = np.random.default_rng(4)
    A, X = rng.normal(size=(30, 6)), rng.normal(size=(6, 3))
    problem = sw.BlockProblem(A, A @ X + 5.0, "squared", sw.penalties.Groups(0.1), intercept=True)
    result, proof = proven(problem)
    assert 0 <= proof.gap <= result.gap + 1e-10 * result.scale
    assert proof.y.shape == (30, 3)


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-120, 1e-8, 1.0, 1e9, 1e120]), intercept=st.booleans())
def test_exact_primal_of_the_lasso_is_below_its_bound(seed, scale, intercept):
    rng = np.random.default_rng(seed)
    A, b = scale * rng.normal(size=(7, 4)), rng.normal(size=7)
    x, c = rng.normal(size=4) / scale, float(rng.normal()) if intercept else 0.0
    problem = sw.Problem(A, b, penalty=sw.penalties.ElasticNet(0.1 * scale), intercept=intercept)
    told = problem.certify(x, intercept=c, rigorous=True)
    margins = [sum(Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True)) + Fraction(c) for row in A]
    exact = sum(
        Fraction(s) * (m - Fraction(t)) ** 2 / 2 for s, m, t in zip(problem.weights, margins, b, strict=True)
    ) + Fraction(0.1 * scale) * sum(abs(Fraction(v)) for v in x)
    assert exact <= Fraction(told.primal) <= exact * (1 + Fraction(1, 10**12))


def test_rigorous_solves_tell_bounds():
    A, b = sparse_model("logistic", 50, 10, 7)
    plain = sw.solve(A, b, loss="logistic", l1=0.02, tol=1e-7)
    r = sw.solve(A, b, loss="logistic", l1=0.02, tol=1e-7, rigorous=True)
    assert r.status is Status.CONVERGED
    assert r.gap <= 1e-7 * r.scale
    assert r.primal >= r.dual
    assert abs(r.primal - plain.primal) <= 1e-7 * r.scale


def test_bounds_wider_than_the_tolerance_are_told():
    A, b = sparse_model("squared", 60, 20, 0)
    assert sw.solve(A, b, l2=0.01, tol=1e-15).status is Status.CONVERGED
    with pytest.warns(sw.ConvergenceWarning, match="double precision"):
        r = sw.solve(A, b, l2=0.01, tol=1e-15, rigorous=True)
    assert r.status is Status.PRECISION
    assert r.gap > 1e-15 * r.scale


def test_nearly_collinear_columns_without_penalty_are_not_proved():
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=6), rng.normal(size=6)
    for distance in 10.0 ** np.arange(-16, -9):
        problem = sw.Problem(np.c_[u, u + distance * v], v)
        proof = problem.prove(np.array([-0.2, 0.0]))
        assert proof.dual <= 3e-6, distance  # the optimum is 2e-6 at most, with huge coefficients


def test_copies_without_penalty_are_proved():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 3))
    A = np.c_[A, A[:, 0], -A[:, 1], np.zeros(20)]
    result, proof = proven(sw.Problem(A, rng.normal(size=20), intercept=False))
    assert 0 <= proof.gap <= result.gap + 1e-11


def test_results_without_data_cannot_be_proved():
    X, y = np.eye(4), np.arange(4.0)
    model = sw.Lasso(alpha=0.1, keep_dual=True).fit(X, y)
    with pytest.raises(ValueError, match="keeps no"):
        model.result_.prove()


def test_sparse_data_and_threads_give_the_same_bounds():
    A, b = sparse_model("hinge", 60, 12, 9, density=0.4)
    proofs = [
        sw.solve(sp.csr_array(A), b, loss="hinge", l2=0.1, n_threads=k).prove() for k in (1, 2)
    ]  # fmt: skip
    assert proofs[0].primal == proofs[1].primal
    assert proofs[0].dual == proofs[1].dual

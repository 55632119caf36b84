"""How each peer states the problem, in its own units. Runs under the peers' Python; a peer is imported when used.

A fit gets (A, b, ask, tol) and returns (x, intercept). ``ask`` states our problem,

    (1/n) sum_i phi(a_i'x + c; b_i)  +  l1 |x|_1  +  (l2/2) |x|^2,    c free,

and ``tol`` is in the peer's unit. A is CSR or dense, depending on the case. Every peer here accepts both, so
the conversion it needs is part of its time. A peer that cannot state the problem raises ``Unable``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ENDLESS = 10**7  # iterations: only tolerance and time end a fit
ROUNDS = 10_000  # the same, for peers that count working sets
EPSILON = 0.1  # of the epsilon-insensitive losses, as is our default


class Ask(NamedTuple):
    model: str
    l1: float
    l2: float
    intercept: bool
    threads: int = 1
    strength: float = 1.0  # l1 over its maximum


class Unable(Exception):
    """The peer cannot state this problem."""


class Peer(NamedTuple):
    fit: Callable
    tols: list[float]


PEERS: dict[str, dict[str, Peer]] = {}  # by model, then by name


def peer(name: str, models: str, loosest: int, tightest: int):
    """Register a fit for some models, with tolerances 10^loosest, ..., 10^tightest."""

    def register(fit):
        tols = [10.0**k for k in range(loosest, tightest - 1, -1)]
        for model in models.split():
            PEERS.setdefault(model, {})[name] = Peer(fit, tols)
        return fit

    return register


def fitted(model) -> tuple[np.ndarray, float]:
    return np.ravel(model.coef_), float(np.ravel(getattr(model, "intercept_", 0.0))[0])


def mixed(ask: Ask) -> tuple[float, float]:
    """alpha and l1_ratio with l1 = alpha l1_ratio and l2 = alpha (1 - l1_ratio)."""
    return ask.l1 + ask.l2, ask.l1 / (ask.l1 + ask.l2)


def without_intercept(ask: Ask) -> None:
    if ask.intercept:
        raise Unable("the peer has no intercept for this model")


def intercept_scaling(ask: Ask) -> float:
    """liblinear and snapml penalise the intercept, as the coefficient of a constant column: a larger constant
    makes the penalty smaller and the solver slower. With this one the penalty changes the slope at c by at most
    1 / 20,000 (l1) or c / 90,000 (l2), and the objective by about 1e-7."""
    return max(10.0, 20_000.0 * ask.l1) if ask.l1 else max(1.0, 300.0 * np.sqrt(ask.l2))


# Regression


def regression(module: str, iterations: int, **fixed):
    """scikit-learn, celer and skglm have the same class and parameter names."""

    def fit(A, b, ask, tol):
        package = __import__(module, fromlist=["Lasso"])
        common = dict(fit_intercept=ask.intercept, tol=tol, max_iter=iterations, **fixed)
        if ask.l2 == 0:
            return fitted(package.Lasso(ask.l1, **common).fit(A, b))
        alpha, ratio = mixed(ask)
        return fitted(package.ElasticNet(alpha, l1_ratio=ratio, **common).fit(A, b))

    return fit


peer("sklearn", "lasso enet", -1, -12)(regression("sklearn.linear_model", ENDLESS))
peer("celer", "lasso enet", -1, -12)(regression("celer", ROUNDS))
peer("skglm", "lasso enet", -1, -11)(regression("skglm", ROUNDS))


@peer("sklearn-gram", "lasso enet", -1, -12)
def sklearn_gram(A, b, ask, tol):
    if not isinstance(A, np.ndarray) or A.shape[0] < A.shape[1]:
        raise Unable("its Gram matrix is used for dense data with n > d only")
    return regression("sklearn.linear_model", ENDLESS, precompute=True)(A, b, ask, tol)


# Regression and logistic regression


def adelie_path(A, b, ask, tol, lambdas, alpha):
    """Coefficients, sparse, a column for each lambda, and intercepts."""
    import adelie

    if not isinstance(A, np.ndarray):
        A = adelie.matrix.sparse(A, method="naive", n_threads=ask.threads)
    glm = adelie.glm.binomial((b > 0).astype(float)) if "logistic" in ask.model else adelie.glm.gaussian(b)
    state = adelie.grpnet(
        A, glm, lmda_path=lambdas, alpha=alpha, intercept=ask.intercept, tol=tol, irls_tol=tol, early_exit=False,
        n_threads=ask.threads, progress_bar=False, max_iters=ENDLESS,
    )  # fmt: skip
    return state.betas.T, state.intercepts


def adelie_fit(A, b, ask, tol, points=1):
    alpha, ratio = mixed(ask)
    coefs, intercepts = adelie_path(A, b, ask, tol, down_to(alpha, ask, points), ratio)
    return coefs[:, [-1]].toarray().ravel(), float(intercepts[-1])


def glmnet_path(A, b, ask, tol, lambdas, alpha):
    """Coefficients, a column for each lambda, and intercepts."""
    import glmnet

    kind = glmnet.LogitNet if "logistic" in ask.model else glmnet.ElasticNet
    model = kind(
        alpha=alpha, lambda_path=lambdas, standardize=False, fit_intercept=ask.intercept, n_splits=0, tol=tol,
        max_iter=ENDLESS,
    )  # fmt: skip
    model.fit(A, b)
    coefs = model.coef_path_
    return coefs[0] if coefs.ndim == 3 else coefs, np.ravel(model.intercept_path_)


def glmnet_fit(A, b, ask, tol, points=1):
    l2 = ask.l2 * (np.std(b) if ask.model == "enet" else 1)  # it divides b, and in effect l2, by the deviation of b
    lambdas = down_to(ask.l1 + l2, ask, points)
    coefs, intercepts = glmnet_path(A, b, ask, tol, lambdas, ask.l1 / (ask.l1 + l2))
    return coefs[:, -1], float(intercepts[-1])


def down_to(last: float, ask: Ask, points: int) -> np.ndarray:
    """A decreasing sequence of lambdas from the maximum, as the manuals advise; some logistic problems need it."""
    return np.geomspace(last / ask.strength, last, points) if points > 1 else np.array([last])


def by_path(fit):
    """Five lambdas a decade."""
    return lambda A, b, ask, tol: fit(A, b, ask, tol, 2 + int(5 * np.log10(1 / ask.strength)))


GLM = "lasso enet l1_logistic enet_logistic"
peer("adelie", GLM, -3, -16)(adelie_fit)
peer("adelie-path", GLM, -3, -16)(by_path(adelie_fit))
peer("glmnet", GLM, -3, -16)(glmnet_fit)
peer("glmnet-path", GLM, -3, -16)(by_path(glmnet_fit))


@peer("glum", "lasso enet l1_logistic l2_logistic enet_logistic", -1, -11)
def glum(A, b, ask, tol):
    from glum import GeneralizedLinearRegressor

    logistic = "logistic" in ask.model
    alpha, ratio = mixed(ask)
    model = GeneralizedLinearRegressor(
        alpha=alpha, l1_ratio=ratio, family="binomial" if logistic else "normal", fit_intercept=ask.intercept,
        gradient_tol=tol, max_iter=ENDLESS,
    )  # fmt: skip
    return fitted(model.fit(A, (b > 0).astype(float) if logistic else b))


# cyanure. It allocates memory in proportion to max_iter, so that cannot be huge. Its "auto" may choose MISO, which with
# l1 and l2 together converges to another point; two of its other solvers are used instead. "active" uses a working set
# above 1,000 features.


def cyanure(kind: str, penalty: str | None, **fixed):
    def fit(A, b, ask, tol):
        import cyanure.estimators

        common = {"tol": tol, "fit_intercept": ask.intercept, "n_threads": ask.threads}
        if penalty:
            common["penalty"] = penalty
        if penalty == "elasticnet":
            common["lambda_2"] = ask.l2
        model = getattr(cyanure.estimators, kind)(
            lambda_1=ask.l1 or ask.l2, max_iter=100_000, verbose=False, **common, **fixed
        )
        return fitted(model.fit(A, b))

    return fit


peer("cyanure", "lasso", -1, -11)(cyanure("Regression", "l1"))
peer("cyanure-active", "lasso", -1, -11)(cyanure("Lasso", None))
peer("cyanure-ista", "enet", -1, -11)(cyanure("Regression", "elasticnet", solver="qning-ista"))
peer("cyanure-svrg", "enet", -1, -11)(cyanure("Regression", "elasticnet", solver="svrg"))
peer("cyanure", "l1_logistic", -1, -11)(cyanure("Classifier", "l1", loss="logistic"))
peer("cyanure-active", "l1_logistic", -1, -11)(cyanure("L1Logistic", None))
peer("cyanure", "l2_logistic", -1, -11)(cyanure("Classifier", "l2", loss="logistic"))
peer("cyanure-ista", "enet_logistic", -1, -11)(
    cyanure("Classifier", "elasticnet", loss="logistic", solver="qning-ista")
)
peer("cyanure-svrg", "enet_logistic", -1, -11)(cyanure("Classifier", "elasticnet", loss="logistic", solver="svrg"))
peer("cyanure", "l1_squared_hinge", -1, -11)(cyanure("Classifier", "l1", loss="sqhinge"))
peer("cyanure", "l2_squared_hinge", -1, -11)(cyanure("Classifier", "l2", loss="sqhinge"))


# Logistic regression: sums over samples, so C = 1 / (n l1) or 1 / (n l2)


def sklearn_logistic(solver: str, dual: bool = False):
    def fit(A, b, ask, tol):
        from sklearn.linear_model import LogisticRegression

        alpha, ratio = mixed(ask)
        scaling = intercept_scaling(ask) if solver == "liblinear" else 1
        model = LogisticRegression(
            solver=solver, C=1 / (A.shape[0] * alpha), l1_ratio=ratio, dual=dual, fit_intercept=ask.intercept,
            intercept_scaling=scaling, tol=tol, max_iter=ENDLESS, random_state=0,
        )  # fmt: skip
        return fitted(model.fit(A, b))

    return fit


peer("liblinear", "l1_logistic l2_logistic", 0, -10)(sklearn_logistic("liblinear"))
peer("liblinear-dual", "l2_logistic", 0, -10)(sklearn_logistic("liblinear", dual=True))
peer("saga", "l1_logistic l2_logistic enet_logistic", 0, -9)(sklearn_logistic("saga"))
peer("lbfgs", "l2_logistic", 0, -10)(sklearn_logistic("lbfgs"))
peer("newton-cg", "l2_logistic", 0, -10)(sklearn_logistic("newton-cg"))
peer("newton-cholesky", "l2_logistic", 0, -10)(sklearn_logistic("newton-cholesky"))


@peer("celer", "l1_logistic", -1, -12)
def celer_logistic(A, b, ask, tol):
    from celer import LogisticRegression

    without_intercept(ask)
    return fitted(LogisticRegression(1 / (A.shape[0] * ask.l1), tol=tol, max_iter=ROUNDS).fit(A, b))


@peer("skglm", "l1_logistic enet_logistic", -1, -11)
def skglm_logistic(A, b, ask, tol):
    from skglm import SparseLogisticRegression

    model = SparseLogisticRegression(*mixed(ask), tol=tol, max_iter=ROUNDS, fit_intercept=ask.intercept)
    return fitted(model.fit(A, b))


# snapml. Its intercept is the coefficient of a scaled constant column. Its primal solvers fit it and then return 0, so
# here the column is added to the data (within the measured time), as a user would do.


def snapml(kind: str, strength: float, scaling: float, ask: Ask, tol: float, A, b, **fixed):
    import snapml

    by_hand = ask.intercept and fixed.get("dual") is False
    if by_hand:
        A = with_constant(A, scaling)
    model = getattr(snapml, kind)(
        regularizer=strength, tol=tol, fit_intercept=ask.intercept and not by_hand, intercept_scaling=scaling,
        max_iter=ENDLESS, n_jobs=ask.threads, random_state=0, **fixed,
    )  # fmt: skip
    x, intercept = fitted(model.fit(A, b))
    return (x[:-1], scaling * x[-1]) if by_hand else (x, scaling * intercept)


def with_constant(A, value: float):
    column = np.full((A.shape[0], 1), value)
    if isinstance(A, np.ndarray):
        return np.hstack([A, column])
    from scipy.sparse import hstack

    return hstack([A, column], format="csr")


def snapml_logistic(dual: bool):
    def fit(A, b, ask, tol):
        strength, penalty = A.shape[0] * (ask.l1 + ask.l2), "l1" if ask.l1 else "l2"
        scaling = intercept_scaling(ask)
        return snapml("LogisticRegression", strength, scaling, ask, tol, A, b, dual=dual, penalty=penalty)

    return fit


peer("snapml", "l1_logistic", 0, -10)(snapml_logistic(False))
peer("snapml-primal", "l2_logistic", 0, -10)(snapml_logistic(False))
peer("snapml-dual", "l2_logistic", 0, -10)(snapml_logistic(True))


# Support vector machines. The peers' squared hinge and L2 penalty lack the factor 1/2 of ours.


@peer("snapml", "hinge l2_squared_hinge", 0, -12)
def snapml_svm(A, b, ask, tol):
    half, loss = (1, "hinge") if ask.model == "hinge" else (2, "squared_hinge")
    strength = half * A.shape[0] * ask.l2
    return snapml("SupportVectorMachine", strength, intercept_scaling(ask), ask, tol, A, b, loss=loss)


def linear_svc(dual: bool):
    def fit(A, b, ask, tol):
        from sklearn.svm import LinearSVC

        half, loss = (1, "hinge") if ask.model == "hinge" else (2, "squared_hinge")
        model = LinearSVC(
            loss=loss, penalty="l1" if ask.l1 else "l2", dual=dual, C=1 / (half * A.shape[0] * (ask.l1 + ask.l2)),
            fit_intercept=ask.intercept, intercept_scaling=intercept_scaling(ask), tol=tol, max_iter=ENDLESS,
            random_state=0,
        )  # fmt: skip
        return fitted(model.fit(A, b))

    return fit


peer("LinearSVC-dual", "hinge l2_squared_hinge", 0, -10)(linear_svc(True))
peer("LinearSVC-primal", "l1_squared_hinge l2_squared_hinge", 0, -10)(linear_svc(False))


@peer("skglm", "hinge", -1, -11)
def skglm_svc(A, b, ask, tol):
    from skglm import LinearSVC

    without_intercept(ask)
    return fitted(LinearSVC(1 / (A.shape[0] * ask.l2), tol=tol, max_iter=ROUNDS, fit_intercept=False).fit(A, b))


# Smooth hinge with l1 and l2: no peer has it. skglm accepts it as a user-defined loss; SciPy minimises it with
# variables split into positive and negative parts, as in textbooks.


@peer("skglm-custom", "smooth_hinge", -1, -11)
def skglm_smooth_hinge(A, b, ask, tol):
    from skglm import GeneralizedLinearEstimator
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import AndersonCD

    from _peers_smooth_hinge import SmoothHinge

    solver = AndersonCD(max_iter=ROUNDS, tol=tol, fit_intercept=ask.intercept)
    return fitted(GeneralizedLinearEstimator(SmoothHinge(), L1_plus_L2(*mixed(ask)), solver).fit(A, b))


@peer("scipy-lbfgsb", "smooth_hinge", -2, -12)
def scipy_lbfgsb(A, b, ask, tol):
    from scipy.optimize import minimize

    n, d = A.shape

    def objective(z):
        x = z[:d] - z[d : 2 * d]
        short = 1 - b * (A @ x + (z[-1] if ask.intercept else 0.0))
        corner = np.clip(short, 0, 1)
        slopes = -b * corner / n
        gradient = A.T @ slopes + ask.l2 * x
        value = (corner * (short - corner / 2)).sum() / n + ask.l1 * z[: 2 * d].sum() + ask.l2 / 2 * (x @ x)
        return value, np.concatenate([gradient + ask.l1, ask.l1 - gradient, [slopes.sum()] * ask.intercept])

    bounds = [(0, None)] * (2 * d) + [(None, None)] * ask.intercept
    options = {"maxiter": ENDLESS, "maxfun": ENDLESS, "ftol": 1e-3 * tol, "gtol": tol}
    start = np.zeros(2 * d + ask.intercept)
    z = minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options).x
    return z[:d] - z[d : 2 * d], float(z[-1]) if ask.intercept else 0.0


# Paths: (A, b, ask, tol, l1s), l1s decreasing, no intercept. Returns coefficients, a column for each l1, sparse or
# dense.

PATHS: dict[str, dict[str, Peer]] = {}


def path(name: str, models: str, loosest: int, tightest: int):
    def register(fit):
        tols = [10.0**k for k in range(loosest, tightest - 1, -1)]
        for model in models.split():
            PATHS.setdefault(model, {})[name] = Peer(fit, tols)
        return fit

    return register


@path("celer", "lasso l1_logistic", -2, -12)
def celer_path(A, b, ask, tol, l1s):
    from celer import celer_path

    kind = {"pb": "lasso"} if ask.model == "lasso" else {"pb": "logreg", "use_PN": True}
    alphas = l1s * (1 if ask.model == "lasso" else A.shape[0])
    return celer_path(A, b, alphas=alphas, tol=tol, max_iter=ROUNDS, **kind)[1]


@path("sklearn", "lasso", -2, -12)
def sklearn_path(A, b, ask, tol, l1s):
    from sklearn.linear_model import lasso_path

    return lasso_path(A, b, alphas=l1s, tol=tol, max_iter=ENDLESS)[1]


def one_by_one(fit):
    def path(A, b, ask, tol, l1s):
        return np.stack([fit(A, b, ask._replace(l1=l1), tol)[0] for l1 in l1s], axis=1)

    return path


path("liblinear-loop", "l1_logistic", -1, -9)(one_by_one(sklearn_logistic("liblinear")))


@path("skglm", "lasso", -2, -11)
def skglm_path(A, b, ask, tol, l1s):
    from skglm import Lasso

    return Lasso(tol=tol, max_iter=ROUNDS, fit_intercept=False).path(A, b, l1s)[1]


@path("skglm-loop", "l1_logistic", -2, -11)
def skglm_loop(A, b, ask, tol, l1s):
    from skglm import SparseLogisticRegression

    model = SparseLogisticRegression(tol=tol, max_iter=ROUNDS, fit_intercept=False, warm_start=True)
    return np.stack([fitted(model.set_params(alpha=l1).fit(A, b))[0] for l1 in l1s], axis=1)


path("adelie", "lasso l1_logistic", -4, -16)(lambda *asked: adelie_path(*asked, 1.0)[0])
path("glmnet", "lasso l1_logistic", -4, -16)(lambda *asked: glmnet_path(*asked, 1.0)[0])

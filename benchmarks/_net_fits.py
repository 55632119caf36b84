"""Peers' fits for the models that only the wider net has: ridge, Poisson and support vector regression. See
_peers_fits.py for the conventions."""

from __future__ import annotations

from _peers_fits import ENDLESS, EPSILON, ROUNDS, fitted, peer, without_intercept


def ridge(solver: str):
    def fit(A, b, ask, tol):
        from sklearn.linear_model import Ridge

        alpha = A.shape[0] * ask.l2  # its loss is a sum, without the factor 1/2
        return fitted(Ridge(alpha, fit_intercept=ask.intercept, solver=solver, tol=tol, max_iter=100_000).fit(A, b))

    return fit


peer("sklearn-cholesky", "ridge", -1, -1)(ridge("cholesky"))  # exact: it has no tolerance
peer("sklearn-auto", "ridge", -1, -13)(ridge("auto"))
peer("sklearn-sparse_cg", "ridge", -1, -13)(ridge("sparse_cg"))
peer("sklearn-lsqr", "ridge", -1, -13)(ridge("lsqr"))
peer("sklearn-sag", "ridge", -1, -10)(ridge("sag"))


def poisson(solver: str):
    def fit(A, b, ask, tol):
        from sklearn.linear_model import PoissonRegressor

        model = PoissonRegressor(
            alpha=ask.l2, fit_intercept=ask.intercept, solver=solver, tol=tol, max_iter=100_000
        )  # fmt: skip
        return fitted(model.fit(A, b))

    return fit


peer("sklearn-lbfgs", "l2_poisson", -1, -10)(poisson("lbfgs"))
peer("sklearn-cholesky", "l2_poisson", -1, -10)(poisson("newton-cholesky"))


@peer("glum", "l1_poisson l2_poisson", -1, -11)
def glum_poisson(A, b, ask, tol):
    from glum import GeneralizedLinearRegressor

    alpha = ask.l1 + ask.l2
    model = GeneralizedLinearRegressor(
        alpha=alpha, l1_ratio=ask.l1 / alpha, family="poisson", fit_intercept=ask.intercept, gradient_tol=tol,
        max_iter=ROUNDS,
    )  # fmt: skip
    return fitted(model.fit(A, b))


@peer("adelie", "l1_poisson", -3, -14)
def adelie_poisson(A, b, ask, tol):
    import adelie
    import numpy as np

    if not isinstance(A, np.ndarray):
        A = adelie.matrix.sparse(A, method="naive", n_threads=ask.threads)
    state = adelie.grpnet(
        A, adelie.glm.poisson(b), lmda_path=np.array([ask.l1]), intercept=ask.intercept, tol=tol, irls_tol=tol,
        early_exit=False, n_threads=ask.threads, progress_bar=False, max_iters=ENDLESS,
    )  # fmt: skip
    return state.betas[-1].toarray().ravel(), float(state.intercepts[-1])


@peer("skglm", "l1_poisson", -1, -11)
def skglm_poisson(A, b, ask, tol):
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Poisson
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton

    solver = ProxNewton(max_iter=ROUNDS, tol=tol, fit_intercept=ask.intercept)
    return fitted(GeneralizedLinearEstimator(Poisson(), L1(ask.l1), solver).fit(A, b))


def linear_svr(loss: str, dual: bool):
    def fit(A, b, ask, tol):
        from sklearn.svm import LinearSVR

        without_intercept(ask)
        half = 1 if loss == "epsilon_insensitive" else 2
        model = LinearSVR(
            loss=loss, epsilon=EPSILON, C=1 / (half * A.shape[0] * ask.l2), dual=dual, fit_intercept=False, tol=tol,
            max_iter=ENDLESS, random_state=0,
        )  # fmt: skip
        return fitted(model.fit(A, b))

    return fit


peer("LinearSVR-dual", "svr", 0, -10)(linear_svr("epsilon_insensitive", True))
peer("LinearSVR-dual", "l2_svr", 0, -10)(linear_svr("squared_epsilon_insensitive", True))
peer("LinearSVR-primal", "l2_svr", 0, -10)(linear_svr("squared_epsilon_insensitive", False))

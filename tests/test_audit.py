"""Audits of fitted models: the right objective, a bound that holds, and what the optimum would change."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as lm
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import southwell as sw

X, Y = load_diabetes(return_X_y=True, as_frame=True)
A, ILL = load_breast_cancer(return_X_y=True)
A = scale(A)
IRIS, KIND = load_iris(return_X_y=True)
COUNTS = np.floor(Y / 20)
SIGNS = np.where(ILL == 1, 1.0, -1.0)


def mean_square(m):
    return ((Y - m.predict(X)) ** 2).mean() / 2


def margins(m):
    return SIGNS * (A @ m.coef_[0] + m.intercept_)


def pinball(m):
    r = Y - m.predict(X)
    return np.maximum(0.3 * r, -0.7 * r).mean()


def logistic(m):
    return np.logaddexp(0, -margins(m)).mean()


def hinges(m):
    return np.maximum(0, 1 - margins(m))


def squares(m):
    return (m.coef_**2).sum()


def softmax(m):
    s = IRIS @ m.coef_.T + m.intercept_
    return (np.logaddexp.reduce(s, axis=1) - s[np.arange(150), KIND]).mean()


# What scikit-learn's documentation says that each of them minimises, divided so that the loss is a mean.
OBJECTIVES = [
    (lm.Lasso(0.1), X, Y, lambda m: mean_square(m) + 0.1 * abs(m.coef_).sum()),
    (lm.LassoCV(n_alphas=5) if "n_alphas" in lm.LassoCV().get_params() else lm.LassoCV(alphas=5), X, Y,
     lambda m: mean_square(m) + m.alpha_ * abs(m.coef_).sum()),
    (lm.ElasticNet(0.2, l1_ratio=0.3), X, Y, lambda m: mean_square(m) + 0.06 * abs(m.coef_).sum() + 0.07 * squares(m)),
    (lm.Lasso(0.1, positive=True, fit_intercept=False), X, Y, lambda m: mean_square(m) + 0.1 * abs(m.coef_).sum()),
    (lm.Ridge(2.0), X, Y, lambda m: mean_square(m) + squares(m) / 442),
    (lm.LinearRegression(), X, Y, mean_square),
    (lm.QuantileRegressor(quantile=0.3, alpha=0.02), X, Y, lambda m: pinball(m) + 0.02 * abs(m.coef_).sum()),
    (lm.PoissonRegressor(alpha=0.3), X, COUNTS,
     lambda m: (m.predict(X) - COUNTS * np.log(m.predict(X))).mean() + 0.15 * squares(m)),
    (lm.LogisticRegression(C=0.7), A, ILL, lambda m: logistic(m) + squares(m) / 2 / 0.7 / 569),
    (lm.LogisticRegression(C=0.1, l1_ratio=0.5, solver="saga", penalty="elasticnet", max_iter=3000), A, ILL,
     lambda m: logistic(m) + (squares(m) / 4 + abs(m.coef_).sum() / 2) / 0.1 / 569),
    (lm.LogisticRegression(solver="liblinear", intercept_scaling=2.0), A, ILL,
     lambda m: logistic(m) + (squares(m) + (m.intercept_[0] / 2) ** 2) / 2 / 569),
    (lm.LogisticRegression(C=2.0), IRIS, KIND, lambda m: softmax(m) + squares(m) / 2 / 2.0 / 150),
    (svm.LinearSVC(C=0.3), A, ILL,
     lambda m: (hinges(m) ** 2).mean() / 2 + (squares(m) + m.intercept_[0] ** 2) / 4 / 0.3 / 569),
    (svm.LinearSVC(loss="hinge", fit_intercept=False), A, ILL, lambda m: hinges(m).mean() + squares(m) / 2 / 569),
    (svm.LinearSVR(epsilon=3.0, random_state=0, max_iter=100_000), X, Y,
     lambda m: np.maximum(abs(Y - m.predict(X)) - 3, 0).mean() + (squares(m) + m.intercept_[0] ** 2) / 2 / 442),
    (lm.SGDClassifier(random_state=0), A, ILL, lambda m: hinges(m).mean() + 0.5e-4 * squares(m)),
    (lm.SGDClassifier("log_loss", penalty="l1", random_state=0), A, ILL,
     lambda m: logistic(m) + 1e-4 * abs(m.coef_).sum()),
    (lm.SGDRegressor(random_state=0), X, Y, lambda m: mean_square(m) + 0.5e-4 * squares(m)),
]  # fmt: skip


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated parameters, and of those who end early
        return model.fit(X, y)


@pytest.mark.parametrize(("model", "X", "y", "objective"), OBJECTIVES, ids=[str(case[0])[:60] for case in OBJECTIVES])
def test_the_objective_is_the_one_that_was_minimised(model, X, y, objective):
    model = fitted(model, X, y)
    report = sw.audit(model, X, y)
    assert report.objective == pytest.approx(objective(model), rel=1e-9)
    unit = max(abs(report.objective), 1.0)
    assert report.bound - 1e-12 * unit <= report.best <= report.objective + 1e-12 * unit
    assert 0 <= report.gap == pytest.approx(max(report.objective - report.bound, 0), abs=1e-15)
    assert report.best - report.bound <= 2e-8 * unit  # so the gap is that of the model
    assert report.n_features == X.shape[1] and report.n_samples == len(y)


def test_a_poor_model_is_told_what_it_lacks():
    model = lm.SGDClassifier(random_state=0).fit(A, ILL)
    report = sw.audit(model, A, ILL)
    best = sw.solve(A, ILL, loss="hinge", l2=1e-4, intercept=True, tol=1e-10)
    assert report.gap == pytest.approx(report.objective - best.primal, rel=1e-4) and report.relative_gap > 0.05
    flips = (best.predict(A) != model.predict(A)).sum()
    assert abs(report.changed - flips) <= 1 and report.predictions == "labels"
    j = np.argmax(abs(best.x - model.coef_[0]))
    assert report.largest_change[0] == f"feature {j}" and report.largest_change[1] == model.coef_[0, j]
    assert report.largest_change[2] == pytest.approx(best.x[j], rel=1e-2)
    np.testing.assert_allclose(report.coefficients[:, 0], best.x, atol=2e-2 * abs(best.x).max())


def test_the_bound_of_a_hinge_is_far_better_than_from_coefficients_alone():
    model = fitted(svm.LinearSVC(loss="hinge", fit_intercept=False, tol=1e-6, max_iter=100_000, random_state=0), A, ILL)
    problem = sw.Problem(A, ILL, "hinge", sw.penalties.ElasticNet(l2=1 / 569))
    alone = problem.certify(model.coef_[0])
    assert sw.audit(model, A, ILL).gap < 0.01 * alone.gap


def test_optimal_models_have_no_gap():
    for model in (sw.Lasso(0.1, tol=1e-12), sw.GroupLasso(np.arange(10) // 2, alpha=0.1, tol=1e-12)):
        assert sw.audit(model.fit(X, Y), X, Y).relative_gap < 1e-8
    for model in (sw.LogisticRegression(multi_class="ovr", tol=1e-12), sw.LinearSVC("l1", C=0.1, tol=1e-12)):
        report = sw.audit(model.fit(IRIS, KIND), IRIS, KIND)
        assert report.relative_gap < 1e-7 and report.n_problems == 3 and report.changed <= 1


def test_pipelines_names_weights_and_sparse_data():
    weights = np.arange(1.0, 443)
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), lm.Lasso(5.0))
    pipe.fit(X, Y, lasso__sample_weight=weights)
    report = sw.audit(pipe, X, Y, sample_weight=weights)
    assert report.relative_gap < 1e-4 and report.largest_change[0] in X.columns
    assert sw.audit(pipe, X, Y).relative_gap > 10 * report.relative_gap  # for the weights, not without
    dense, sparse = (sw.audit(svm.LinearSVC(random_state=0).fit(data, ILL), data, ILL) for data in (A, sp.csr_array(A)))
    assert dense.objective == pytest.approx(sparse.objective, rel=1e-3)


def test_coefficients_with_their_problem():
    r = sw.solve(A, ILL, loss="logistic", l1=0.01, intercept=True, tol=1e-10)
    report = sw.audit(r.x, A, ILL, loss="logistic", l1=0.01, intercept=r.intercept)
    assert report.relative_gap < 1e-8 and report.objective == pytest.approx(r.primal, rel=1e-12)
    worse = sw.audit(r.x * 0.9, A, ILL, loss="logistic", l1=0.01, intercept=r.intercept)
    assert worse.gap > 1e-5 and worse.largest_change[1] == pytest.approx(0.9 * worse.largest_change[2], rel=1e-3)
    table = sw.solve(IRIS, KIND, loss="softmax", l2=0.1)
    assert sw.audit(table.x, IRIS, KIND, loss="softmax", l2=0.1).relative_gap < 1e-5


def test_an_interrupted_comparison_keeps_its_bound():
    model = lm.SGDClassifier(random_state=0).fit(A, ILL)
    full, short = sw.audit(model, A, ILL), sw.audit(model, A, ILL, tol=0.5)
    assert short.bound <= full.best * (1 + 1e-12) and short.gap >= full.gap * (1 - 1e-6)


def test_a_report_has_three_forms():
    report = sw.audit(lm.SGDRegressor(random_state=0).fit(X, Y), X, Y)
    kept = json.loads(json.dumps(report.to_dict()))
    assert kept["relative_gap"] == report.relative_gap and "coefficients" not in kept
    for text in (str(report), report._repr_html_()):
        assert "Audit of sklearn" in text and "SGDRegressor" in text and f"{report.bound:.9g}" in text
    assert "<table>" in report._repr_html_() and report.predictions == "numbers"


@pytest.mark.parametrize(
    ("work", "error", "match"),
    [
        (lambda: sw.audit(np.ones(10), X, Y), TypeError, "Coefficients say nothing of their objective"),
        (lambda: sw.audit(lm.Lasso(), X, Y), NotFittedError, "not fitted"),
        (lambda: sw.audit(KNeighborsClassifier().fit(A, ILL), A, ILL), TypeError, "has no coef_"),
        (lambda: sw.audit(svm.SVC().fit(A, ILL), A, ILL), TypeError, "kernel='linear'"),
        (lambda: sw.audit(lm.TheilSenRegressor(random_state=0, max_subpopulation=50).fit(X, Y), X, Y), TypeError,
         "do not say which convex objective"),
        (lambda: sw.audit(lm.SGDClassifier("perceptron").fit(A, ILL), A, ILL), TypeError, "with loss='perceptron'"),
        (lambda: sw.audit(lm.Lasso().fit(X, Y), X, Y, l1=0.1), TypeError, "belong to coefficients"),
        (lambda: sw.audit(lm.Lasso().fit(X, Y), X.iloc[:, :4], Y), ValueError, "X has 4 features; the model, 10"),
        (lambda: sw.audit(lm.LogisticRegression().fit(A, ILL), A, ILL + 1), ValueError, "labels in y must be those"),
        (lambda: sw.audit(np.ones(3), X, Y, loss="squared"), ValueError, "must have 10 entries"),
        (lambda: sw.audit(lm.Lasso().fit(X, Y), X, Y, tol=0), ValueError, "tol must be > 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_audited_is_refused(work, error, match):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.raises(error, match=match):
            work()


@pytest.mark.slow  # skglm and celer compile for some time
@pytest.mark.parametrize("library", ["celer", "skglm", "glum"])
def test_models_of_other_libraries(library):
    module = pytest.importorskip(library)
    if library == "celer":
        cases = [(module.Lasso(alpha=0.1, tol=1e-10), X, Y),
                 (module.LogisticRegression(C=0.1, tol=1e-10), A, ILL)]  # fmt: skip
    elif library == "skglm":
        cases = [(module.Lasso(alpha=0.1, tol=1e-10), X, Y),
                 (module.SparseLogisticRegression(alpha=0.01, tol=1e-10, fit_intercept=False), A, ILL)]  # fmt: skip
    else:
        glm = module.GeneralizedLinearRegressor
        cases = [(glm(family="normal", alpha=0.1, l1_ratio=0.5, gradient_tol=1e-9), X, Y),
                 (glm(family="poisson", alpha=0.1, gradient_tol=1e-9), X, COUNTS),
                 (glm(family="binomial", alpha=0.01, gradient_tol=1e-9), A, ILL)]  # fmt: skip
    for model, data, y in cases:
        model = fitted(model, np.asfortranarray(data), np.asarray(y))
        assert sw.audit(model, np.asarray(data), np.asarray(y)).relative_gap < 1e-6

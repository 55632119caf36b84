"""Parameters, attributes and their shapes are those of scikit-learn's classes of the same name, automatically."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import linear_model, svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.preprocessing import scale

import southwell as sw
from estimator_data import suitable
from southwell import estimators

THEIRS = {name: getattr(linear_model, name, None) or getattr(svm, name, None) for name in estimators.ALL}
THEIRS = {name: kind for name, kind in THEIRS.items() if kind is not None}

# Defaults that differ, and why.
OWN = {
    "tol": "the tolerance of a gap",
    "max_iter": "rounds, of which a gap needs more",
    "solver": "the method is chosen by the problem; the names of scikit-learn's solvers are taken",
    "penalty": "theirs is 'deprecated', which says the same as our 'auto'",
    "scoring": "theirs is 'warn', which means None",
    "l1_ratios": "theirs is 'warn', which means None",
    "use_legacy_attributes": "theirs is 'warn', which means True; our 'auto' is what theirs does",
}
# Attributes of a solver.
INTERNAL = {"solver_": "the name of the solver"}


def data(name, several):
    if name.startswith(("Logistic", "LinearSVC")):
        X, y = load_iris(return_X_y=True) if several else load_breast_cancer(return_X_y=True)
        return scale(X), y
    X, y = load_diabetes(return_X_y=True)
    y = suitable(getattr(sw, name), (y - y.mean()) / y.std())
    return 10 * X, np.column_stack([y, y[::-1]]) if several and y.ndim == 1 else y


def fitted(kind, X, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**{name: value for name, value in given.items() if name in kind().get_params()}).fit(X, y)


def several_targets(name):
    return name.startswith(("Logistic", "LinearSVC", "MultiTask")) or name in ("Lasso", "ElasticNet", "Ridge")


def described(value):
    """The type, the shape and the dtype of an attribute; of lists and dicts, those of what they hold."""
    if sp.issparse(value):
        return type(value).__name__, value.shape, value.dtype
    if isinstance(value, dict):
        return "dict", {key: described(one) for key, one in value.items()}
    if isinstance(value, list):
        return "list", [described(one) for one in value]
    if isinstance(value, np.ndarray):
        return "array", value.shape, value.dtype.kind
    return "number" if isinstance(value, int | float | np.number) else type(value).__name__


def says_nothing(value):
    """None stands where a solver has no iterations, or no share was given; ours has the number."""
    return value is None or (isinstance(value, np.ndarray) and value.dtype == object and not value.astype(bool).any())


def attributes(model):
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_") and not name.endswith("__")]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


CASES = [
    pytest.param(name, several, form, intercept, id=f"{name}-{several}-{form.__name__}-{intercept}")
    for name in THEIRS
    for several in (False, True)
    for form in (np.asarray, sp.csr_matrix)
    for intercept in (True, False)
    if (several_targets(name) or not several)
    and not (name.startswith("MultiTask") and (several or form is not np.asarray))
]


@pytest.mark.parametrize(("name", "several", "form", "intercept"), CASES)
def test_attributes_and_their_shapes(name, several, form, intercept):
    X, y = data(name, several)
    given = {"cv": 3, "alphas": 5, "Cs": 4, "fit_intercept": intercept}
    if "alphas" in given and not hasattr(sklearn, "callback"):
        given.pop("alphas")
    ours, theirs = fitted(getattr(sw, name), form(X), y, **given), fitted(THEIRS[name], form(X), y, **given)
    own, wanted = attributes(ours), attributes(theirs)
    assert wanted.keys() - own.keys() - INTERNAL.keys() == set()
    for attribute, value in wanted.items():
        if attribute not in INTERNAL and not says_nothing(value):
            assert described(own[attribute]) == described(value), attribute
    assert np.shape(ours.predict(form(X))) == np.shape(theirs.predict(form(X)))


@pytest.mark.parametrize("name", THEIRS)
def test_parameters_and_their_defaults(name):
    ours, theirs = (inspect.signature(kind).parameters for kind in (getattr(sw, name), THEIRS[name]))
    assert theirs.keys() <= ours.keys()
    for parameter, stated in theirs.items():
        if parameter not in OWN:
            assert ours[parameter].default == stated.default, parameter
        assert ours[parameter].kind == stated.kind, parameter
    for method in ("fit", "predict", "score"):
        own, wanted = (
            inspect.signature(getattr(kind, method)).parameters for kind in (getattr(sw, name), THEIRS[name])
        )
        assert wanted.keys() <= own.keys(), method
    public = {method for method in dir(THEIRS[name]) if not method.startswith("_")} - {"param"}  # a stray loop variable
    assert public - set(dir(getattr(sw, name))) == set()


@pytest.mark.parametrize(
    "model",
    [
        sw.LogisticRegression(l1_ratio=1.0, C=0.1), sw.LogisticRegression(), sw.LogisticRegression("l1", C=0.1),
        sw.LogisticRegressionCV(l1_ratios=[1.0], Cs=3, cv=3), sw.LinearSVC("l1", C=0.01), sw.LinearSVC(),
        sw.SparseLinearClassifier(l1=0.01), sw.SparseLinearClassifierCV(l1s=3, cv=3),
    ],
    ids=str,
)  # fmt: skip
def test_features_are_selected(model):
    X, y = data("LogisticRegression", False)
    chosen = SelectFromModel(model).fit(X, y)
    coef = np.abs(chosen.estimator_.coef_).ravel()
    sparse = (coef == 0).any() and not isinstance(model, sw.SparseLinearClassifier | sw.SparseLinearClassifierCV)
    assert np.array_equal(chosen.get_support(), coef >= (1e-5 if sparse else coef.mean()))
    for kind in (sw.Lasso(alpha=0.1), sw.ElasticNetCV(l1_ratio=[1.0], alphas=5), sw.Ridge()):
        assert SelectFromModel(kind).fit(*data("Lasso", False)).get_support().any()


# What a fitted model holds


@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize("samples", [500, 5000])
def test_a_fitted_model_is_as_small_as_scikit_learns(name, samples):
    X, y = data(name, False)
    rows = np.arange(samples) % len(y)
    X, y = X[rows, :3], y[rows]
    few = {"cv": 3, "alphas": 5, "Cs": 3}
    ours, theirs = (len(pickle.dumps(fitted(kind, X, y, **few))) for kind in (getattr(sw, name), THEIRS[name]))
    assert ours <= 2 * theirs


@pytest.mark.parametrize("name", estimators.ALL)
def test_dual_points_are_kept_if_asked_for(name):
    X, y = data(name, False) if name in THEIRS or "Group" in name else data("Lasso", False)
    if "Classifier" in name:
        y = y > 0
    if name == "NegativeBinomialRegressor":
        y = np.round(np.exp(y))
    model = fitted(getattr(sw, name), X, y, cv=3, alphas=5, l1s=3, Cs=3)
    for attribute in ("result_", "dual_coef_", "support_"):
        assert not hasattr(model, attribute)
    with pytest.raises(AttributeError, match="keep_dual=True"):
        _ = model.dual_coef_
    model.set_params(keep_dual=True).fit(X, y)
    results = model.result_ if isinstance(model.result_, list) else [model.result_]
    assert model.dual_coef_.shape[-1] == len(y) and all(len(result.history["gap"]) for result in results)
    model.set_params(keep_dual=False).fit(X, y)
    assert not hasattr(model, "result_")
    with pytest.raises(TypeError, match="keep_dual must be True or False"):
        model.set_params(keep_dual="no").fit(X, y)


# The functions for paths


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
def test_paths_are_those_of_scikit_learn(several, form):
    X, y = data("Lasso", several)
    X, y = X - X.mean(axis=0), y - y.mean(axis=0)
    for ours, theirs, given in (
        (sw.lasso_path, linear_model.lasso_path, {}),
        (sw.enet_path, linear_model.enet_path, {"l1_ratio": 0.7}),
    ):
        own = ours(form(X), y, alphas=7, tol=1e-9, return_n_iter=True, **given)
        wanted = theirs(form(X), y, alphas=7, tol=1e-9, max_iter=10**5, return_n_iter=True, **given)
        assert [np.shape(one) for one in own] == [np.shape(one) for one in wanted]
        np.testing.assert_allclose(own[0], wanted[0], rtol=1e-8)
        np.testing.assert_allclose(own[1], wanted[1], atol=1e-3)
        assert (own[2] >= 0).all() and own[2].max() <= 1e-8
    assert (sw.Lasso.path(X, y, alphas=[0.1], positive=True)[1] >= 0).all()
    with pytest.raises(ValueError, match="l1_ratio=0"):
        sw.enet_path(X, y, l1_ratio=0.0)

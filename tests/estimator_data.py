"""All estimators, data that they can learn, and cross-validation in little time."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale

import southwell as sw
from southwell import estimators

CLASSES = list(estimators.ALL.values())
REGRESSORS = [c for c in CLASSES if hasattr(c, "predict") and not hasattr(c, "decision_function")]
CLASSIFIERS = [c for c in CLASSES if hasattr(c, "decision_function")]


def quick(kind, **parameters):
    """An estimator; if it cross-validates, over three folds and few strengths: its behaviour does not depend on them.

    One check of scikit-learn has three samples of a class, so scikit-learn too checks its classes with three folds.
    With C = 1e4 two fits of separable classes agree to 2e-7 at best, and some checks ask for 1e-7.
    """
    few = {"cv": 3, "alphas": 10, "l1s": 3, "Cs": (0.01, 1.0)}
    return kind(**{**{name: few[name] for name in few.keys() & kind().get_params().keys()}, **parameters})


def suitable(kind, y):
    """``y`` itself, counts for Poisson and the like, positive numbers for gamma, or two targets for those who
    share features among several."""
    if issubclass(kind, sw.MultiTaskElasticNet | sw.MultiTaskElasticNetCV):
        return np.column_stack([y, np.abs(y)])
    of_counts = (sw.PoissonRegressor, sw.NegativeBinomialRegressor)
    return np.round(np.exp(y)) if issubclass(kind, of_counts) else np.exp(y) if kind is sw.GammaRegressor else y


def numbers():
    X, y = load_diabetes(return_X_y=True)
    return X * 10, (y - y.mean()) / y.std()


def classes():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y

"""Targets that an estimator can learn, from numbers that others can; and cross-validation in little time."""

import numpy as np

import southwell as sw


def quick(kind, **parameters):
    """An estimator; if it cross-validates, over three folds and few strengths: its behaviour does not depend on them.

    One check of scikit-learn has three samples of a class, so scikit-learn too checks its classes with three folds.
    """
    few = {"cv": 3, "alphas": 10, "l1s": 5, "Cs": 5}
    return kind(**{**{name: few[name] for name in few.keys() & kind().get_params().keys()}, **parameters})


def suitable(kind, y):
    """``y`` itself, counts for Poisson, or two targets for those who share features among several."""
    if issubclass(kind, sw.MultiTaskElasticNet):
        return np.column_stack([y, np.abs(y)])
    return np.round(np.exp(y)) if issubclass(kind, sw.PoissonRegressor) else y

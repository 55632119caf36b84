"""Targets that an estimator can learn, from numbers that others can."""

import numpy as np

import southwell as sw


def suitable(kind, y):
    """``y`` itself, counts for Poisson, or two targets for those who share features among several."""
    if issubclass(kind, sw.MultiTaskElasticNet | sw.MultiTaskElasticNetCV):
        return np.column_stack([y, np.abs(y)])
    return np.round(np.exp(y)) if issubclass(kind, sw.PoissonRegressor) else y

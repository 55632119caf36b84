"""The smooth hinge for skglm, which accepts user-defined losses and compiles them at the first fit."""

from __future__ import annotations

import numpy as np
from skglm.datafits.base import BaseDatafit


class SmoothHinge(BaseDatafit):
    """The mean of 0, (1 - bm)^2 / 2 or 1/2 - bm, for bm above 1, between, or below 0."""

    def __init__(self):
        pass

    def get_spec(self):
        return ()

    def params_to_dict(self):
        return {}

    def get_lipschitz(self, X, y):
        return (X**2).sum(axis=0) / len(y)

    def get_lipschitz_sparse(self, X_data, X_indptr, X_indices, y):
        bounds = np.zeros(len(X_indptr) - 1, dtype=X_data.dtype)
        for j in range(len(bounds)):
            for k in range(X_indptr[j], X_indptr[j + 1]):
                bounds[j] += X_data[k] ** 2 / len(y)
        return bounds

    def initialize(self, X, y):
        pass

    def initialize_sparse(self, X_data, X_indptr, X_indices, y):
        pass

    def value(self, y, w, Xw):
        short = 1 - y * Xw
        corner = np.minimum(np.maximum(short, 0.0), 1.0)
        return np.sum(corner * (short - corner / 2)) / len(y)

    def raw_grad(self, y, Xw):
        return -y * np.minimum(np.maximum(1 - y * Xw, 0.0), 1.0) / len(y)

    def gradient_scalar(self, X, y, w, Xw, j):
        return X[:, j] @ self.raw_grad(y, Xw)

    def gradient_scalar_sparse(self, X_data, X_indptr, X_indices, y, Xw, j):
        slope = 0.0
        for k in range(X_indptr[j], X_indptr[j + 1]):
            i = X_indices[k]
            slope -= X_data[k] * y[i] * min(max(1 - y[i] * Xw[i], 0.0), 1.0)
        return slope / len(y)

    def full_grad_sparse(self, X_data, X_indptr, X_indices, y, Xw):
        slopes = np.zeros(len(X_indptr) - 1, dtype=X_data.dtype)
        for j in range(len(slopes)):
            slopes[j] = self.gradient_scalar_sparse(X_data, X_indptr, X_indices, y, Xw, j)
        return slopes

    def intercept_update_step(self, y, Xw):
        return np.sum(self.raw_grad(y, Xw))

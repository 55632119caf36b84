"""Linear models of positive numbers."""

from __future__ import annotations

from .. import losses
from ._means import MeanRegressor


class GammaRegressor(MeanRegressor):
    """A model of positive numbers, ``exp(x'w + c)``, whose standard deviation is in proportion to their mean, with an
    L2 or elastic-net penalty, with a certificate.

    Minimises ``1 / (2 n) sum_i deviance(y_i, exp(x_i'w + c)) + (alpha / 2) ||w||^2`` with the deviance of the gamma
    distribution, as scikit-learn's class of the same name does; with ``l1_ratio``, a share of alpha is L1.

    Parameters
    ----------
    alpha : float
    l1_ratio : float
        The share of L1, between 0 and 1.
    fit_intercept, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.
    solver : str
        Ignored; for compatibility with scikit-learn.

    Attributes
    ----------
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell import GammaRegressor
    >>> X = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = GammaRegressor(alpha=0.01).fit(X, [19.0, 26.0, 33.0, 30.0])
    >>> model.predict(X).round().tolist()
    [19.0, 25.0, 33.0, 30.0]
    """

    def _loss(self) -> losses.Loss:
        return losses.Gamma()

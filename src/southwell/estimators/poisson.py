"""Linear models of counts."""

from __future__ import annotations

from .. import losses
from ._means import MeanRegressor


class PoissonRegressor(MeanRegressor):
    """A model of counts, ``exp(x'w + c)``, with an L2 or elastic-net penalty, with a certificate.

    Minimises ``1 / (2 n) sum_i deviance(y_i, exp(x_i'w + c)) + (alpha / 2) ||w||^2``, as scikit-learn's class of the
    same name does; with ``l1_ratio``, a share of alpha is L1.

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
    >>> from southwell import PoissonRegressor
    >>> X = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = PoissonRegressor(alpha=0.01).fit(X, [12, 17, 22, 21])
    >>> model.predict(X).round().tolist()
    [12.0, 17.0, 22.0, 21.0]
    """

    def _loss(self) -> losses.Loss:
        return losses.Poisson()

"""Linear models of counts that vary more than Poisson's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._dense import numbers
from .._names import positive
from .._typing import Given
from ..methods import Method
from ._means import MeanRegressor


class NegativeBinomialRegressor(MeanRegressor):
    """A model of counts, ``exp(x'w + c)``, with a variance of ``mean + dispersion mean ** 2``, the dispersion known,
    with an L2 or elastic-net penalty, with a certificate.

    Minimises ``1 / (2 n) sum_i deviance(y_i, exp(x_i'w + c)) + (alpha / 2) ||w||^2`` with the deviance of the negative
    binomial distribution; with ``l1_ratio``, a share of alpha is L1. scikit-learn has no such class; the units are
    those of ``PoissonRegressor``, which it approaches as the dispersion goes to 0.

    Parameters
    ----------
    dispersion : float
        Positive; ``1 / theta`` of R's ``MASS::glm.nb``.
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
    >>> from southwell import NegativeBinomialRegressor
    >>> X = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = NegativeBinomialRegressor(alpha=0.01, dispersion=0.5).fit(X, [12, 17, 22, 21])
    >>> model.predict(X).round().tolist()
    [12.0, 16.0, 22.0, 21.0]
    """

    def __init__(self, *, alpha: float = 1.0, dispersion: float = 1.0, l1_ratio: float = 0.0,
                 fit_intercept: bool = True, solver: str = "auto",
                 max_iter: int = 10_000, tol: float = 1e-6, warm_start: bool = False,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        super().__init__(
            alpha=alpha, l1_ratio=l1_ratio, fit_intercept=fit_intercept, solver=solver, max_iter=max_iter,
            tol=tol, warm_start=warm_start, random_state=random_state, method=method, n_jobs=n_jobs,
            verbose=verbose, max_seconds=max_seconds, keep_dual=keep_dual, penalty_weights=penalty_weights,
            lower=lower, upper=upper, standardize=standardize,
        )  # fmt: skip
        self.dispersion = dispersion

    def _loss(self) -> losses.Loss:
        return losses.NegativeBinomial(1.0 / positive("dispersion", self.dispersion))

    def _explained(self, y: Given, means: np.ndarray, sample_weight: Given) -> float:
        y, loss = numbers("y", y).ravel(), self._loss()
        weights = np.ones(y.size) if sample_weight is None else numbers("sample_weight", sample_weight)
        weights = np.broadcast_to(weights, y.shape)
        least = -loss.conjugate(np.zeros(y.size), y)  # the loss of a mean of y
        own, null = (
            weights @ (loss.value(np.log(mean), y) - least) for mean in (means, np.average(y, weights=weights))
        )
        return float(1 - own / null) if null > 0 else float(own <= 0)

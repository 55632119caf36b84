"""Linear models of the Tweedie distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._names import finite
from ..methods import Method
from ._means import MeanRegressor
from ._parameters import one_of


class TweedieRegressor(MeanRegressor):
    """A model of numbers whose variance is in proportion to ``mean ** power``, with an L2 or elastic-net penalty, with
    a certificate.

    Minimises ``1 / (2 n) sum_i deviance(y_i, mean_i) + (alpha / 2) ||w||^2``, as scikit-learn's class of the same name
    does; with ``l1_ratio``, a share of alpha is L1. The mean is ``exp(x'w + c)`` for powers from 1 to 2 and
    ``x'w + c`` for 0. Other powers and links give problems that are not convex in w, which are refused, because nothing
    could be certified.

    Parameters
    ----------
    power : float
        0: normal; 1: Poisson; between 1 and 2: amounts that may be zero, such as claims; 2: gamma.
    link : {"auto", "identity", "log"}
        "auto" is the identity for power 0 and the logarithm for others; the other choice is refused.
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
    >>> from southwell import TweedieRegressor
    >>> X = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = TweedieRegressor(power=1.5, alpha=0.01).fit(X, [2.0, 0.0, 5.0, 9.0])
    >>> model.predict(X).round(1).tolist()
    [1.2, 2.1, 3.6, 8.9]
    """

    def __init__(self, *, power: float = 0.0, alpha: float = 1.0, fit_intercept: bool = True, link: str = "auto",
                 solver: str = "auto", l1_ratio: float = 0.0,
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
        self.power = power
        self.link = link

    def _loss(self) -> losses.Loss:
        one_of("link", self.link, ("auto", "identity", "log"))
        power = finite("power", self.power)
        wanted = "identity" if power == 0 else "log"
        if not (power == 0 or 1 <= power <= 2) or self.link not in ("auto", wanted):
            raise ValueError(
                f"power={power:g} with link={self.link!r} is not supported: its problem is not convex in the "
                "coefficients, or its means must be positive. Use power=0 with the identity, or 1 <= power <= 2 with "
                'the log link; link="auto" chooses.'
            )
        if power in (0, 1, 2):
            return {0: losses.Squared, 1: losses.Poisson, 2: losses.Gamma}[int(power)]()
        return losses.Tweedie(power)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = not (np.isscalar(self.power) and self.power == 0)
        return tags

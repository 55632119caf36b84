"""What all estimators share: how data come in, how a fit is run, what it tells."""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._names import count, flag
from ..losses import Loss
from ..penalties import ElasticNet
from ..problem import Problem
from ..result import Result
from ..solve import ConvergenceWarning as CoreConvergenceWarning
from ..solve import Interrupted, solve
from ..solve_many import solve_many
from ._parameters import threads
from .conventions import Strengths


class ConvergenceWarning(CoreConvergenceWarning, SklearnConvergenceWarning):
    """The gap did not reach the tolerance; scikit-learn's filters know it too."""


class LinearEstimator(BaseEstimator):
    """A linear model that is fitted with a certificate.

    Subclasses say their ``_loss()`` and, for a total sample weight, their ``_strengths(total)``.
    """

    def _loss(self) -> Loss:
        raise NotImplementedError

    def _strengths(self, total: float) -> Strengths:
        raise NotImplementedError

    # Data

    def _read(self, X, y, **options):
        """X and y as scikit-learn's conventions ask; whether X is finite is looked at once, by the solver."""
        return validate_data(
            self, X, y, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), ensure_all_finite=False, **options
        )

    def _weights(self, sample_weight, X) -> np.ndarray | None:
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    # Fitting

    def _fit_targets(self, X, targets: np.ndarray, weights: np.ndarray | None) -> list[Result]:
        """One problem for each column of the targets, on shared data; sets what all of them tell."""
        total = float(X.shape[0] if weights is None else weights.sum())
        strengths, loss = self._strengths(total), self._loss()
        signed = not flag("positive", getattr(self, "positive", False))
        penalty = ElasticNet(strengths.l1, strengths.l2, lower=None if signed else 0.0)
        intercept = flag("fit_intercept", self.fit_intercept)
        options = self._options()
        before = self._before(targets.shape[1], X.shape[1])
        line = ProgressLine(type(self).__name__, getattr(self, "verbose", 0))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", CoreConvergenceWarning)
            try:
                if targets.shape[1] == 1:
                    problem = Problem(X, targets[:, 0], loss, penalty, intercept=intercept, sample_weight=weights)
                    results = [solve(problem, warm_start=before[0], callback=line.one, **options)]
                else:
                    results = solve_many(
                        X, targets, loss=loss, penalty=penalty, intercept=intercept, sample_weight=weights,
                        warm_start=before, callback=line.many, **options,
                    ).results  # fmt: skip
            except Interrupted:
                raise KeyboardInterrupt from None
            except ValueError as error:
                raise in_their_words(error) from None
            finally:
                line.close()
        for warning in told:
            again = warning.category is CoreConvergenceWarning
            warnings.warn(warning.message.args[0], ConvergenceWarning if again else warning.category, stacklevel=4)
        self._tell(results, strengths.unit)
        return results

    def _options(self) -> dict:
        return {
            "method": self.method, "tol": self.tol, "max_epochs": self._max_epochs(), "seed": self._seed(),
            "n_threads": self._threads(),
        }  # fmt: skip

    def _tell(self, results: list[Result], unit: float) -> None:
        kept = [replace(result, problem=None) for result in results]  # not the data
        self._results = kept
        self.n_iter_ = max(1, max(result.epochs for result in kept))
        self.status_ = min((result.status for result in kept), key=bool)
        self.gap_ = max(result.relative_gap for result in kept)
        gaps = np.array([unit * result.gap for result in kept])
        self.dual_gap_ = float(gaps[0]) if gaps.size == 1 else gaps
        self.result_ = kept[0] if len(kept) == 1 else kept

    def _before(self, targets: int, features: int) -> list:
        """Where to begin: at the last answers, if asked and if they fit."""
        last = getattr(self, "_results", []) if flag("warm_start", getattr(self, "warm_start", False)) else []
        if len(last) != targets or any(result.x.size != features for result in last):
            return [None] * targets
        return last if self.fit_intercept else [replace(result, intercept=0.0) for result in last]

    def _max_epochs(self) -> int:
        limit = getattr(self, "max_iter", None)
        if limit is None:
            return 10_000
        return count("max_iter", limit, 1)

    def _seed(self) -> int:
        state = getattr(self, "random_state", None)
        return 0 if state is None else int(check_random_state(state).randint(2**31 - 1))

    def _threads(self) -> int | None:
        return threads(getattr(self, "n_jobs", None))

    # After it

    @property
    def dual_coef_(self) -> np.ndarray:
        """The dual point that proves the answer: one number a sample, a row for each target or class."""
        check_is_fitted(self)
        rows = np.array([result.y for result in self._results])
        return rows[0] if len(rows) == 1 else rows

    @property
    def support_(self) -> np.ndarray:
        """Samples whose dual coefficient is not zero: the others could be left out, and nothing would change."""
        return np.flatnonzero((np.atleast_2d(self.dual_coef_) != 0).any(axis=0))

    @property
    def sparse_coef_(self) -> sp.csr_array:
        """``coef_``, without its zeros."""
        check_is_fitted(self)
        return sp.csr_array(np.atleast_2d(self.coef_) if not sp.issparse(self.coef_) else self.coef_)

    def _margins(self, X) -> np.ndarray:
        """X w + c, a column for each target if there are several."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False)
        product = X @ self.coef_.T
        if sp.issparse(product):
            product = product.toarray()
        return np.asarray(product) + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def in_their_words(error: ValueError) -> ValueError:
    """What is A and b to ``solve`` is X and y to estimators."""
    return ValueError(re.sub(r"\bb\b(?= (must|contains|has))", "y", re.sub(r"\bA\b", "X", str(error))))


class ProgressLine:
    """One line that is written over, where someone may be looking."""

    def __init__(self, name: str, verbose):
        self.name, self.shown = name, False
        self.wanted = bool(verbose) and (sys.stderr.isatty() or _in_notebook())
        self.one = self._one if self.wanted else None
        self.many = self._many if self.wanted else None

    def _one(self, progress) -> None:
        self._show(
            f"{self.name}: round {progress.epoch}, gap {progress.relative_gap:.1e}, {progress.nonzeros} nonzeros, "
            f"{progress.seconds:.1f} s"
        )

    def _many(self, k: int, progress) -> None:
        self._show(f"{self.name}: problem {k}, gap {progress.relative_gap:.1e}, {progress.seconds:.1f} s")

    def _show(self, text: str) -> None:
        self.shown = True
        print(f"\r{text:<79}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown:
            print(file=sys.stderr)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None

"""Ridge regression whose alpha is chosen by leave-one-out errors, from one decomposition, or by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.metrics import r2_score
from sklearn.utils import Bunch

from .._names import flag
from .._typing import Given
from ._base import FitData
from ._callbacks import Hooks
from ._cross_validated import CrossValidated, Line
from ._folds import Scores
from ._least_norm import Decomposition
from ._parameters import decreasing, one_of
from .conventions import Strengths, from_ridge


class ChoosesRidge(CrossValidated):
    """With ``alphas``. ``cv=None`` leaves out one sample at a time, without fitting again: with the singular value
    decomposition of the weighted, centred rows, the errors for every alpha cost O(n r) each (Rifkin and Lippert 2007,
    Notes on regularized least squares)."""

    alphas: Any
    store_cv_results: bool
    alpha_: Any
    _setting_names = ("alpha_", "alpha_")

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        alphas = np.ravel(self.alpha_)
        return from_ridge(float(alphas[target if alphas.size > 1 else 0]), total)

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return from_ridge(setting[0], total)

    def _given(self) -> np.ndarray:
        """The alphas in their own order."""
        decreasing("alphas", self.alphas, zero=self.cv is not None, counted=False)
        return np.atleast_1d(np.asarray(self.alphas, dtype=float)).ravel()

    def _lines(self, data: FitData) -> list[Line]:
        return [[(float(alpha), 0.0) for alpha in np.sort(self._given())[::-1]]]

    def _choose(self, data: FitData, hooks: Hooks) -> None:
        store, each = flag("store_cv_results", self.store_cv_results), self._each()
        one_of("gcv_mode", getattr(self, "gcv_mode", None), (None, "auto", "svd", "eigen"))
        if self.cv is None:
            self._leave_one_out(data, store, each)
            return
        for name, given in (("store_cv_results", store), ("alpha_per_target", each)):
            if given:
                raise ValueError(f"cv!=None and {name}=True are incompatible: only leave-one-out errors are by sample.")
        super()._choose(data, hooks)

    def _each(self) -> bool:
        return flag("alpha_per_target", getattr(self, "alpha_per_target", False))

    def _leave_one_out(self, data: FitData, store: bool, each: bool) -> None:
        alphas, total = self._given(), data.total
        weights = np.full(data.X.shape[0], 1.0 / total) if data.weights is None else data.weights / total
        intercept = flag("fit_intercept", self.fit_intercept)
        if data.centre is not None and not intercept:
            raise ValueError("Leave-one-out errors of Centred data need fit_intercept=True; or give cv.")
        if np.count_nonzero(weights) < 2:
            raise ValueError("Leaving one out needs at least two samples with weight; there is 1 sample.")
        mode = getattr(self, "gcv_mode", None)
        gram = mode == "eigen" or (mode != "svd" and not isinstance(data.X, np.ndarray))
        X = data.X.toarray() if mode == "svd" and not isinstance(data.X, np.ndarray) else data.X
        made = Decomposition.of(self._in_units_of_penalty(X, data), weights, intercept, gram)
        if made is None:
            raise ValueError(
                "Leave-one-out errors overflow: X or y has infinite, NaN or huge numbers. Scale them down, or give cv."
            )
        targets = np.column_stack([data.targets(k) for k in range(data.targets.count)])
        moved = [data.target_less_offset(k) for k in range(data.targets.count)]
        scores, table = [], []
        for alpha in alphas:
            errors = np.column_stack([made.left_out(y, alpha / total) for y in moved])
            errors[weights == 0] = 0.0
            if self.scoring is None:
                shown = errors**2 * (1.0 if data.weights is None else data.weights[:, None])
                scores.append(-shown.mean(axis=0) if each else -shown.mean())
            else:
                shown = targets - errors
                scores.append(self._scored(shown, data, each))
            if store:
                table.append(shown)
        if store:
            columns = np.stack(table, axis=-1).astype(data.X.dtype)
            self.cv_results_ = columns[:, 0] if data.y.ndim == 1 and not is_classifier(self) else columns
        found = np.array(scores)
        if np.isnan(found).all(axis=0).any():
            raise ValueError("No alpha could be chosen: every score is NaN. Try another scoring, or give cv.")
        best = np.nanargmax(found, axis=0)
        several = each and data.targets.count > 1
        self.alpha_ = alphas[best] if several else float(alphas[np.ravel(best)[0]])
        self.best_score_ = np.take_along_axis(found, best[None], axis=0)[0] if several else float(np.nanmax(found))
        order = np.argsort(-alphas, kind="stable")
        self.alphas_, self.scores_ = alphas[order], found.reshape(alphas.size, -1).mean(axis=1)[order][None]
        self.scored_by_ = "- mean squared error" if self.scoring is None else self._score_name()
        self.mean_nonzeros_ = np.full((1, alphas.size), float(data.X.shape[1]))

    def _in_units_of_penalty(self, X: Any, data: FitData) -> Any:
        """The columns divided by the roots of their coefficients' weights: under them the penalty is ``||w||^2``."""
        net: Any = self._state(data).penalty
        if net.bounded:
            raise ValueError("Leave-one-out errors by a decomposition are of coefficients without bounds: give cv=5.")
        if net.weights is None:
            return X
        roots = np.sqrt(net.at(0.0, 1.0).ridges(X.shape[1]))
        if not roots.all():
            raise ValueError("Leave-one-out errors by a decomposition need penalty_weights > 0; or give cv=5.")
        with np.errstate(over="ignore"):  # refused with the decomposition
            roots = 1.0 / roots
        return X @ sp.diags_array(roots) if sp.issparse(X) else X * roots

    def _scored(self, predictions: np.ndarray, data: FitData, each: bool) -> Any:
        """The score of the predictions of samples that were left out; of each target alone, if each has an alpha."""
        scorer, own = self._scorer(None), self._routed(data).score
        nothing = np.zeros((data.targets.count, data.X.shape[1])), np.zeros(data.targets.count)

        def score(margins: np.ndarray, y: np.ndarray) -> float:
            model = self._with(sp.csr_array(nothing[0]), nothing[1], data.X, margins, data)
            if y.ndim == 1 and not is_classifier(self):
                model._known = data.X, margins[:, 0]
            return float(scorer(model, data.X, y, **own))

        if each and data.y.ndim > 1:
            return np.array([score(predictions[:, [k]], data.y[:, k]) for k in range(data.targets.count)])
        return score(predictions, data.y)

    def _score_of(self, y: Given, margins: np.ndarray, sample_weight: Given = None) -> float:
        return float(r2_score(y, margins.reshape(y.shape), sample_weight=sample_weight))

    def _score_name(self) -> str:
        return "R^2" if self.scoring is None and not is_classifier(self) else super()._score_name()

    def _chosen(self, lines: list[Line], found: Scores, line: int, point: int, data: FitData) -> dict[str, Any]:
        scores = found.values[:, 0]
        return {
            "alpha_": lines[line][point][0], "alphas_": np.array(lines)[0, :, 0], "scores_": scores,
            "best_score_": float(scores.mean(axis=0)[point]),
        }  # fmt: skip

    def _tried(self) -> Bunch:
        return Bunch(
            label="alpha", strengths=[self.alphas_], scores=self.scores_[None], chosen=float(np.ravel(self.alpha_)[0]),
            other="l2", others=[0.0], other_chosen=0.0,
        )  # fmt: skip

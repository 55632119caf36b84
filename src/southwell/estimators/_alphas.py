"""Regressors that choose alpha, and the share of L1 if several are given, by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from .._names import count, integral
from .._typing import Given
from ..lambda_max import vanishing_strength
from ._base import FitData
from ._cross_validated import CrossValidated, Line
from ._folds import Scores
from ._parameters import NO_GRID, decreasing, falling, grid, shares


class ChoosesAlpha(CrossValidated):
    """With ``alphas``, ``eps`` and ``l1_ratio``; settings are pairs of an alpha and an l1_ratio."""

    l1_ratio: Any
    eps: float
    alphas: int | ArrayLike
    _setting_names = ("alpha_", "l1_ratio_")
    _zero_alpha = True  # may alpha be 0?

    def _lines(self, data: FitData) -> list[Line]:
        ratios = shares("l1_ratio", self.l1_ratio)
        if integral(self.alphas):
            tops = self._tops(data, ratios)
            parts = falling("eps", self.eps, count("alphas", self.alphas, 1, bits=24))
            return [[(alpha, ratio) for alpha in grid(top, parts)] for top, ratio in zip(tops, ratios, strict=True)]
        alphas = decreasing("alphas", self.alphas, zero=self._zero_alpha)
        return [[(alpha, ratio) for alpha in alphas] for ratio in ratios]

    def _tops(self, data: FitData, ratios: list[float]) -> list[float]:
        """The smallest alpha at which all coefficients are zero, for each share of L1."""
        problem, tops = self._state(data), []
        for ratio in ratios:
            unit = self._penalty(problem.penalty, self._at((1.0, ratio), 1.0))
            strength = getattr(unit, unit.leading)  # at alpha = 1
            if strength == 0:
                raise ValueError(NO_GRID)
            first = problem.with_penalty(unit)
            tops.append(max(vanishing_strength(data.stated(first, k)) for k in range(data.targets.count)) / strength)
        return tops

    def _score_of(self, y: Given, margins: np.ndarray, sample_weight: Given = None) -> float:
        errors = ((margins - y.reshape(margins.shape)) ** 2).mean(axis=1)
        return -float(np.average(errors, weights=sample_weight))

    def _chosen(self, lines: list[Line], found: Scores, line: int, point: int, data: FitData) -> dict[str, Any]:
        alpha, ratio = lines[line][point]
        alphas, errors = np.array(lines)[..., 0], -found.values.transpose(1, 2, 0)
        one = len(lines) == 1
        return {
            "alpha_": float(alpha), "l1_ratio_": float(ratio),
            "alphas_": alphas if not one and integral(self.alphas) else alphas[0],
            "mse_path_": errors[0] if one else errors, "l1_ratios_": np.array(lines)[:, 0, 1],
        }  # fmt: skip

    def _tried(self) -> Bunch:
        scores = -self.mse_path_.reshape(-1, *self.mse_path_.shape[-2:])
        return Bunch(
            label="alpha", strengths=np.broadcast_to(self.alphas_, scores.shape[:2]),
            scores=scores.transpose(0, 2, 1), chosen=self.alpha_, other="l1_ratio", others=self.l1_ratios_,
            other_chosen=self.l1_ratio_,
        )  # fmt: skip

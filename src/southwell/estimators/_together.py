"""Classifiers that can fit all classes in one problem, instead of each against the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import Given
from ..block_problem import BlockProblem
from ..losses import ClassLoss
from ..problem import Problem
from ..solve_many import Targets
from ._base import FitData
from ._classifier import LinearClassifier
from ._coefficients import penalised_each


class Together(LinearClassifier):
    """A mixin; subclasses say whether so many classes are fitted together, and with which loss."""

    def _joins(self, classes: int) -> bool:
        raise NotImplementedError

    def _joint_loss(self) -> ClassLoss:
        raise NotImplementedError

    def _data(self, X: Given, y: Given, sample_weight: Given, params: dict[str, Any]) -> FitData:
        data = super()._data(X, y, sample_weight, params)
        classes = data.told["classes_"]
        together = self._joins(classes.size)
        told = data.told | {"together_": together}
        if not together:
            return replace(data, told=told)
        numbers = np.searchsorted(classes, np.where(np.isin(data.y, classes), data.y, classes[0]))
        return replace(data, targets=Targets(lambda k: numbers, 1), told=told, together=True)

    def _state(self, data: FitData) -> Problem:
        if not data.together:
            return super()._state(data)
        return penalised_each(self, self._stated(BlockProblem, data, self._joint_loss()))

"""Probabilities of classes, from margins of a logistic model."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.utils.metaestimators import available_if

from .._typing import Given
from ._classifier import LinearClassifier


class Probabilities(LinearClassifier):
    """A mixin for classifiers with the logistic loss."""

    def predict_proba(self, X: Given, *, offset: Given = None) -> np.ndarray:
        """The probability of each class. Several classes: one against the rest, scaled to sum to one, or the softmax if
        they were fitted together. Several labels at once: the probability of each label."""
        margins = self.decision_function(X, offset=offset)
        if margins.ndim == 1:
            return np.column_stack([expit(-margins), expit(margins)])
        if self._softmax():
            return np.asarray(softmax(margins, axis=1))
        likely = expit(margins)
        if self.multilabel_:
            return np.asarray(likely)
        totals = likely.sum(axis=1, keepdims=True)
        return np.asarray(np.where(totals > 0, likely / np.where(totals > 0, totals, 1.0), 1.0 / likely.shape[1]))

    def _softmax(self) -> bool:
        """Whether several classes were fitted together."""
        return bool(getattr(self, "together_", False))

    def predict_log_proba(self, X: Given, *, offset: Given = None) -> np.ndarray:
        """The logarithms of ``predict_proba``."""
        margins = self.decision_function(X, offset=offset)
        if margins.ndim == 1:
            return np.column_stack([log_expit(-margins), log_expit(margins)])
        if self._softmax():
            return np.asarray(log_softmax(margins, axis=1))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, offset=offset)))


def _of_the_logistic_loss(classifier: Any) -> bool:
    """Whether margins are log-odds."""
    if not classifier._loss().log_odds:
        raise AttributeError(f"Probabilities need the logistic loss; this classifier has {classifier._loss().name}.")
    return True


class ProbabilitiesIfLogistic(LinearClassifier):
    """The same for classifiers with any loss; without the logistic loss the methods do not exist."""

    _softmax = Probabilities._softmax
    predict_proba = available_if(_of_the_logistic_loss)(Probabilities.predict_proba)
    predict_log_proba = available_if(_of_the_logistic_loss)(Probabilities.predict_log_proba)

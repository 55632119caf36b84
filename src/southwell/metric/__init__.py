"""Positive semi-definite matrices learned from data, with a proof: matrix risks, and metrics for nearest neighbours.

>>> from sklearn.datasets import load_iris
>>> from southwell.metric import LargeMarginNearestNeighbor
>>> X, y = load_iris(return_X_y=True)
>>> model = LargeMarginNearestNeighbor().fit(X, y)
>>> model.metric_.shape, model.status_
((4, 4), Status.CONVERGED)
"""

from ._lmnn import LargeMarginNearestNeighbor
from ._low_rank import LowRank
from ._multi_task import MultiTaskLargeMarginNearestNeighbor
from ._risk import MatrixRisk

__all__ = ["LargeMarginNearestNeighbor", "LowRank", "MatrixRisk", "MultiTaskLargeMarginNearestNeighbor"]

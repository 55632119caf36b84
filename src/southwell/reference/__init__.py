"""Slow, obvious twins of the compiled core, in NumPy: oracles for tests, and the algorithms written to be read.

Each file is a transcription of formulas, with nothing kept that can be computed afresh. Losses are any objects with
``value, derivative, second_derivative, conjugate`` and ``maximise`` over arrays, such as those of ``southwell.losses``;
the order of coordinates is a sequence, so that a test can lead the core and its twin through the same moves.
"""

from .certificate import best_shift, brackets, certificate
from .coordinate_descent import dual_coordinate_ascent, primal_coordinate_descent
from .elastic_net import ElasticNet

__all__ = [
    "ElasticNet",
    "best_shift",
    "brackets",
    "certificate",
    "dual_coordinate_ascent",
    "primal_coordinate_descent",
]

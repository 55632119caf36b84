"""Slow, simple implementations of the algorithms in NumPy: references for tests, and readable descriptions.

Each file transcribes the formulas of a paper, and recomputes everything instead of keeping it. Losses are any objects
with ``value, derivative, second_derivative, conjugate`` and ``maximise`` over arrays, such as those of
``southwell.losses``; the order of coordinates is a sequence, so that a test can run the core and the reference with the
same moves.
"""

from .accelerated import accelerated_dual, accelerated_primal, apcg_dual, apcg_primal
from .accelerated_sdca import accelerated_sdca
from .active_sets import ActiveSets, active_sets
from .blocks import block_certificate, block_coordinate_descent, block_objective, blocks_of
from .bounded import level
from .certificate import best_shift, brackets, certificate
from .coordinate_descent import dual_coordinate_ascent, primal_coordinate_descent
from .dealt_ascent import dealt_dual_ascent
from .dgpd import dgpd, dgpd_adapted, dgpd_weight
from .dspdc import dspdc, dspdc_steps
from .elastic_net import ElasticNet
from .incremental_gradient import miso, sag, saga, sgd, svrg
from .proximal_newton import gap_safe_features, gap_safe_samples, proximal_newton
from .rules import automatic_mix, greedy, greedy_in_turn, hybrid_probabilities, probabilities
from .scores import dual_scores, primal_scores
from .search import search, zero_interval_dual, zero_interval_primal, zero_weights
from .spdc import spdc, spdc_probabilities, spdc_steps

__all__ = [
    "ActiveSets",
    "ElasticNet",
    "accelerated_dual",
    "accelerated_primal",
    "accelerated_sdca",
    "active_sets",
    "apcg_dual",
    "apcg_primal",
    "automatic_mix",
    "best_shift",
    "block_certificate",
    "block_coordinate_descent",
    "block_objective",
    "blocks_of",
    "brackets",
    "certificate",
    "dealt_dual_ascent",
    "dgpd",
    "dgpd_adapted",
    "dgpd_weight",
    "dspdc",
    "dspdc_steps",
    "dual_coordinate_ascent",
    "dual_scores",
    "gap_safe_features",
    "gap_safe_samples",
    "greedy",
    "greedy_in_turn",
    "hybrid_probabilities",
    "level",
    "miso",
    "primal_coordinate_descent",
    "primal_scores",
    "probabilities",
    "proximal_newton",
    "sag",
    "saga",
    "search",
    "sgd",
    "spdc",
    "spdc_probabilities",
    "spdc_steps",
    "svrg",
    "zero_interval_dual",
    "zero_interval_primal",
    "zero_weights",
]

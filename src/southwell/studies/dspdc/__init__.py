"""A. W. Yu, Q. Lin and T. Yang, "Doubly Stochastic Primal-Dual Coordinate Method for Bilinear Saddle-Point Problem",
2015."""

from ..study import Study
from .claims import CLAIMS
from .costs import costs
from .matrices import figure_3, figure_4
from .races import figure_1, figure_2
from .scales import scales
from .theorems import theorems

__all__ = ["CLAIMS", "STUDIES"]

STUDIES: tuple[Study, ...] = (
    Study("dspdc-figure-1", "dspdc", "Random factorised data", "section 6.1, figure 1", figure_1),
    Study("dspdc-figure-2", "dspdc", "Factorised Covtype, RCV1 and Real-sim", "section 6.1, figure 2", figure_2),
    Study("dspdc-figure-3", "dspdc", "Matrix risk minimisation", "section 6.2, figure 3", figure_3),
    Study("dspdc-figure-4", "dspdc", "Multi-task metric learning", "section 6.3, figure 4", figure_4),
    Study("dspdc-lambda", "dspdc", "The usual Lambda against a bound", "section 4.1, remark 1", scales),
    Study("dspdc-costs", "dspdc", "The cost of an iteration", "section 4.2, algorithm 2", costs),
    Study("dspdc-theorems", "dspdc", "Theorems 1 and 2 on small problems", "theorems 1 and 2", theorems),
)

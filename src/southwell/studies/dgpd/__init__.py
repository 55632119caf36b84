"""Q. Lei, I. E. H. Yen, C. Wu, I. S. Dhillon and P. Ravikumar, "Doubly Greedy Primal-Dual Coordinate Descent for Sparse
Empirical Risk Minimization", ICML 2017."""

from ..study import Study
from .claims import APPENDIX, CLAIMS, COSTS, FIGURE_1, PAPER, PASSES, STRENGTHS, TABLE, THEOREM
from .races import appendix, figure_1, passes, table_2
from .sweeps import costs, strengths
from .theorems import theorem

__all__ = ["CLAIMS", "STUDIES"]

STUDIES: tuple[Study, ...] = (
    Study(FIGURE_1, PAPER, "DGPD against RCD and SPDC, l1 = 0.1, l2 = 0.01", "section 5, figure 1", figure_1),
    Study(APPENDIX, PAPER, "DGPD against RCD and SPDC, other penalties", "appendix B, figures 2 to 6", appendix),
    Study(TABLE, PAPER, "Nonzeros of x and y", "table 2", table_2),
    Study(PASSES, PAPER, "Passes between searches", "section 3.2", passes),
    Study(STRENGTHS, PAPER, "Penalties up to too strong ones", "appendix B", strengths),
    Study(COSTS, PAPER, "Cost by sparsity, conditioning and size", "table 1, theorem 2.1", costs),
    Study(THEOREM, PAPER, "Theorem 4.2 step by step", "section 4, appendix A", theorem),
)

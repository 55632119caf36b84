"""Y. Zhang and L. Xiao, "Stochastic Primal-Dual Coordinate Method for Regularized Empirical Risk Minimization",
ICML 2015."""

from ..study import Study
from .batches import batches, sampling
from .claims import CLAIMS
from .costs import costs
from .races import figures, oscillation, synthetic_ridge
from .theorems import table_1, theorems

__all__ = ["CLAIMS", "STUDIES"]

STUDIES: tuple[Study, ...] = (
    Study("spdc-figures", "spdc", "SPDC against batch and stochastic methods as l2 falls", "section 5, figures 1 and 2",
          figures),
    Study("spdc-ridge", "spdc", "Ridge regression on synthetic data", "the long version, arXiv:1409.3257",
          synthetic_ridge),
    Study("spdc-oscillation", "spdc", "The latest objective of ASDCA and SPDC", "section 5, figure 2", oscillation),
    Study("spdc-batches", "spdc", "Batches and threads", "section 2.1", batches),
    Study("spdc-sampling", "spdc", "Sampling by norms, on rows of uneven lengths", "section 3.2, algorithm 2",
          sampling),
    Study("spdc-table-1", "spdc", "Rates without smoothness or strong convexity", "section 3.1, table 1", table_1),
    Study("spdc-costs", "spdc", "The cost of an iteration", "section 4", costs),
    Study("spdc-theorems", "spdc", "Theorems 1 and 2 on small problems", "theorems 1 and 2", theorems),
)  # fmt: skip

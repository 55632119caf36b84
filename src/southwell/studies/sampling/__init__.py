"""D. Perekrestenko, V. Cevher and M. Jaggi, "Faster Coordinate Descent via Adaptive Importance Sampling", AISTATS
2017."""

from ..study import Study
from .claims import CLAIMS, COSTS, FIGURES, LARGE, LAWS, PAPER
from .costs import cost_of_moves
from .races import figures_1_and_2, figures_3_and_4
from .theorems import by_enumeration

__all__ = ["CLAIMS", "STUDIES"]

STUDIES: tuple[Study, ...] = (
    Study(FIGURES, PAPER, "Sampling rules on the Lasso and the SVM", "section 5, figures 1 and 2", figures_1_and_2),
    Study(LARGE, PAPER, "Sampling rules on rcv1", "appendix C, figures 3 and 4", figures_3_and_4),
    Study(COSTS, PAPER, "The cost of a move under each rule", "section 4.3, table 1", cost_of_moves),
    Study(LAWS, PAPER, "Lemma 3.1, theorems 3.3 and 3.7 by enumeration", "section 3, appendix A", by_enumeration),
)

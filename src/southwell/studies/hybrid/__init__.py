"""H. Fang, G. Fang, T. Yu and P. Li, "Efficient Greedy Coordinate Descent via Variable Partitioning", UAI 2021."""

from ..study import Study
from .claims import CLAIMS
from .races import blocks, clusterings, graph, momentum, orders, search, svm

__all__ = ["CLAIMS", "STUDIES"]

STUDIES: tuple[Study, ...] = (
    Study("hybrid-blocks", "hybrid", "Hybrid rules against random and greedy", "section 7.1, figure 6.1", blocks),
    Study("hybrid-svm", "hybrid", "Hybrid rules on the dual of the SVM", "section 7.1, figure 6.1", svm),
    Study("hybrid-graph", "hybrid", "Hybrid rules for label propagation", "section 7.1, figure 6.1", graph),
    Study("hybrid-accelerated", "hybrid", "Accelerated rules", "section 7.2, figure 7.1", momentum),
    Study("hybrid-clusterings", "hybrid", "Clusterings", "section 7.3, figure 7.2, left", clusterings),
    Study("hybrid-orders", "hybrid", "Random, cyclic and permuted orders", "section 7.3, figure 7.2, right", orders),
    Study("hybrid-search", "hybrid", "Search by inner products", "section 7.4, figure 7.3", search),
)

"""The papers' experiments on selection rules, and what rules cost: python benchmarks/rules.py [names] [--out folder]

    hybrid       Fang, Fang, Yu, Li 2021, figures 6.1, 7.1, 7.3: ridge, logistic, L1 logistic on blobs and leukemia
    svm          figure 6.1: dual SVM, on 20news in place of rcv1
    graph        figure 6.1: label propagation on a 5-nearest-neighbour graph of ijcnn1
    clusterings  figure 7.2
    costs        an epoch of sampled rules against uniform; a step with updated scores against one that recomputes all

`southwell reproduce sampling` repeats the experiments of Perekrestenko, Cevher and Jaggi 2017.

Without names, all of them, in about ten minutes. Tables go to the terminal, plots to the folder, if given.
"""

from __future__ import annotations

from _command import run
from _hybrid_study import clusterings, graph, hybrid, svm
from _rule_costs import costs

if __name__ == "__main__":
    run(__doc__, (hybrid, svm, graph, clusterings, costs))

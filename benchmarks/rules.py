"""The papers' experiments on selection rules, and what rules cost: python benchmarks/rules.py [names] [--out folder]

    sampling     Perekrestenko, Cevher, Jaggi 2017, figures 1 and 2: Lasso on mushrooms, SVM on ionosphere, seven rules
    hybrid       Fang, Fang, Yu, Li 2021, figures 6.1, 7.1, 7.3: ridge, logistic, L1 logistic on blobs and leukemia
    svm          figure 6.1: dual SVM, on 20news in place of rcv1
    graph        figure 6.1: label propagation on a 5-nearest-neighbour graph of ijcnn1
    clusterings  figure 7.2
    costs        an epoch of sampled rules against uniform; a step that follows every move against scoring all

Without names, all of them, in about ten minutes. Tables go to the terminal, plots to the folder, if given.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from _hybrid_study import clusterings, graph, hybrid, svm
from _rule_costs import costs
from _sampling_study import sampling

STUDIES = {study.__name__: study for study in (sampling, hybrid, svm, graph, clusterings, costs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="which studies; default: all")
    parser.add_argument("--out", type=Path, help="folder for plots")
    given = parser.parse_args()
    if unknown := set(given.names) - set(STUDIES):
        parser.error(f"no study {', '.join(sorted(unknown))}; there are {', '.join(STUDIES)}")
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in given.names or STUDIES:
        STUDIES[name](given.out)


if __name__ == "__main__":
    main()

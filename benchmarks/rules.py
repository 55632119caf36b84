"""The papers' experiments on selection rules, and what rules cost: python benchmarks/rules.py [names] [--out folder]

    sampling     Perekrestenko, Cevher, Jaggi 2017, figures 1 and 2: Lasso on mushrooms, SVM on ionosphere, seven rules
    costs        an epoch of sampled rules against uniform; a step with updated scores against one that recomputes all

`southwell reproduce hybrid` repeats the experiments of Fang, Fang, Yu and Li 2021.

Without names, all of them. Tables go to the terminal, plots to the folder, if given.
"""

from __future__ import annotations

from _command import run
from _rule_costs import costs
from _sampling_study import sampling

if __name__ == "__main__":
    run(__doc__, (sampling, costs))

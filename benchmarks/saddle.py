"""The papers' experiments on saddle-point methods, and their costs: python benchmarks/saddle.py [names] [--out folder]

    spdc      Zhang and Xiao 2015, figures 1 and 2: SPDC against AFG (FISTA), L-BFGS, SAG, SDCA and ASDCA on a9a, w8a
              and 20news (in place of covtype, rcv1 and news20), for l2 from 1e-4 to 1e-8
    dspdc     Yu, Lin, Yang 2015, figures 1 and 2: DSPDC against SPDC and SDCA on factorised data
    costs     time an iteration as d, or n and d, double; classes across threads; memory

`southwell reproduce dgpd` repeats the experiments of Lei et al. 2017.

Without names, all of them, in about half an hour; --quick takes smaller data. Tables go to the terminal, plots to the
folder, if given.
"""

from __future__ import annotations

from _command import run
from _dspdc_study import dspdc
from _saddle_costs import costs
from _spdc_study import spdc

if __name__ == "__main__":
    run(__doc__, (spdc, dspdc, costs), quick=True)

"""The papers' experiments on saddle-point methods, and their costs: python benchmarks/saddle.py [names] [--out folder]

    dgpd      Lei et al. 2017, table 2 and figures 1-6: DGPD against primal RCD, dual RCD and SPDC on sector, news20 (in
              place of rcv1) and mnist through random Fourier and random binning features; l1 and l2 of a sum of losses
    costs     time an epoch of DGPD as n and d double; classes across threads; memory

Without names, all of them; --quick takes smaller data. Tables go to the terminal, plots to the folder, if given. The
experiments on SPDC and DSPDC are ``southwell reproduce spdc dspdc``.
"""

from __future__ import annotations

from _command import run
from _dgpd_study import dgpd
from _saddle_costs import costs

if __name__ == "__main__":
    run(__doc__, (dgpd, costs), quick=True)

"""An independent checker of proofs: exact arithmetic in plain Python, without the solver.

``verify`` reads a proof file and the data, and decides whether

    P(x) <= primal_at_most        and        D(y') >= dual_at_least  for a feasible y',

so that x is within ``primal_at_most - dual_at_least`` of the optimum. Floats are taken as exact real numbers;
logarithms, exponentials and square roots are enclosed between rationals. The package needs Python and NumPy and imports
nothing else of southwell: the folder can be copied and run alone,

    python -m check answer.proof A.npz b.npy
"""

from .verdict import Verdict, verify

__all__ = ["Verdict", "verify"]

"""Checks of the laws that every part must obey, for those who add one.

A new loss, penalty, layout or rule is correct if its laws hold:

>>> import southwell as sw
>>> from southwell.testing import check_loss
>>> check_loss(sw.losses.Huber(delta=0.5))

Each check raises ``AssertionError`` with the law that is broken and a point where it is. They use NumPy and
SciPy, and compare with brute force (bisection, golden section, dense products, counting), never with another formula.
"""

from .block_penalties import check_block_penalty
from .blocks import check_block_loss
from .designs import check_design
from .losses import check_loss
from .penalties import check_penalty
from .rules import check_rule

__all__ = ["check_block_loss", "check_block_penalty", "check_design", "check_loss", "check_penalty", "check_rule"]

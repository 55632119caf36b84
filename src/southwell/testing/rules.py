"""Laws of a rule: which coordinates it selects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise, permutations

import numpy as np
from scipy.stats import chi2

from .. import _core, rules
from ._brute import hold


def check_rule(rule, draw: Callable | None = None) -> None:
    """Check every law a rule must obey.

    * coordinates lie in 0, ..., n-1; with n = 1 there is only 0; each is selected at some point;
    * the same seed gives the same stream, whatever its length; random rules depend on the seed;
    * ``cyclic``: in order; ``shuffled``: each pass a permutation, every permutation equally likely and independent of
      the last; ``uniform``: every pair of successive draws equally likely. The last two by chi-square at 1e-4, with
      fixed seeds, so that a rule that passes once passes always.

    Parameters
    ----------
    rule : str or Rule
        A rule without scores. Rules other than these three must satisfy the first two laws only.
    draw : callable, optional
        ``draw(n, seed, count)`` gives the first ``count`` coordinates. Default: the compiled rule of that name.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from southwell.testing import check_rule
    >>> check_rule("shuffled")
    """
    rule = rules.get(rule)

    def stream(n: int, seed: int, count: int) -> list[int]:
        return [int(k) for k in (_core.Rule(rule.name).draw(n, seed, count) if draw is None else draw(n, seed, count))]

    _any_rule(rule, stream)
    if rule.name == "cyclic":
        hold(rule, "cyclic is 0, 1, ..., n-1, 0, 1, ...", stream(5, 3, 12) == [*range(5), *range(5), 0, 1])
        hold(rule, "cyclic does not look at the seed", stream(5, 3, 12) == stream(5, 4, 12))
    else:
        hold(rule, "different seeds give different streams", len({tuple(stream(50, s, 100)) for s in range(20)}) == 20)
    if rule.name == "shuffled":
        _shuffled(rule, stream)
    if rule.name == "uniform":
        pairs = stream(7, 5, 2 * 49 * 200)
        _equally_likely(
            rule, "draws are uniform and independent", Counter(zip(pairs[::2], pairs[1::2], strict=True)), 49
        )


def _any_rule(rule, stream: Callable) -> None:
    hold(rule, "with one coordinate every draw is 0", stream(1, 0, 10) == [0] * 10)
    for n in (1, 2, 3, 63, 64, 65, 200):
        drawn = stream(n, 7, 40 * n + 200)
        hold(rule, f"coordinates lie in 0..{n - 1}", min(drawn) >= 0 and max(drawn) < n)
        hold(rule, f"each of {n} coordinates has its turn", len(set(drawn)) == n)
        hold(rule, "the same seed gives the same stream", drawn == stream(n, 7, len(drawn)))
        hold(rule, "a shorter stream is the start of a longer one", stream(n, 7, n + 1) == drawn[: n + 1])


def _shuffled(rule, stream: Callable) -> None:
    for n in (1, 2, 13, 100):
        passes = np.reshape(stream(n, 11, 20 * n), (20, n))
        hold(rule, "each pass visits every coordinate once", (np.sort(passes) == np.arange(n)).all())
    known = list(permutations(range(4)))
    orders = [tuple(row) for row in np.reshape(stream(4, 2, 4 * 24 * 300), (-1, 4)).tolist()]
    hold(rule, "each pass visits every coordinate once", set(orders) <= set(known))
    _equally_likely(rule, "every order is equally likely", Counter(orders), len(known))
    orders = [tuple(row) for row in np.reshape(stream(3, 9, 3 * 36 * 300), (-1, 3)).tolist()]
    _equally_likely(rule, "an order is independent of the last one", Counter(pairwise(orders)), 36)


def _equally_likely(rule, law: str, counts: Counter, cells: int) -> None:
    """Pearson's chi-square: too large means uneven, too small means too even to be random."""
    expected = sum(counts.values()) / cells
    statistic = sum((c - expected) ** 2 for c in counts.values()) / expected + (cells - len(counts)) * expected
    chance = chi2.sf(statistic, cells - 1)
    hold(rule, f"{law} (chi-square {statistic:.1f} with {cells - 1} degrees of freedom)", 1e-4 < chance < 1 - 1e-4)

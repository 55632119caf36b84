"""Synthetic genotypes: dense data whose columns are strongly correlated."""

from __future__ import annotations

import numpy as np


def genotypes(n: int = 2_000, d: int = 10_000, *, causes: int = 1_000, heritability: float = 0.5, seed: int = 0):
    """Counts of the rarer allele (0, 1 or 2) of ``n`` people at ``d`` sites, standardised by column; and a trait.

    Each person has two haplotypes. Along one, alleles are the signs of an autoregressive Gaussian sequence that starts
    anew in every block of linkage (50 sites on average, neighbours correlated by 0.9 to 0.999), compared with the
    frequency of the site, from 0.05 to 0.5. The trait is the sum of small effects of ``causes`` sites and of noise.
    """
    rng = np.random.default_rng(seed)
    A = np.empty((n, d), order="F")
    begins = rng.random(d) < 1 / 50
    begins[0] = True
    for j in range(d):
        fresh = rng.standard_normal(2 * n)
        if begins[j]:
            state, linkage = fresh, 1 - 10 ** rng.uniform(-3, -1)
        else:
            state = linkage * state + np.sqrt(1 - linkage**2) * fresh
        frequency = rng.uniform(0.05, 0.5)
        alleles = state < np.quantile(state, frequency)
        A[:, j] = alleles[:n].astype(float) + alleles[n:]
    A -= A.mean(axis=0)
    A /= A.std(axis=0)
    effects = np.zeros(d)
    effects[rng.choice(d, causes, replace=False)] = rng.standard_normal(causes)
    genetic = A @ effects
    noise = rng.standard_normal(n) * genetic.std() * np.sqrt((1 - heritability) / heritability)
    b = genetic + noise
    return A, (b - b.mean()) / b.std()

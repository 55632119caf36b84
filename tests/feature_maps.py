"""Feature maps, and points for them."""

import numpy as np

from southwell.features import RandomBinning, RandomFourier

MAPS = [RandomFourier, RandomBinning]


def points(n=30, d=4, seed=0, zeros=0.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) >= zeros)

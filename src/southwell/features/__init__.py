"""Kernels as features: linear models on them approximate kernel machines (Rahimi and Recht 2007).

>>> import numpy as np
>>> from southwell.features import RandomBinning, RandomFourier
>>> X = np.random.default_rng(0).normal(size=(5, 3))
>>> RandomFourier(n_components=64, random_state=0).fit_transform(X).shape
(5, 64)
>>> Z = RandomBinning(n_grids=64, random_state=0).fit_transform(X)
>>> bool(np.allclose((Z @ Z.T).diagonal(), 1.0))
True
"""

from ._binning import RandomBinning
from ._fourier import RandomFourier

__all__ = ["RandomBinning", "RandomFourier"]

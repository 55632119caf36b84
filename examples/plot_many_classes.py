"""
Many classes: the sectors of companies
======================================

The data are 6,412 web pages of companies in 105 sectors, with 55,197 words. Each sector is one problem (this sector
against the rest); the problems share the data and run on all processors. The coefficients are stored sparse, so a
model of all sectors fits in a small file.
"""

# %%

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import southwell as sw
from southwell.testing import datasets

X, y = datasets.load("sector")
train = np.arange(X.shape[0]) % 5 != 0
print(X.shape, np.unique(y).size, "classes")

# %%
# The squared hinge loss with an L1 penalty selects a few hundred words for each sector.

begun = time.perf_counter()
model = sw.SparseLinearClassifier("squared_hinge", l1=1e-4, sparse_coef=True, tol=1e-4).fit(X[train], y[train])
print(f"{time.perf_counter() - begun:.1f} s; the worst gap of {len(model.result_)} is {model.gap_:.1e}")
print(f"accuracy {model.score(X[~train], y[~train]):.3f}; {model.coef_.nnz / len(model.classes_):.0f} words a class")

# %%
# The model is saved in one file. Loading it runs no code and returns the same numbers, bit for bit.

path = Path(tempfile.mkdtemp()) / "sector.southwell"
model.save(path)
again = sw.load(path)
print(f"{path.stat().st_size / 1e6:.1f} MB; {(again.predict(X[~train]) == model.predict(X[~train])).all()}")

# %%
# The number of words that the models of the sectors use.

words = np.diff(model.coef_.indptr)
plt.hist(words, bins=30)
plt.xlabel("words")
plt.ylabel("sectors")
plt.show()

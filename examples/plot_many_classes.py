"""
Many classes: which module a text documents
===========================================

The data are about 2,400 texts that document the functions and classes of NumPy, SciPy and scikit-learn, and the classes
are their 33 modules. Each module is one problem (this module against the rest); the problems share the data and run on
all processors. The coefficients are stored sparse, so that a model of all modules fits in a small file.
"""

# %%

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import southwell as sw
from southwell.testing.texts import docstrings

texts, modules = docstrings()
words = TfidfVectorizer(sublinear_tf=True, min_df=3, token_pattern="[a-z]{3,}")
X = words.fit_transform(texts)
train = np.random.default_rng(0).permutation(modules.size) % 5 != 0
print(X.shape, np.unique(modules).size, "modules")

# %%
# The squared hinge loss with an L1 penalty selects some words for each module.

begun = time.perf_counter()
model = sw.SparseLinearClassifier("squared_hinge", l1=1e-3, sparse_coef=True, tol=1e-4).fit(X[train], modules[train])
print(f"{time.perf_counter() - begun:.1f} s; the worst gap of {len(model.dual_gap_)} is {model.gap_:.1e}")
print(f"accuracy {model.score(X[~train], modules[~train]):.3f}")
print(f"{model.coef_.nnz / len(model.classes_):.0f} words a module")

# %%
# What speaks for one of them.

sw.plots.coefficients(model, words.get_feature_names_out(), target="scipy.stats", top=15)

# %%
# The model is saved in one file. Loading it runs no code and returns the same numbers, bit for bit.

path = Path(tempfile.mkdtemp()) / "modules.southwell"
model.save(path)
again = sw.load(path)
print(f"{path.stat().st_size / 1e6:.1f} MB; {(again.predict(X[~train]) == model.predict(X[~train])).all()}")

# %%
# The number of words that the models of the modules use.

figure, axis = plt.subplots()
axis.hist(np.diff(model.coef_.indptr), bins=20)
axis.set(xlabel="words", ylabel="modules")
plt.show()

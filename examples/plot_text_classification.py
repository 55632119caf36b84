"""
Text classification with an L1 penalty
======================================

The data are the texts that document the functions and classes of NumPy, SciPy and scikit-learn: about 2,400 of them.
The model predicts whether a text is SciPy's. The L1 penalty selects a part of the words, and the gap proves how close
the model is to the optimum.
"""

# %%
# The features are tf-idf weights of words, with rows scaled to length one. The matrix is sparse and stays sparse.
# The names of the libraries are left out, as they would tell too much.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import southwell as sw
from southwell.testing.texts import docstrings

texts, modules = docstrings()
words = TfidfVectorizer(
    sublinear_tf=True, min_df=3, token_pattern="[a-z]{3,}", stop_words=["numpy", "scipy", "sklearn", "scikit", "learn"]
)
X = words.fit_transform(texts)
y = np.array([module.partition(".")[0] for module in modules]) == "scipy"
print(X.shape, f"{X.nnz / np.prod(X.shape):.2%} of the entries are not zero; {y.mean():.0%} of the texts are SciPy's")
train = np.random.default_rng(0).permutation(y.size) % 5 != 0

# %%
# Five-fold cross-validation chooses ``C`` among eight values; each fold computes a path from strong to weak penalties.
# Texts are sorted by library, so the folds must be shuffled. Any scorer of scikit-learn can be used.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
model = sw.LogisticRegressionCV(
    Cs=np.geomspace(0.3, 100, 8),
    penalty="l1",
    cv=folds,
    scoring="roc_auc",
    one_standard_error=True,
    use_legacy_attributes=False,
).fit(X[train], y[train])
print(f"C = {model.C_:.3g}, {model.sparse_coef_.nnz} words, a gap of {model.gap_:.1e}")
print(f"area under the curve on held-out texts: {roc_auc_score(y[~train], model.decision_function(X[~train])):.4f}")
sw.plots.cross_validation(model)

# %%
# The words that tell most; positive ones speak for SciPy.

sw.plots.coefficients(model, words.get_feature_names_out())

# %%
# The same model with other losses. Each answer is proven to be near its optimum, so the differences are those of the
# models and not of the optimisation.

for loss in ("logistic", "squared_hinge", "smooth_hinge", "hinge"):
    other = sw.SparseLinearClassifier(loss, l1=1e-3, l2=1e-4).fit(X[train], y[train])
    used, accuracy = other.sparse_coef_.nnz, other.score(X[~train], y[~train])
    print(f"{loss:14s} accuracy {accuracy:.3f}, {used:4d} words, a gap of {other.gap_:.1e}")

# %%
# The history of a fit shows how the gap decreased.

models = [sw.LogisticRegression("l1", C=C, keep_dual=True).fit(X[train], y[train]) for C in (1, 10, 100)]
answers = {f"C = {model.C}": model.result_ for model in models}
sw.plots.convergence(answers)
plt.show()

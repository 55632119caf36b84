"""
Text classification with an L1 penalty
======================================

The data are 11,314 messages of twenty newsgroups, with 130,107 words. The model predicts whether a message is about
computers. The L1 penalty selects a part of the words, and the gap proves how close the model is to the optimum.
"""

# %%
# The features are tf-idf weights, with rows scaled to length one. The matrix is sparse and is never made dense.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import southwell as sw
from southwell.testing import datasets

X, y = datasets.load_binary("20news")
print(X.shape, f"{X.nnz / np.prod(X.shape):.2%} of the entries are not zero")
train = np.arange(X.shape[0]) % 5 != 0

# %%
# Five-fold cross-validation chooses ``C`` among eight values; each fold computes a path from strong to weak penalties.
# Messages are sorted by newsgroup, so the folds must be shuffled. Any scorer of scikit-learn can be used.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
model = sw.LogisticRegressionCV(
    Cs=np.geomspace(0.1, 30, 8), penalty="l1", cv=folds, scoring="roc_auc", one_standard_error=True
).fit(X[train], y[train])
print(f"C = {model.C_:.3g}, {model.sparse_coef_.nnz} words, a gap of {model.gap_:.1e}")
print(f"area under the curve on held-out messages: {roc_auc_score(y[~train], model.decision_function(X[~train])):.4f}")
sw.plots.cross_validation(model)

# %%
# The same model with other losses. Each answer is proven to be near its optimum, so the differences are those of the
# models and not of the optimisation.

for loss in ("logistic", "squared_hinge", "smooth_hinge", "hinge"):
    other = sw.SparseLinearClassifier(loss, l1=1e-4, l2=1e-5).fit(X[train], y[train])
    words, accuracy = other.sparse_coef_.nnz, other.score(X[~train], y[~train])
    print(f"{loss:14s} accuracy {accuracy:.4f}, {words:5d} words, a gap of {other.gap_:.1e}")

# %%
# The history of a fit shows how the gap decreased.

answers = {f"C = {C}": sw.LogisticRegression("l1", C=C).fit(X[train], y[train]).result_ for C in (0.1, 1, 10)}
sw.plots.convergence(answers)
plt.show()

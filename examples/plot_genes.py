"""
Gene selection with an L1 penalty
=================================

The data are 72 patients with one of two kinds of leukemia, and the activity of 7,129 genes. With a hundred times more
features than samples, many models fit the data perfectly, and the penalty decides between them. So it matters that the
optimisation problem is solved accurately.
"""

# %%

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

import southwell as sw
from southwell.testing import datasets

X, y = datasets.load_binary("leukemia", standardise=True)
X = np.asfortranarray(X)  # by columns: read without a copy
print(X.shape)

# %%
# The path of an L1 logistic regression: more genes are selected as the penalty decreases.

path = sw.path(sw.Problem(X, y, "logistic", intercept=True), n_points=60, ratio=0.01)
print(path)
path.plot(names=[f"gene {j}" for j in range(X.shape[1])], top=8)

# %%
# Screening: the gap proves that the coefficients of most genes are zero in every solution.

result = sw.solve(X, y, loss="logistic", l1=0.1 * sw.lambda_max(X, y, loss="logistic", intercept=True), intercept=True)
print(f"{result.screened.n_features} of {X.shape[1]} genes are proven to be zero; {result.nonzeros} are not zero")

# %%
# An elastic net gives similar weights to correlated genes. Cross-validation estimates its accuracy on new patients.

model = sw.LogisticRegression(l1_ratio=0.5, C=0.1)
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
print(f"accuracy {cross_val_score(model, X, y, cv=folds).mean():.3f}")
sw.plots.coefficients(model.fit(X, y), [f"gene {j}" for j in range(X.shape[1])], top=15)

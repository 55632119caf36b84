"""
Gene selection with an L1 penalty
=================================

The data imitate a study of gene expression: 72 patients of two kinds, and the activity of 7,000 genes, which is made.
Genes of a pathway are active together, and five of 200 pathways differ between the kinds. With a hundred times more
features than samples, many models fit the data perfectly, and the penalty decides between them. So it matters that the
optimisation problem is solved accurately.
"""

# %%

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.preprocessing import scale

import southwell as sw

rng = np.random.default_rng(0)
kind = np.repeat(["first kind", "second kind"], [47, 25])
pathway = rng.integers(200, size=7000)  # of each gene
activity = rng.normal(size=(72, 200))  # of each pathway
activity[:, :5] += 1.2 * (kind == "second kind")[:, None]
X = np.asfortranarray(
    scale(activity[:, pathway] + 0.8 * rng.normal(size=(72, 7000)))
)  # by columns: read without a copy
names = [f"gene {j} (pathway {p})" for j, p in enumerate(pathway)]
print(X.shape, f"{(pathway < 5).sum()} genes are of pathways 0 to 4, which differ")

# %%
# The path of an L1 logistic regression: more genes are selected as the penalty decreases.

path = sw.path(X, kind, loss="logistic", intercept=True, n_points=60, ratio=0.01)
print(path)
path.plot(names=names, top=8)

# %%
# Screening: the gap proves that the coefficients of most genes are zero in every solution.

l1 = 0.1 * sw.lambda_max(X, kind, loss="logistic", intercept=True)
result = sw.solve(X, kind, loss="logistic", l1=l1, intercept=True)
print(f"{result.screened.n_features} of {X.shape[1]} genes are proven to be zero; {result.nonzeros} are not zero")

# %%
# An elastic net gives similar weights to the genes of a pathway. Cross-validation estimates its accuracy on new
# patients.

model = sw.LogisticRegression(l1_ratio=0.5, C=0.1)
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
print(f"accuracy {cross_val_score(model, X, kind, cv=folds).mean():.3f}")
found = np.flatnonzero(model.fit(X, kind).coef_[0])
print(f"{found.size} genes have a weight, {(pathway[found] < 5).sum()} of them of the pathways that differ")
sw.plots.coefficients(model, names, top=15)

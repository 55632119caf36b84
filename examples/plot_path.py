"""
A regularisation path
=====================

How do the coefficients of a lasso grow as the penalty falls? ``southwell.path`` solves from strong to weak penalties,
each beginning where the last one ended, and every point has a certificate of its own.
"""

# %%
# Ten measurements of 442 patients, and how their diabetes went on.

from sklearn.datasets import load_diabetes

import southwell as sw

data = load_diabetes()
path = sw.path(sw.Problem(data.data, data.target, intercept=True), n_points=100, ratio=1e-3)
print(path)

# %%
# The body mass index comes first, then a blood measurement, then blood pressure.

path.plot(names=data.feature_names)

# %%
# How much is explained, with how many? The share of the variance grows fast at first.

for points in (10, 30, 60, 99):
    print(f"l1 = {path.l1s[points]:8.4f}: {path.nonzeros[points]:2d} features explain {path.explained[points]:.1%}")

# %%
# The penalty that predicts best is a question for cross-validation. The simplest model that is as good, for all one can
# tell, is within one standard error of the best.

model = sw.LassoCV(one_standard_error=True).fit(data.data, data.target)
sw.plots.cross_validation(model)

# %%

sw.plots.coefficients(model, data.feature_names)

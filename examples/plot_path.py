"""
A regularisation path
=====================

``southwell.path`` computes the coefficients of a lasso for a sequence of penalties, from strong to weak. Each solve
starts at the solution before it, and every point has a certificate of its own.
"""

# %%
# The data are ten measurements of 442 patients, and a measure of how their diabetes progressed.

from sklearn.datasets import load_diabetes

import southwell as sw

data = load_diabetes(as_frame=True)
path = sw.path(data.data, data.target, intercept=True, n_points=100, ratio=1e-3)
print(path)

# %%
# The body mass index enters first, then a blood measurement, then blood pressure.

path.plot()

# %%
# The share of the variance that the model explains grows fast at first.

for points in (10, 30, 60, 99):
    print(f"l1 = {path.l1s[points]:8.4f}: {path.nonzeros[points]:2d} features explain {path.explained[points]:.1%}")

# %%
# Cross-validation chooses the penalty. With ``one_standard_error=True`` it takes the strongest penalty whose score is
# within one standard error of the best.

model = sw.LassoCV(one_standard_error=True).fit(data.data, data.target)
sw.plots.cross_validation(model)

# %%

sw.plots.coefficients(model)

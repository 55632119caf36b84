"""
Cross-validation with a custom scorer
=====================================

A missed cancer is worse than a false alarm. This example states how much worse, and lets cross-validation choose the
penalty by that cost.
"""

# %%

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import southwell as sw

data = load_breast_cancer()
X, ill = data.data, (data.target == 0).astype(int)


def cost(truth, prediction) -> float:
    """A missed cancer costs ten, a false alarm one; for each patient."""
    _, alarms, missed, _ = confusion_matrix(truth, prediction, labels=[0, 1]).ravel()
    return (10 * missed + alarms) / len(truth)


# %%
# Cross-validation maximises a scorer, so the cost changes its sign. The scorer receives fitted estimators with
# ``predict``, ``decision_function`` and, for the logistic loss, ``predict_proba``.

scorer = make_scorer(cost, greater_is_better=False)
pipe = make_pipeline(StandardScaler(), sw.LogisticRegressionCV(Cs=12, penalty="l1", scoring=scorer, cv=10))
model = pipe.fit(X, ill)[-1]
print(f"C = {model.C_:.3g}, {np.count_nonzero(model.coef_)} features, cost {cost(ill, pipe.predict(X)):.4f}")
sw.plots.cross_validation(model)

# %%
# Class weights put the same cost into the loss: a patient with cancer counts ten times.

weighted = sw.LogisticRegressionCV(Cs=12, penalty="l1", scoring=scorer, cv=10, class_weight={0: 1, 1: 10})
pipe = make_pipeline(StandardScaler(), weighted).fit(X, ill)
print(f"C = {pipe[-1].C_:.3g}, {np.count_nonzero(pipe[-1].coef_)} features, cost {cost(ill, pipe.predict(X)):.4f}")

# %%

sw.plots.coefficients(pipe[-1], data.feature_names, top=12)

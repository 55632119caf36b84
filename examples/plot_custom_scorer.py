"""
Cross-validation with a custom scorer
=====================================

A missed cancer is worse than a false alarm. This example states how much worse, lets cross-validation choose the
penalty by that cost, and then puts the cost into the loss, which helps more.
"""

# %%

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import southwell as sw

data = load_breast_cancer(as_frame=True)
X, ill = data.data, (data.target == 0).astype(int)


def cost(truth, prediction) -> float:
    """A missed cancer costs ten, a false alarm one; for each patient."""
    _, alarms, missed, _ = confusion_matrix(truth, prediction, labels=[0, 1]).ravel()
    return (10 * missed + alarms) / len(truth)


# %%
# Cross-validation maximises a scorer, so the cost changes its sign. The scorer receives fitted estimators with
# ``predict``, ``decision_function`` and, for the logistic loss, ``predict_proba``.

scorer = make_scorer(cost, greater_is_better=False)


def chosen(**options):
    """A model whose penalty is chosen by five-fold cross-validation."""
    Cs = np.logspace(-2, 2, 9)
    model = sw.LogisticRegressionCV(Cs=Cs, penalty="l1", cv=5, use_legacy_attributes=False, **options)
    return make_pipeline(StandardScaler(), model)


# %%
# Three models: the penalty chosen by accuracy; by cost; and by cost, where a patient with cancer counts ten times in
# the loss, too. Every patient is predicted by a model that has not seen them, nor has the choice of its penalty.

models = {
    "chosen by accuracy": chosen(),
    "chosen by cost": chosen(scoring=scorer),
    "chosen by cost, with weights": chosen(scoring=scorer, class_weight={0: 1, 1: 10}),
}
costs = {}
for name, model in models.items():
    prediction = cross_val_predict(model, X, ill, cv=5)
    _, alarms, missed, _ = confusion_matrix(ill, prediction).ravel()
    costs[name] = cost(ill, prediction)
    print(f"{name:30s} {missed:2d} missed, {alarms:2d} false alarms: cost {costs[name]:.3f}")

# %%
# The scorer alone changes little, because all these models give both errors the same weight. With weights in the loss,
# fewer cancers are missed, at the price of more false alarms.

best = models[min(costs, key=costs.get)].fit(X, ill)
print(f"C = {best[-1].C_:.3g}, {np.count_nonzero(best[-1].coef_)} features")
sw.plots.cross_validation(best)

# %%

sw.plots.coefficients(best, top=12)

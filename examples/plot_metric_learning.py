"""
Metric learning for nearest neighbours
======================================

A nearest-neighbour classifier depends on its distance. Here the distance is learned: neighbours of the same class
should be near, and impostors (points of other classes) farther away by a margin. This is a convex problem over
positive semi-definite matrices, so the solution has a certificate.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from southwell.metric import LargeMarginNearestNeighbor, MultiTaskLargeMarginNearestNeighbor

X, y = load_digits(return_X_y=True)
train, test = np.arange(0, y.size, 3), np.delete(np.arange(y.size), np.arange(0, y.size, 3))
plain = KNeighborsClassifier(3).fit(X[train], y[train])
print(f"Euclidean distance: {plain.score(X[test], y[test]):.3f}")

# %%
# One metric for all ten digits. The gap bounds the distance of the objective from the optimum.

model = LargeMarginNearestNeighbor().fit(X[train], y[train])
print(f"learned distance:   {model.score(X[test], y[test]):.3f}, {model.n_triplets_} triplets, gap {model.gap_:.1e}")
model.result_.plot()

# %%
# The diagonal of the metric shows how much each pixel matters by itself.

figure, axes = plt.subplots(1, 2, figsize=(6, 3))
axes[0].imshow(X[train].std(axis=0).reshape(8, 8), cmap="gray")
axes[0].set(title="spread of pixels", xticks=[], yticks=[])
axes[1].imshow(np.diag(model.metric_).reshape(8, 8), cmap="gray")
axes[1].set(title="weight in the metric", xticks=[], yticks=[])

# %%
# ``transform`` maps points so that Euclidean distances between mapped points are the learned distances. Its first two
# directions have the largest weights.

moved = model.transform(X[test])
figure, axis = plt.subplots()
points = axis.scatter(moved[:, 0], moved[:, 1], c=y[test], cmap="tab10", s=6)
figure.colorbar(points, label="digit")

# %%
# Two tasks, small and large digits, with few samples each. The metric of a task is the sum of a shared part and a part
# of its own.

few = train[::3]
tasks = np.where(y < 5, "small", "large")
shared = MultiTaskLargeMarginNearestNeighbor().fit(X[few], y[few], tasks[few])
for name in shared.tasks_:
    own, new = few[tasks[few] == name], test[tasks[test] == name]
    before = KNeighborsClassifier(3).fit(X[own], y[own]).score(X[new], y[new])
    print(f"{name} digits: {before:.3f} before, {shared.score(X[new], y[new], tasks=tasks[new]):.3f} after")

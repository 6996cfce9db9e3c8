"""
Random projections of labels
============================

Splits are searched in a sketch of the labels. See how well the sketch preserves distances, compare
kinds of projections, and write your own.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from sketchforest import RandomForestClassifier
from sketchforest.datasets import make_delicious_like
from sketchforest.metrics import lrap
from sketchforest.projection import Projection, sketch

data = make_delicious_like(800, n_labels=300)
Y = data.Y[:200].astype(np.float32)
true = euclidean_distances(Y)[np.triu_indices(200, 1)]
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for m, colour in ((4, "#56b4e9"), (16, "#0072b2"), (64, "#d55e00")):
    Z = sketch("gaussian", Y, m, np.random.default_rng(0))
    ratio = euclidean_distances(Z)[np.triu_indices(200, 1)] / true
    axes.hist(ratio, np.linspace(0, 2, 60), histtype="step", color=colour, label=f"m = {m}")
axes.set(xlabel="distance in the sketch / distance of the labels", yticks=[])
axes.legend(frameon=False)
axes.spines[["top", "right", "left"]].set_visible(False)

# %%
# A custom projection: keep only the most frequent labels.


class Frequent(Projection):
    fits_labels, is_random = True, False

    def fit(self, Y, n_components, rng):
        chosen = np.asarray(Y.sum(axis=0)).ravel().argsort()[::-1][:n_components]
        P = np.zeros((Y.shape[1], n_components), np.float32)
        P[chosen, np.arange(n_components)] = 1
        return P


train, test = data.splits["train"], data.splits["test"]
for projection in ("gaussian", "subsample", "pca", Frequent()):
    forest = RandomForestClassifier(
        50, projection=projection, n_components=16, random_state=0, n_jobs=-1
    )
    scores = forest.fit(data.X[train], data.Y[train]).predict_proba(data.X[test])
    print(f"{projection!s:.40}: LRAP {lrap(data.Y[test], scores):.3f}")

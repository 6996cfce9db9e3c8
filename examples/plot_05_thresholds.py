"""
Compare thresholds
==================

Predict all labels above a fixed threshold, above one or more thresholds chosen out-of-bag for F1,
or simply the k best.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score

from sketchforest import SketchForestClassifier
from sketchforest.datasets import make_delicious_like

data = make_delicious_like(1200, n_labels=200, labels_per_row=8)
train, test = data.splits["train"], data.splits["test"]
forest = SketchForestClassifier(50, random_state=0, n_jobs=-1).fit(data.X[train], data.Y[train])

found = {}
for threshold in (0.5, 0.2, "top-8", "f1-per-label", "f1"):
    decided = forest.set_params(threshold=threshold).predict(data.X[test])
    found[str(threshold)] = f1_score(data.Y[test], decided, average="micro")
    print(f"{threshold!s:>12}: {np.mean(decided.sum(axis=1)):.1f} labels per row")

# %%
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.barh(list(found), list(found.values()), color="#0072b2")
axes.set_xlabel("F1 of all decisions on test rows")
axes.spines[["top", "right"]].set_visible(False)

"""
Do probabilities come true?
===========================

Of all pairs of a row and a label that got about 0.3, about three in ten should be true.
"""

# %%
from sketchforest import RandomForestClassifier
from sketchforest.datasets import make_delicious_like
from sketchforest.evaluation import evaluate

data = make_delicious_like(1500, n_labels=150, labels_per_row=8)
train, test = data.splits["train"], data.splits["test"]
forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=0, n_jobs=-1)
forest.fit(data.X[train], data.Y[train])
result = evaluate(forest, data.X[test], data.Y[test])
result

# %%
# `plot` draws three pictures: decisions by threshold, labels, and the calibration.
_ = result.plot()

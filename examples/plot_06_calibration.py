"""
Check calibration
=================

If probabilities are well calibrated, about three in ten labels predicted at 0.3 are true.
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
# `plot` shows decisions by threshold, scores of labels, and calibration.
_ = result.plot()

"""
Tune a forest
=============

`tune` searches for the best setting within a budget. It scores settings out-of-bag.
"""

# %%
from sketchforest.datasets import make_delicious_like
from sketchforest.metrics import lrap
from sketchforest.tuning import tune

data = make_delicious_like(600, n_labels=100, labels_per_row=6)
train, test = data.splits["train"], data.splits["test"]
result = tune(data.X[train], data.Y[train], n_estimators=30, budget="400 trees", random_state=0)
print(result.advice)
print(f"LRAP on test rows: {lrap(data.Y[test], result.forest.predict_proba(data.X[test])):.3f}")

# %%
# All settings tried, with their predicted scores:
result.to_frame().head(6)

# %%
_ = result.plot()

"""
Train on a Dask cluster
=======================

Grow trees on the workers of a Dask cluster. The forest is bit-identical to one grown on a single
machine. Predictions run on blocks of rows.
"""

# %%
# Here the cluster runs inside this process. `Client("scheduler:8786")` connects to a real one.
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.datasets import load_digits

from sketchforest import SketchForestClassifier
from sketchforest.dask import fit, predict_topk

X, y = load_digits(return_X_y=True)
forest = SketchForestClassifier(20, random_state=0)
with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    distributed = fit(forest, X[:1000], y[:1000], client)
    rows = da.from_array(X[1000:], chunks=(200, 64))
    labels, scores = predict_topk(distributed, rows, k=2)
    labels = labels.compute()
is_right = labels[:, 0] == y[1000:]
print(f"accuracy {is_right.mean():.3f}, in blocks of 200 rows")

plt.bar(range(10), [is_right[y[1000:] == digit].mean() for digit in range(10)])
plt.xticks(range(10))
plt.xlabel("digit")
plt.ylabel("recall")
plt.show()

# %%
# The forest is the same, bit by bit:
alone = SketchForestClassifier(20, random_state=0).fit(X[:1000], y[:1000])
print(np.array_equal(alone.predict_proba(X), distributed.predict_proba(X)))

"""
On a cluster
============

Trees grow on the workers of a Dask cluster, with the same bits as on one machine; predictions are
mapped over blocks of rows.
"""

# %%
# The cluster of this example is within this process; `Client("scheduler:8786")` would ask another.
import dask.array as da
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
print(f"{(labels[:, 0] == y[1000:]).mean():.3f} right, by blocks of 200 rows")

# %%
# The same forest, bit by bit:
alone = SketchForestClassifier(20, random_state=0).fit(X[:1000], y[:1000])
print(np.array_equal(alone.predict_proba(X), distributed.predict_proba(X)))

"""
Missing values and weights
==========================

NaN means missing, and each split learns which side such rows go to. Weights let rows count more,
less, or not at all.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from sketchforest import SketchForestRegressor
from sketchforest.metrics import r2

X, y = load_diabetes(return_X_y=True)
rng = np.random.default_rng(0)
shares = (0, 0.1, 0.3, 0.5, 0.7)
found = []
for share in shares:
    holed = np.where(rng.random(X.shape) < share, np.nan, X)
    forest = SketchForestRegressor(50, random_state=0).fit(holed[:300], y[:300])
    found.append(r2(y[300:], forest.predict(holed[300:])))

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot(shares, found, "o-", color="#0072b2")
axes.set(xlabel="share of missing values", ylabel="R² on test rows", ylim=(0, None))
axes.spines[["top", "right"]].set_visible(False)

# %%
# A weight of 0 leaves a row out. Only ratios of weights matter.
weights = np.ones(300)
weights[:100] = 0
some = SketchForestRegressor(20, random_state=0).fit(X[:300], y[:300], sample_weight=weights)
again = SketchForestRegressor(20, random_state=0).fit(X[:300], y[:300], sample_weight=3 * weights)
print(np.allclose(some.predict(X), again.predict(X)))

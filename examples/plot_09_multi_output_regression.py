"""
Multi-output regression
=======================

Predict the lower half of a digit from its upper half: 32 real outputs at once.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sketchforest import RandomForestRegressor, SketchForestRegressor
from sketchforest.metrics import r2

X, Y = np.hsplit(load_digits().data, 2)
X, X_test, Y, Y_test = X[:1400], X[1400:], Y[:1400], Y[1400:]
forests = {
    "random forest, m = 1": RandomForestRegressor(50, max_features="sqrt", n_components=1),
    "random forest": RandomForestRegressor(50, max_features="sqrt"),
    "sketch forest": SketchForestRegressor(50),
}
found = {}
for name, forest in forests.items():
    found[name] = forest.set_params(random_state=0, n_jobs=-1).fit(X, Y).predict(X_test)
    print(f"{name}: R² {r2(Y_test, found[name]):.3f}")

# %%
figure, panels = plt.subplots(2, 5, figsize=(7, 3), layout="constrained")
for column, row in enumerate((0, 3, 5, 7, 9)):
    for line, lower in enumerate((Y_test[row], found["sketch forest"][row])):
        panels[line, column].imshow(np.hstack([X_test[row], lower]).reshape(8, 8), cmap="Greys")
        panels[line, column].set(xticks=[], yticks=[])
panels[0, 0].set_ylabel("true")
_ = panels[1, 0].set_ylabel("predicted")

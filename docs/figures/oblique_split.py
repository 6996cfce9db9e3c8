"""Two classes that no single feature separates, but one direction does."""

import matplotlib.pyplot as plt
import numpy as np
from plot_style import BLUE, ORANGE, clean_axes

from sketchforest import DecisionTreeClassifier

rng = np.random.default_rng(0)
X = rng.uniform(0, 1, (400, 2))
y = (X[:, 0] + X[:, 1] + rng.normal(0, 0.06, 400) > 1).astype(int)
grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, 300)]), -1).reshape(-1, 2)
Y = np.stack([y, 1 - y], 1)

figure, panels = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True)
for axes, splitter, title in (
    (panels[0], "best", "axis-aligned splits"),
    (panels[1], "oblique", "oblique splits"),
):
    tree = DecisionTreeClassifier(splitter, random_state=0, max_leaf_nodes=8).fit(X, Y)
    found = tree.predict_proba(grid)[:, 0].reshape(300, 300)
    axes.contourf(*2 * [np.linspace(0, 1, 300)], found, (0, 0.5, 1), colors=["#cfe4f2", "#f9dcc8"])
    for kind, colour in enumerate((BLUE, ORANGE)):
        axes.plot(*X[y == kind].T, ".", color=colour, markersize=4)
    accuracy = (tree.predict(grid)[:, 0] == (grid.sum(1) > 1)).mean()
    axes.set_title(f"{title}\n{tree.get_n_leaves()} leaves, accuracy {accuracy:.1%}", fontsize=10)
    axes.set(xlabel="feature 1", aspect="equal")
    clean_axes(axes)
panels[0].set_ylabel("feature 2")

"""Accuracy against the number of trees, the leaf size and the number of features per split."""

import matplotlib.pyplot as plt
from plot_style import BLUE, GREEN, ORANGE, clean_axes

from sketchforest import ExtraTreesClassifier, RandomForestClassifier
from sketchforest.datasets import make_delicious_like
from sketchforest.metrics import lrap

data = make_delicious_like(1500)
X, Y, X_test, Y_test = (A[data.splits[s]] for s in ("train", "test") for A in (data.X, data.Y))


def score(forest):
    return lrap(Y_test, forest.fit(X, Y).predict_proba(X_test))


KINDS = (
    (RandomForestClassifier, {}, "random forest", BLUE),
    (RandomForestClassifier, {"n_components": 1}, "random forest, m = 1", ORANGE),
    (ExtraTreesClassifier, {}, "extra-trees", GREEN),
)
figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.6), sharey=True)
for axes, name, values, fixed in (
    (panels[0], "n_estimators", (1, 2, 5, 10, 20, 50, 100), {}),
    (panels[1], "min_samples_leaf", (1, 2, 5, 10, 20, 50), {"n_estimators": 50}),
    (panels[2], "max_features", (1, 5, 22, 90, 250, 500), {"n_estimators": 50}),
):
    for kind, params, label, colour in KINDS:
        forest = kind(random_state=0, **params, **fixed)
        found = [score(forest.set_params(**{name: value})) for value in values]
        axes.plot(values, found, "o-", color=colour, label=label)
    axes.set_xscale("log")
    axes.set_xticks(values, values)
    axes.minorticks_off()
    axes.set_xlabel(name)
    clean_axes(axes)
panels[0].set_ylabel("LRAP on test rows")
panels[0].legend(frameon=False, loc="lower right")

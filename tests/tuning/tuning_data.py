"""Data and a short search for tests of tuning."""

import numpy as np

from sketchforest.datasets import make_multilabel
from sketchforest.tuning import tune

DATA = make_multilabel(240, 30, 40, labels_per_row=4, features_per_row=8, n_topics=8)
X, Y = DATA.X, DATA.Y


PLAIN = ("random_forest", "extra_trees")


def tuned(**params):
    given = {"budget": "300 trees", "n_estimators": 40, "random_state": 0, "n_jobs": 1}
    given["estimators"] = PLAIN
    return tune(X, Y, **(given | params))


def same_trees(a, b):
    arrays = ("nodes", "members", "member_start", "tree_members")
    return all(
        np.array_equal(getattr(a.fitted_.forest, name), getattr(b.fitted_.forest, name))
        for name in arrays
    )

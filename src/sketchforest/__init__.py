"""Random forests and extra-trees for problems with very many outputs.

Splits are searched in a random projection of the labels; leaves keep training rows, so predictions
are averages of the original labels.
"""

from sketchforest.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    load_forest,
)
from sketchforest.tree import DecisionTreeClassifier, DecisionTreeRegressor

__version__ = "0.1.0"

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "load_forest",
]

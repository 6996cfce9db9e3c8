"""Texts and tables as the features of a model, and lists of tags as its labels."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sketchforest._estimators.trees import TreesClassifier, TreesRegressor

Classifier: TypeAlias = "TreesClassifier"
Model: TypeAlias = "TreesClassifier | TreesRegressor"

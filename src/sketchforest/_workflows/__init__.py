"""Train on files, evaluate on files, and read rows in the form a model needs."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sketchforest._estimators.trees import TreesClassifier, TreesRegressor

Classifier: TypeAlias = "TreesClassifier"
Model: TypeAlias = "TreesClassifier | TreesRegressor"

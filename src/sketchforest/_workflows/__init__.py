"""From files to models and back: training, evaluation, rows as a model wants them."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sketchforest._estimators.trees import TreesClassifier, TreesRegressor

Classifier: TypeAlias = "TreesClassifier"
Model: TypeAlias = "TreesClassifier | TreesRegressor"

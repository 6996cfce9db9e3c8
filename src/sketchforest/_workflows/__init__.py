"""From files to models and back: training, evaluation, rows as a model wants them."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sketchforest._estimators.base import LabelPredictor, OutputPredictor

Classifier: TypeAlias = "LabelPredictor"
Model: TypeAlias = "LabelPredictor | OutputPredictor"

# What estimators are called on the command line, and their classes.
ESTIMATORS = {
    "random-forest": "RandomForestClassifier",
    "extra-trees": "ExtraTreesClassifier",
    "decision-tree": "DecisionTreeClassifier",
    "random-forest-regressor": "RandomForestRegressor",
    "extra-trees-regressor": "ExtraTreesRegressor",
    "decision-tree-regressor": "DecisionTreeRegressor",
}
DEFAULT_ESTIMATOR = next(iter(ESTIMATORS))

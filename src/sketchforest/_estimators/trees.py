"""The base classes of all classifiers and of all regressors."""

from sklearn.utils import Tags

from sketchforest._estimators.inspection.mixin import InspectionMixin
from sketchforest._estimators.predicting.labels import PredictsLabels
from sketchforest._estimators.predicting.numbers import PredictsNumbers
from sketchforest._trees.criterion import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA


class TreesClassifier(PredictsLabels, InspectionMixin):
    """Predicts labels or classes."""

    _criteria = CLASSIFICATION_CRITERIA

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class TreesRegressor(PredictsNumbers, InspectionMixin):
    """Predicts numbers."""

    _criteria = REGRESSION_CRITERIA

"""Texts and tables as the features of a model, and lists of tags as its labels."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sketchforest._estimators.estimator import Estimator
    from sketchforest._estimators.predicting.labels import PredictsLabels

Classifier: TypeAlias = "PredictsLabels"
Model: TypeAlias = "Estimator"

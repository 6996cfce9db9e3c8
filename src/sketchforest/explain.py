"""Explanations of single predictions: the features and the training rows behind a score."""

from sketchforest._estimators.inspection.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]

"""Evaluation of models on rows with known labels: scores, tables and plots."""

from sketchforest._evaluation.cross_validation import CrossValidation
from sketchforest._evaluation.displays import (
    CalibrationDisplay,
    FeatureImportancesDisplay,
    LabelFrequencyDisplay,
    PrecisionAtKDisplay,
    ThresholdCurveDisplay,
)
from sketchforest._evaluation.fitted import evaluate
from sketchforest._evaluation.fitted import is_classifier as is_classifier
from sketchforest._evaluation.label_table import LABEL_COLUMNS, LabelTable
from sketchforest._evaluation.mistakes import ConfusedPair, WrongRow
from sketchforest._evaluation.result import Evaluation
from sketchforest.metrics.meanings import Meaning, meaning

__all__ = [
    "LABEL_COLUMNS",
    "CalibrationDisplay",
    "ConfusedPair",
    "CrossValidation",
    "Evaluation",
    "FeatureImportancesDisplay",
    "LabelFrequencyDisplay",
    "LabelTable",
    "Meaning",
    "PrecisionAtKDisplay",
    "ThresholdCurveDisplay",
    "WrongRow",
    "evaluate",
    "meaning",
]

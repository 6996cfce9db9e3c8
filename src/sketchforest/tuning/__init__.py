"""Choose the forest and its projection, m, k and leaf size by out-of-bag score."""

from sketchforest._selection.setting import Setting
from sketchforest.tuning.result import Trial, TuningResult
from sketchforest.tuning.tune import tune

__all__ = ["Setting", "Trial", "TuningResult", "tune"]

"""Choose the projection, m, k, the size of leaves and the kind of forest by out-of-bag score."""

from sketchforest.tuning.result import Trial, TuningResult
from sketchforest.tuning.space import Setting
from sketchforest.tuning.tune import tune

__all__ = ["Setting", "Trial", "TuningResult", "tune"]

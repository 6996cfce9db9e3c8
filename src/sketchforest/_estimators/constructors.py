"""The constructor parameters of the estimators, declared once for those that share them.

`shared_docs.estimator` makes a constructor of what a class declares and inherits.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar, dataclass_transform

import numpy as np

from sketchforest._utils.warning import warn
from sketchforest.projection import ProjectionLike

NComponents: TypeAlias = int | float | Literal["log", "sqrt", "all", "auto"] | None
MaxFeatures: TypeAlias = int | float | Literal["sqrt", "4sqrt", "log2", "auto"] | None
MaxSamples: TypeAlias = int | float | None
RandomState: TypeAlias = int | np.random.RandomState | None
OobScore: TypeAlias = bool | str | Callable[..., float]
Device: TypeAlias = Literal["cpu", "cuda"] | None
Splitter: TypeAlias = Literal["best", "random", "oblique"]
ClassificationCriterion: TypeAlias = Literal["gini", "entropy", "log_loss"]
RegressionCriterion: TypeAlias = Literal[
    "squared_error", "friedman_mse", "absolute_error", "poisson"
]
Threshold: TypeAlias = float | str | Sequence[float] | np.ndarray
ClassWeight: TypeAlias = (
    Literal["balanced", "balanced_subsample"]
    | dict[Hashable, float]
    | list[dict[Hashable, float]]
    | None
)

Calibrate: TypeAlias = Literal["sigmoid", "isotonic"] | None

DEFAULT_PROJECTION = "gaussian"

Instance = TypeVar("Instance")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def declared(cls: type[Instance]) -> type[Instance]:
    """Give a class a constructor with its annotated attributes as keyword-only parameters."""
    made = dataclass(eq=False, repr=False, match_args=False, kw_only=True)(cls)
    init: Any = made.__init__
    # Warnings and tracebacks treat it as code of this file, not of "<string>".
    init.__code__ = init.__code__.replace(co_filename=__file__)
    for name in vars(made)["__dataclass_fields__"]:
        if name in vars(made):  # parameters are attributes of instances, not of classes
            delattr(made, name)
    return made


@declared
class TreeParameters:
    max_depth: int | None = None
    min_weight_fraction_leaf: float = 0.0
    max_features: MaxFeatures = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    projection: ProjectionLike = DEFAULT_PROJECTION
    n_components: NComponents = None
    random_state: RandomState = None


@declared
class CartParameters(TreeParameters):
    """Parameters of trees whose splits compare one feature with a threshold."""

    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    ccp_alpha: float = 0.0
    monotonic_cst: None = None


@declared
class BestCutParameters(CartParameters):
    """Parameters of trees that search all thresholds of a feature."""

    max_bins: int | None = None


@declared
class ForestParameters(TreeParameters):
    n_estimators: int | Literal["auto"] = field(default=100, kw_only=False)
    bootstrap: bool = False
    max_samples: MaxSamples = None
    oob_score: OobScore = False
    shared_projection: bool = False
    n_jobs: int | None = None
    verbose: int = 0
    warm_start: bool = False


@declared
class MixedForestParameters(ForestParameters):
    """Parameters of forests of oblique trees and extra-trees."""

    oblique: float = 0.7
    ridge: float = 2.0
    linear: float | Literal["auto"] = "auto"
    device: Device = None
    min_samples_split: int | float | None = None
    min_samples_leaf: int | float | None = None
    max_features: MaxFeatures = "4sqrt"


@declared
class RegressionParameters:
    criterion: RegressionCriterion = "squared_error"

    def __post_init__(self) -> None:
        if isinstance(self.criterion, str) and self.criterion == "friedman_mse":
            warn(
                "criterion='friedman_mse' is deprecated, as scikit-learn 1.11 removes it. It means "
                "the same as 'squared_error'; use that.",
                FutureWarning,
            )
            self.criterion = "squared_error"

"""The fitted model as one object."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from sketchforest._trees.blended import Blend, BlendedPredictor, blended
from sketchforest._trees.calibration import CalibratedPredictor, Calibration
from sketchforest._trees.model import Forest, Labels
from sketchforest._trees.predict import ForestPredictor, Predictor
from sketchforest._trees.problem import GrowSettings
from sketchforest._trees.structure import TreeStructure
from sketchforest._trees.targets import F1Thresholds, Targets
from sketchforest._utils.lazy import locked_property


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """The complete state of a fitted estimator.

    It is immutable, so all threads may use it. Changing an estimator gives it a new `Fitted`.
    """

    predictor: Predictor
    targets: Targets
    settings: GrowSettings
    n_features: int
    feature_names: np.ndarray | None = None  # if X was a data frame with names of type str
    fingerprint: str | None = None  # of X and row weights; None for a single tree
    row_hashes: np.ndarray | None = None  # of each training row; None: of an older model
    f1_thresholds: F1Thresholds | None = None  # if rows were scored out-of-bag
    calibration: Calibration | None = None  # of the scores of labels
    is_relabelled: bool = False
    projection_stream: int | None = None  # for a single tree taken from a forest
    out_of_bag: Mapping[str, Any] = field(default_factory=dict)  # public attributes by name
    attached: Mapping[str, Any] = field(default_factory=dict)  # names and texts, by attribute name
    # Of a data frame with categories: by column, its categories, or None for numbers.
    input_columns: Mapping[str, tuple[str, ...] | None] | None = None

    def __repr__(self) -> str:
        return (
            f"<Fitted on {self.n_features} features and {self.labels.shape[1]} labels or outputs>"
        )

    @property
    def forest(self) -> Forest:
        return self.forest_predictor.forest

    @property
    def forest_predictor(self) -> ForestPredictor:
        """The predictor of the trees alone, unless the model is partitioned."""
        if isinstance(self.predictor, BlendedPredictor):
            return self.predictor.forest_predictor
        if not isinstance(self.predictor, ForestPredictor):
            raise TypeError(
                "This needs a single forest; the model is partitioned, and its parts were grown on "
                "different rows. Use one of its `parts`."
            )
        return self.predictor

    @property
    def calibrated_predictor(self) -> Predictor:
        """The predictor of the probabilities that users see."""
        if self.calibration is None:
            return self.predictor
        return CalibratedPredictor(self.predictor, self.calibration)

    @property
    def blended_predictor(self) -> ForestPredictor | BlendedPredictor:
        """The predictor of the trees and what is blended with them."""
        return blended(self.forest_predictor, self.blend)

    @property
    def blend(self) -> Blend | None:
        """How the scores of the trees are blended with those of a linear model."""
        predictor = self.predictor
        return predictor.blend if isinstance(predictor, BlendedPredictor) else None

    @property
    def labels(self) -> Labels:
        """The labels of the training rows."""
        return self.targets.labels

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.labels.shape[0]

    @locked_property
    def attributes(self) -> Mapping[str, Any]:
        """Attributes that the estimator forwards."""
        names, n_columns = self.feature_names, self.n_features
        if self.input_columns is not None:
            names, n_columns = np.array([*self.input_columns], object), len(self.input_columns)
        known: dict[str, Any] = {"n_features_in_": n_columns, "n_outputs_": self.targets.n_outputs}
        if names is not None:
            known |= {"feature_names_in_": names}
        return MappingProxyType({**known, **self.out_of_bag, **self.attached})

    @locked_property
    def tree_structure(self) -> TreeStructure:
        """The nodes of a single tree."""
        return TreeStructure(self.forest, self.targets, self.n_features)

    def but(self, **changes: Any) -> "Fitted":
        """A copy with changed fields that keeps everything derived from the trees and labels."""
        changed = replace(self, **changes)
        names = {"attributes", *(each.name for each in fields(self))}
        derived = vars(self).copy()  # in one step: another thread may be computing more
        vars(changed).update({name: v for name, v in derived.items() if name not in names})
        return changed

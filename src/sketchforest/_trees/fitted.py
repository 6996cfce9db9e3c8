"""The fitted model as one object."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from sketchforest._trees.model import Forest, Labels
from sketchforest._trees.predict import ForestPredictor, Predictor
from sketchforest._trees.problem import GrowSettings
from sketchforest._trees.structure import TreeStructure
from sketchforest._trees.targets import F1Thresholds, Targets
from sketchforest._utils.lazy import locked_property


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """Everything that is read of a fitted estimator. It never changes, so that any thread may use
    it; whatever changes an estimator gives it another one."""

    predictor: Predictor
    targets: Targets
    settings: GrowSettings
    n_features: int
    feature_names: np.ndarray | None = None  # of a data frame with names of type str
    fingerprint: str | None = None  # of X and the weights of its rows; None: of a single tree
    row_hashes: np.ndarray | None = None  # of each training row; None: of an older model
    f1_thresholds: F1Thresholds | None = None  # where rows were scored
    is_relabelled: bool = False
    projection_stream: int | None = None  # of a single tree that was taken from a forest
    out_of_bag: Mapping[str, Any] = field(default_factory=dict)  # public attributes, by name
    attached: Mapping[str, Any] = field(default_factory=dict)  # the same, of names and texts

    def __repr__(self) -> str:
        return (
            f"<Fitted on {self.n_features} features and {self.labels.shape[1]} labels or outputs>"
        )

    @property
    def forest(self) -> Forest:
        return self.forest_predictor.forest

    @property
    def forest_predictor(self) -> ForestPredictor:
        """Of trees that were grown on the same rows."""
        if not isinstance(self.predictor, ForestPredictor):
            raise TypeError(
                "This needs one forest; the model is one of several parts, whose trees were grown "
                "on other rows each. Use one of its `parts`."
            )
        return self.predictor

    @property
    def labels(self) -> Labels:
        """Of the training rows."""
        return self.targets.labels

    @locked_property
    def attributes(self) -> Mapping[str, Any]:
        """The values that the estimator shows as attributes of its own."""
        known: dict[str, Any] = {
            "n_features_in_": self.n_features,
            "n_outputs_": self.targets.n_outputs,
        }
        if self.feature_names is not None:
            known |= {"feature_names_in_": self.feature_names}
        return MappingProxyType({**known, **self.out_of_bag, **self.attached})

    @locked_property
    def tree_structure(self) -> TreeStructure:
        """Of a single tree, by its nodes."""
        return TreeStructure(self.forest, self.targets, self.n_features)

    def but(self, **changes: Any) -> "Fitted":
        """The same trees and labels with something else said of them. What was derived stays."""
        changed = replace(self, **changes)
        names = {"attributes", *(each.name for each in fields(self))}
        derived = vars(self).copy()  # at once: another thread may be computing more
        vars(changed).update({name: v for name, v in derived.items() if name not in names})
        return changed

"""What a model file of boosting has besides a forest and its leaf values."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from sketchforest._boosting.model import BoostedFitted, BoostedPredictor
from sketchforest._boosting.scores import output_of
from sketchforest._saving.arrays import taken
from sketchforest._saving.container import CorruptModelError
from sketchforest._saving.json_values import Json
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import Labels


def boosting_to_json(fitted: BoostedFitted) -> dict[str, Json]:
    return {"stops_early": fitted.stops_early}


def boosting_arrays(fitted: BoostedFitted) -> dict[str, np.ndarray]:
    output = fitted.boosted.output
    return {
        "baseline": output.baseline,
        "scale": output.scale,
        "train_scores": fitted.train_scores,
        "validation_scores": fitted.validation_scores,
    }


def read_boosted(
    fitted: Fitted, values: Labels, about: Mapping[str, Any], more: Mapping[str, np.ndarray]
) -> BoostedFitted:
    """Add the leaf values to a fitted model."""
    if not isinstance(values, np.ndarray):
        raise CorruptModelError("leaf values are not dense")
    shape = (fitted.targets.labels.shape[1],)
    arrays = taken(more, ("baseline", "scale"))
    if any(array.shape != shape for array in arrays.values()) or (arrays["scale"] <= 0).any():
        raise CorruptModelError("baseline or scale do not match the outputs")
    scores: dict[str, Any] = taken(more, ("train_scores", "validation_scores"))
    output = output_of(fitted.targets, **arrays)
    known: dict[str, Any] = {field.name: getattr(fitted, field.name) for field in fields(Fitted)}
    known["predictor"] = BoostedPredictor.of(fitted.forest, values, output)
    return BoostedFitted(**known, stops_early=about["stops_early"], **scores)

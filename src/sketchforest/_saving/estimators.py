"""Conversion of fitted estimators to model files and back: all but the arrays is JSON."""

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from sketchforest._boosting.model import BoostedFitted, no_rows
from sketchforest._saving.arrays import taken
from sketchforest._saving.blends import blend_arrays, blend_numbers, read_blend
from sketchforest._saving.boosting import boosting_arrays, boosting_to_json, read_boosted
from sketchforest._saving.container import CorruptModelError, NotAModelError
from sketchforest._saving.json_values import Json, arguments, to_json, try_convert
from sketchforest._saving.model_file import Model, read_model, write_model
from sketchforest._saving.schema import (
    read_classes,
    read_dtype,
    text_array,
    validate_description,
    validate_settings,
)
from sketchforest._saving.stored_texts import StoredTexts, read_texts
from sketchforest._saving.vectorizer import (
    Vectorizer,
    read_tagger,
    restore_vectorizer,
    vectorizer_state,
)
from sketchforest._trees.blended import blended
from sketchforest._trees.calibration import Calibration
from sketchforest._trees.criterion import CRITERIA, VARIANCE
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import Forest, Labels, SparseRows
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.problem import GrowSettings, ObliqueSettings
from sketchforest._trees.targets import F1Thresholds, Targets
from sketchforest._utils.frames import one_hot_names
from sketchforest.projection import resolve_projection

AT_LEAST_ONE = "_predicts_at_least_one"  # label per row; only written if false
# Names for the readers of a file; estimators use indices.
NAMES = ("label_names", "feature_names")


def save_estimator(
    estimator: BaseEstimator,
    path: str | os.PathLike[str],
    compact: bool = False,
    names: Mapping[str, Sequence[str] | np.ndarray] | None = None,
    vectorizer: "Vectorizer | None" = None,
    notes: dict[str, Json] | None = None,
) -> None:
    """Save an estimator; names, vectorizer and notes default to those attached to it."""
    from sketchforest import __version__

    fitted = estimator.fitted_
    state, targets, thresholds = fitted.attached, fitted.targets, fitted.f1_thresholds
    forest = fitted.forest
    if compact:
        forest = Forest(**forest.fields() | {"gains": None})
    more = {}
    if fitted.calibration is not None:
        more["calibration_scores"] = fitted.calibration.scores
        more["calibration_probabilities"] = fitted.calibration.probabilities
    if thresholds is not None:
        more["threshold_for_all"] = np.asarray(thresholds.for_all)
        more["threshold_for_each"] = np.asarray(thresholds.for_each)
    if fitted.row_hashes is not None:
        more["row_hashes"] = fitted.row_hashes
    blend, directions = fitted.blend, forest.directions
    feature_map = None if directions is None else directions.feature_map
    if blend is not None and blend.linear is not None:
        feature_map = blend.linear.feature_map
    more |= blend_arrays(blend) | _row_arrays(state)
    given = {name: state.get(f"{name}_") for name in NAMES} | dict(names or {})
    vectorizer = state.get("vectorizer_") if vectorizer is None else vectorizer
    text: dict[str, Json] = {}
    if vectorizer is not None:
        text["text"], terms, more["idf"] = vectorizer_state(vectorizer)
        known = given.get("feature_names")  # the terms, possibly followed by other features
        if known is None or list(known[: len(terms)]) != terms:
            given["feature_names"] = terms
    if "tagger_" in state:
        text["tagger"] = to_json(state["tagger_"])
    settings = _settings_to_json(fitted.settings)
    names_in, of_columns = fitted.feature_names, targets.column_classes
    columns = (
        {} if of_columns is None else {"column_classes": list(map(_classes_to_json, of_columns))}
    )
    plain: dict[str, Json] = {**_state_of(targets), "_is_relabelled": fitted.is_relabelled}
    if fitted.projection_stream is not None:
        plain["_number"] = fitted.projection_stream
    plain |= blend_numbers(blend)
    plain["_fingerprint"] = fitted.fingerprint
    if "oob_score_" in fitted.out_of_bag:
        plain["oob_score_"] = fitted.out_of_bag["oob_score_"]
    if thresholds is not None and not thresholds.at_least_one:
        plain[AT_LEAST_ONE] = False
    about = {
        "library_version": __version__,
        "estimator": type(estimator).__name__,
        "params": to_json(estimator.get_params(deep=False)),
        "state": plain,
        "settings": settings,
        "is_projected": fitted.settings.projection is not None,
        "n_features_in": fitted.n_features,
        "feature_names_in": None if names_in is None else names_in.tolist(),
        **({} if fitted.input_columns is None else {"input_columns": dict(fitted.input_columns)}),
        **_classes_to_json(targets.classes),
        "label_dtype": None if targets.dtype is None else targets.dtype.str,
        **text,
        **columns,
        **_check_names(given, targets.labels.shape[1], fitted.n_features),
        "notes": state.get("notes_") if notes is None else notes,
    }
    labels = targets.labels
    if isinstance(fitted, BoostedFitted):
        about["boosting"] = boosting_to_json(fitted)
        more |= boosting_arrays(fitted)
        labels = fitted.boosted.leaf_values
    write_model(path, Model(forest, labels, about, more, feature_map))


def load_estimator(
    path: str | os.PathLike[str], find_class: Callable[[str], type[Any]], mmap: bool
) -> Any:
    """Load the estimator in a file; its parameters are checked as in a fit."""
    try:
        return _restored(find_class, read_model(path, mmap))
    except CorruptModelError as error:
        advice = "Save the model again."
        if isinstance(error, NotAModelError):
            advice = "Use a file written by save() or 'sketchforest train'."
        raise ValueError(
            f"'{path}' is not a valid sketchforest model: {error}. {advice}"
        ) from error


def _restored(find_class: Callable[[str], type[Any]], model: Model) -> Any:
    """Build the estimator; any error other than CorruptModelError is a bug in this library."""
    forest, labels, about, more, feature_map = model
    validate_description(about)
    leaf_values = labels if "boosting" in about else None
    if leaf_values is not None:  # there are no training rows
        is_sparse = about["label_dtype"] is not None or about["state"].get("_sparse_labels", False)
        labels = no_rows(leaf_values.shape[1], is_sparse=is_sparse)
    kind = find_class(about["estimator"])
    params = arguments(kind, about["params"])
    estimator = kind(**params)
    try_convert(estimator._check_parameters)
    if is_classifier(estimator) != (about["label_dtype"] is not None):
        raise CorruptModelError("labels do not match the estimator")
    if (leaf_values is not None) != ("max_iter" in params):
        raise CorruptModelError("trees do not match the estimator")
    if "n_estimators" not in params and leaf_values is None and forest.n_trees > 1:
        raise CorruptModelError("a single tree with several trees")
    targets, state, names_in = _targets(about, labels), about["state"], about["feature_names_in"]
    if names_in is not None and len(names_in) != about["n_features_in"]:
        raise CorruptModelError("feature_names_in do not match n_features_in")
    columns = about.get("input_columns")
    if columns is not None:
        columns = {n: None if v is None else tuple(v) for n, v in columns.items()}
        if names_in != one_hot_names(columns):
            raise CorruptModelError("feature_names_in do not match the input columns")
    names = {name: about[name] for name in NAMES if about[name] is not None}
    try:
        _check_names(names, labels.shape[1], about["n_features_in"])
    except ValueError as error:
        raise CorruptModelError(str(error).rstrip(".")) from error
    attached: dict[str, object] = {f"{name}_": text_array(v) for name, v in names.items()}
    if about["notes"] is not None:
        attached["notes_"] = about["notes"]
    if "text" in about:
        terms = names.get("feature_names")
        attached["vectorizer_"] = restore_vectorizer(about["text"], terms, more.get("idf"))
    if "tagger" in about:
        attached["tagger_"] = read_tagger(about["tagger"], about["notes"] or {})
    thresholds = _f1_thresholds(more, labels.shape[1])
    if thresholds is not None:
        thresholds = thresholds._replace(at_least_one=state.get(AT_LEAST_ONE, True))
    blend = read_blend(more, state, feature_map, targets)
    row_hashes = _row_hashes(more, labels.shape[0] if leaf_values is None else None)
    n_rows = labels.shape[0] if row_hashes is None else len(row_hashes)
    fitted = Fitted(
        blended(ForestPredictor.of(forest, targets), blend),
        targets,
        _settings(about, params),
        about["n_features_in"],
        None if names_in is None else np.array(names_in, dtype=object),
        state.get("_fingerprint"),
        row_hashes,
        thresholds,
        _calibration(more),
        is_relabelled=state.get("_is_relabelled", False),
        projection_stream=state.get("_number"),
        out_of_bag={name: state[name] for name in ("oob_score_",) if name in state},
        attached=attached | _row_attributes(more, n_rows),
        input_columns=columns,
    )
    if leaf_values is not None:
        fitted = read_boosted(fitted, leaf_values, about["boosting"], more)
    estimator._publish(fitted)
    return estimator


def _classes_to_json(classes: np.ndarray | None) -> dict[str, Json]:
    if classes is None:
        return {"classes": None, "classes_dtype": None}
    return {"classes": classes.tolist(), "classes_dtype": classes.dtype.str}


def _row_arrays(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the numbers, ids and texts of the training rows."""
    arrays = {}
    if "row_numbers_" in state:
        arrays["row_numbers"] = np.asarray(state["row_numbers_"], np.int64)
    for name in ("row_ids", "row_texts"):
        if f"{name}_" in state:
            arrays |= StoredTexts.pack(state[f"{name}_"]).arrays(name)
    return arrays


def _row_attributes(more: Mapping[str, np.ndarray], n_rows: int) -> dict[str, object]:
    found: dict[str, object] = {}
    if "row_numbers" in more:
        numbers = more["row_numbers"]
        if len(numbers) != n_rows:
            raise CorruptModelError("row_numbers do not match the training rows")
        found["row_numbers_"] = numbers
    ids, texts = (read_texts(more, name, n_rows) for name in ("row_ids", "row_texts"))
    if ids is not None:
        found["row_ids_"] = text_array(ids[:])
    return found if texts is None else found | {"row_texts_": texts}


def _row_hashes(more: Mapping[str, np.ndarray], n_rows: int | None) -> np.ndarray | None:
    """Return the hashes of the training rows, of which a boosting model keeps nothing else."""
    found = more.get("row_hashes")
    if found is None:
        return None
    if n_rows is not None and len(found) != n_rows:
        raise CorruptModelError("row_hashes do not match the training rows")
    return found


def _f1_thresholds(more: Mapping[str, np.ndarray], n_labels: int) -> F1Thresholds | None:
    if "thresholds" in more:  # an older format, with one of the two
        for_all = for_each = more["thresholds"]
        for_all = for_all if for_all.ndim == 0 else np.array(0.5)
    elif "threshold_for_all" in more:
        for_all, for_each = more["threshold_for_all"], more.get("threshold_for_each", np.zeros(0))
    else:
        return None
    values = np.append(for_each, for_all)
    # Broadcast: the number of labels in the file is not trusted with memory.
    for_each = for_each if for_each.ndim else np.broadcast_to(for_each, n_labels)
    if for_each.shape != (n_labels,) or not ((values >= 0) & (values <= 1)).all():
        raise CorruptModelError("thresholds must be one per label, from 0 to 1")
    return F1Thresholds(np.float32(for_all), for_each)


def _calibration(more: Mapping[str, np.ndarray]) -> Calibration | None:
    names = "calibration_scores", "calibration_probabilities"
    if more.keys().isdisjoint(names):
        return None
    scores, probabilities = taken(more, names).values()
    is_curve = (
        len(scores) == len(probabilities) > 1
        and scores[0] == probabilities[0] == 0
        and scores[-1] == 1 >= probabilities[-1]
        and bool((np.diff(scores) > 0).all() and (np.diff(probabilities) > 0).all())
    )
    if not is_curve:
        raise CorruptModelError("the calibration must ascend from 0 to at most 1")
    return Calibration(scores, probabilities)


def _settings_to_json(settings: GrowSettings) -> dict[str, Json]:
    """Return the settings, without those that are parameters or do not apply."""
    values = dataclasses.asdict(dataclasses.replace(settings, projection=None))
    del values["shared_projection"]
    if values["first_tree"] == 0:
        del values["first_tree"]
    if values["max_bins"] is None:
        del values["max_bins"]
    oblique = values.pop("oblique")
    if oblique is None:
        return {name: v for name, v in values.items() if not name.startswith("out_of_bag")}
    return values | {"oblique": oblique | {"projection": None}}


def _state_of(targets: Targets) -> dict[str, bool | str]:
    state: dict[str, bool | str] = {"_sparse_labels": targets.is_sparse}
    if targets.is_balanced:
        state["_is_balanced"] = True
    if targets.is_spmatrix:
        state["_is_spmatrix"] = True
    if targets.criterion != VARIANCE:
        state["_impurity"] = targets.criterion.name
    return state if targets.is_classification else state | {"_is_vector": targets.is_vector}


def _settings(about: dict[str, Any], params: Mapping[str, object]) -> GrowSettings:
    projection = try_convert(resolve_projection, params.get("projection"))
    given = dict(about["settings"])
    oblique = given.pop("oblique", None)
    if oblique is not None:
        if not isinstance(oblique, dict):
            raise CorruptModelError("invalid settings")
        oblique = ObliqueSettings(**arguments(ObliqueSettings, oblique))  # type: ignore[arg-type]
        oblique = dataclasses.replace(oblique, projection=projection)
        validate_settings(oblique)
    settings = arguments(GrowSettings, given) | {"oblique": oblique}
    settings["projection"] = projection if about["is_projected"] else None
    settings["shared_projection"] = bool(params.get("shared_projection", False))
    found = GrowSettings(**settings)  # type: ignore[arg-type]
    validate_settings(found)
    return found


def _targets(about: dict[str, Any], labels: Labels) -> Targets:
    state, classes, columns = about["state"], None, None
    if about["classes"] is not None:
        classes = read_classes(about["classes"], about["classes_dtype"])
    if "column_classes" in about:
        columns = tuple(
            read_classes(column["classes"], column["classes_dtype"])
            for column in about["column_classes"]
        )
    if classes is not None and columns is not None:
        raise CorruptModelError("duplicate classes")
    for found in (columns, None if classes is None else (classes,)):
        if found is not None and (not found or sum(map(len, found)) != labels.shape[1]):
            raise CorruptModelError("classes do not match the labels")
    dtype = None if about["label_dtype"] is None else read_dtype(about["label_dtype"])
    if dtype is not None and dtype.kind in "UO" and classes is None and columns is None:
        raise CorruptModelError("labels without a numeric dtype")
    if dtype is not None and dtype.kind == "U":  # as wide as the classes
        dtype = np.result_type(*([] if classes is None else [classes]), *(columns or ()))
    targets = Targets(
        labels,
        is_sparse=state.get("_sparse_labels", False),
        classes=classes,
        dtype=dtype,
        is_vector=state.get("_is_vector", False),
        is_spmatrix=state.get("_is_spmatrix", False),
        column_classes=columns,
        criterion=CRITERIA[state.get("_impurity", VARIANCE.name)],
        is_balanced=state.get("_is_balanced", False),
    )
    if targets.is_balanced and not targets.is_indicator:
        raise CorruptModelError("balanced labels of a model without labels")
    is_sparse = isinstance(labels, SparseRows)
    has_indicators = isinstance(labels, SparseRows) and labels.data is None
    if targets.is_classification and (targets.is_vector or not has_indicators):
        raise CorruptModelError("labels are not those of a classifier")
    if targets.has_classes and not targets.is_classification:
        raise CorruptModelError("classes without a dtype")
    if (
        (is_sparse != targets.is_sparse and not targets.is_classification)
        or (targets.has_classes and targets.is_sparse)
        or targets.is_spmatrix > targets.is_sparse
        or (targets.is_vector and labels.shape[1] != 1)
    ):
        raise CorruptModelError("labels do not have the described form")
    return targets


def _check_names(
    names: Mapping[str, Sequence[str] | np.ndarray | None], n_labels: int, n_features: int
) -> dict[str, list[str] | None]:
    """Return the names as lists; raise unless there is one per label and per feature."""
    lengths = {"label_names": n_labels, "feature_names": n_features}
    for name, given in names.items():
        if given is not None and len(given) != lengths[name]:
            raise ValueError(
                f"{name} must have one name for each of {lengths[name]}; got {len(given)}."
            )
    return {name: None if given is None else list(map(str, given)) for name, given in names.items()}

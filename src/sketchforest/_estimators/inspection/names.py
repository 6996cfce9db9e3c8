"""What a fitted model calls its labels, its features and its training rows."""

from difflib import get_close_matches

import numpy as np

from sketchforest._estimators.fitting.targets import names_of_classes
from sketchforest._trees.fitted import Fitted

MOST_COMPARED = 10_000  # names, with one that there is not


def label_names(fitted: Fitted, which: np.ndarray | None = None) -> np.ndarray:
    """(n_labels,) names as they were trained, or those of some columns; numbers from 0 where there
    were none."""
    names, columns = fitted.attached.get("label_names_"), fitted.targets.column_classes
    if names is None:
        names = fitted.targets.classes
    if names is None and columns is not None:
        names = names_of_classes(range(len(columns)), columns)
    return _chosen(names, fitted.labels.shape[1], which).astype(str)


def _chosen(names: np.ndarray | None, n: int, which: np.ndarray | None) -> np.ndarray:
    """Of very many that have no names, only those numbers are made that are asked for."""
    if names is None:
        return np.arange(n).astype(str) if which is None else which.astype(str)
    return names if which is None else names[which]


def feature_names(fitted: Fitted) -> np.ndarray | None:
    """(n_features,) names, of the file or of the data frame that it was trained on."""
    return fitted.attached.get("feature_names_", fitted.feature_names)


def shown_features(fitted: Fitted, which: np.ndarray | None = None) -> np.ndarray:
    """The same, all or some of them, or numbers from 0 where there are no names."""
    return _chosen(feature_names(fitted), fitted.n_features, which)


def row_numbers(fitted: Fitted, rows: np.ndarray) -> np.ndarray:
    """int64 numbers, in the file or in what was split before the fit, of training rows."""
    numbers = fitted.attached.get("row_numbers_")
    return rows.astype(np.int64) if numbers is None else np.asarray(numbers)[rows]


def find_labels(fitted: Fitted, labels: object) -> np.ndarray:
    """Column numbers of labels that are given by name or by number, one or several."""
    if isinstance(labels, str | int | np.integer):
        labels = [labels]
    names = label_names(fitted).tolist()
    place = {name: at for at, name in enumerate(names)}
    found = []
    for label in labels:  # type: ignore[attr-defined]
        is_number = isinstance(label, int | np.integer) and not isinstance(label, bool)
        # Classes may be numbers themselves: they are found by their own.
        at = place.get(str(label), -1)
        if is_number and fitted.targets.classes is None:
            at = int(label)
        if not 0 <= at < len(names):
            label = label.item() if isinstance(label, np.generic) else label
            close = get_close_matches(str(label), names[:MOST_COMPARED], cutoff=0.5)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"label must be a name or a number from 0 to {len(names) - 1}; got {label!r}.{hint}"
            )
        found.append(at)
    if not found:
        raise ValueError("label must name at least one; got none.")
    return np.array(found)

"""Names of labels, features and training rows."""

from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np

from sketchforest._trees.fitted import Fitted
from sketchforest._utils.typing import MatrixLike

MAX_COMPARED = 10_000  # names to compare with a misspelled one


def column_names(data: object) -> np.ndarray | None:
    """Names of the columns of a data frame, if all are strings."""
    names = list(getattr(data, "columns", []))
    return np.array(names) if names and all(isinstance(name, str) for name in names) else None


def class_names(columns: Iterable[object], classes: Iterable[np.ndarray]) -> np.ndarray:
    """Names such as "team: support" for the classes of several columns."""
    pairs = zip(columns, classes, strict=True)
    return np.array([f"{column}: {name}" for column, found in pairs for name in found])


def label_names(fitted: Fitted, which: np.ndarray | None = None) -> np.ndarray:
    """Names of all labels or some of them; column numbers if they have no names."""
    names, columns = fitted.attached.get("label_names_"), fitted.targets.column_classes
    if names is None:
        names = fitted.targets.classes
    if names is None and columns is not None:
        names = class_names(range(len(columns)), columns)
    return _chosen(names, fitted.labels.shape[1], which).astype(str)


def feature_names(fitted: Fitted) -> np.ndarray | None:
    """(n_features,) names that were attached, or those of a data frame."""
    return fitted.attached.get("feature_names_", fitted.feature_names)


def shown_features(fitted: Fitted, which: np.ndarray | None = None) -> np.ndarray:
    """Names of all features or some of them; column numbers if they have no names."""
    return _chosen(feature_names(fitted), fitted.n_features, which)


def _chosen(names: np.ndarray | None, n: int, which: np.ndarray | None) -> np.ndarray:
    if names is None:  # only the numbers that are needed, of possibly millions
        return np.arange(n).astype(str) if which is None else which.astype(str)
    return names if which is None else names[which]


def row_numbers(fitted: Fitted, rows: np.ndarray) -> np.ndarray:
    """int64 numbers of training rows in the original file, or in X."""
    numbers = fitted.attached.get("row_numbers_")
    return rows.astype(np.int64) if numbers is None else np.asarray(numbers)[rows]


def find_labels(fitted: Fitted, labels: object) -> np.ndarray:
    """Column numbers of one or several labels, given by name or number."""
    if isinstance(labels, str | int | np.integer):
        labels = [labels]
    names = label_names(fitted).tolist()
    place = {name: at for at, name in enumerate(names)}
    found = []
    for label in labels:  # type: ignore[attr-defined]
        is_number = isinstance(label, int | np.integer) and not isinstance(label, bool)
        # Classes may be numbers themselves, and are found by name.
        at = place.get(str(label), -1)
        if is_number and fitted.targets.classes is None:
            at = int(label)
        if not 0 <= at < len(names):
            label = label.item() if isinstance(label, np.generic) else label
            close = get_close_matches(str(label), names[:MAX_COMPARED], cutoff=0.5)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"label must be a name or a number from 0 to {len(names) - 1}; got {label!r}.{hint}"
            )
        found.append(at)
    if not found:
        raise ValueError("label must name at least one label; got none.")
    return np.array(found)


def outputs_as_fitted(fitted: np.ndarray | None, Y: MatrixLike) -> MatrixLike:
    """A data frame Y with its columns in the order of the names `fitted`.

    Y is returned unchanged if it or the model has no names, or if no name is the same.
    """
    given = column_names(Y)
    if given is None or fitted is None or np.array_equal(given, fitted):
        return Y
    missing, unknown = np.setdiff1d(fitted, given), np.setdiff1d(given, fitted)
    if len(missing) == len(fitted):
        return Y
    if len(missing) or len(unknown):
        found = f"no {missing[0]!s}" if len(missing) else f"the unknown {unknown[0]!s}"
        raise ValueError(
            f"Y must have the {len(fitted)} columns that the model was fitted on; got {found}. Add "
            "columns of zeros for labels that do not occur, and drop unknown ones."
        )
    return Y[fitted.tolist()]  # type: ignore[index]

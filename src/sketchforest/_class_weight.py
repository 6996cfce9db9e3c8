"""class_weight turned into weights of rows, as in scikit-learn, without making labels dense."""

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from sketchforest._model import SparseRows


def row_weights(
    class_weight: Any, labels: SparseRows, classes: np.ndarray | None, counts: np.ndarray | None
) -> np.ndarray:
    """(n_rows,) weights. `counts` says how often each row counts when classes are balanced.

    With one class a row it is the weight of its class. With many labels it is the product over
    the labels of the weight of their presence (1) or absence (0); the same dict serves every
    label, and a list has one for each.
    """
    if classes is not None:
        return _weights_of_classes(class_weight, labels, classes, counts)[labels.columns]
    absent, present = _weights_of_labels(class_weight, labels, counts)
    # Logarithms, since a product over a thousand labels leaves the range of a double. A weight of
    # zero becomes -inf, and must not meet its opposite.
    with np.errstate(divide="ignore"):
        log_absent, log_present = np.log(absent), np.log(present)
    if np.isinf(log_absent).any():
        raise ValueError(
            "class_weight must be positive for the absence (0) of a label; got 0. "
            "Use sample_weight to leave rows out."
        )
    change = (log_present - log_absent)[labels.columns]
    starts = labels.row_start
    log_weights = log_absent.sum() + np.array(
        [change[begin:end].sum() for begin, end in zip(starts[:-1], starts[1:], strict=True)]
    )
    return np.exp(log_weights)


def _weights_of_classes(
    class_weight: Any, labels: SparseRows, classes: np.ndarray, counts: np.ndarray | None
) -> np.ndarray:
    if isinstance(class_weight, str):
        sizes = np.bincount(labels.columns, weights=counts, minlength=len(classes))
        n_present = np.count_nonzero(sizes)
        # As scikit-learn: n_rows / (n_classes * size), over the classes that are there.
        return np.divide(
            sizes.sum(), n_present * sizes, out=np.ones(len(classes)), where=sizes > 0
        )
    return compute_class_weight(class_weight, classes=classes, y=classes)


def _weights_of_labels(
    class_weight: Any, labels: SparseRows, counts: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    n_labels = labels.n_columns
    if isinstance(class_weight, str):
        each = None if counts is None else np.repeat(counts, np.diff(labels.row_start))
        n_rows = float(labels.n_rows if counts is None else counts.sum())
        n_present = np.bincount(labels.columns, weights=each, minlength=n_labels)
        n_absent = n_rows - n_present
        n_kinds = (n_present > 0).astype(int) + (n_absent > 0)
        return (
            np.divide(n_rows, n_kinds * n_absent, out=np.ones(n_labels), where=n_absent > 0),
            np.divide(n_rows, n_kinds * n_present, out=np.ones(n_labels), where=n_present > 0),
        )
    each_label = class_weight if isinstance(class_weight, list) else [class_weight] * n_labels
    if len(each_label) != n_labels:
        raise ValueError(
            f"class_weight must have one dict for each of the {n_labels} labels where it is a "
            f"list; got {len(each_label)}."
        )
    weights = np.array([(w.get(0, 1.0), w.get(1, 1.0)) for w in each_label], dtype=float)
    return weights[:, 0], weights[:, 1]


def check_class_weight(class_weight: Any, *, is_tree: bool) -> None:
    names = ["balanced"] if is_tree else ["balanced", "balanced_subsample"]
    if class_weight is None or isinstance(class_weight, dict):
        return
    if isinstance(class_weight, list) and all(isinstance(item, dict) for item in class_weight):
        return
    if isinstance(class_weight, str) and class_weight in names:
        return
    raise ValueError(
        f"class_weight must be {', '.join(map(repr, names))}, a dict, a list of dicts or None; "
        f"got {class_weight!r}."
    )

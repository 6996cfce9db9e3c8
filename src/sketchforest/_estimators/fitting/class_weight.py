"""Row weights from class_weight, as in scikit-learn, without making labels dense."""

import math
from collections.abc import Hashable, Sequence
from numbers import Real
from typing import TypeAlias

import numpy as np

from sketchforest._estimators.constructors import ClassWeight
from sketchforest._estimators.fitting.scales import rescale_weights
from sketchforest._estimators.parameters import Parameters
from sketchforest._trees.model import SparseRows
from sketchforest._trees.targets import Targets

GivenWeights: TypeAlias = str | dict[Hashable, float] | list[dict[Hashable, float]]
# Weights stay below exp of this, so that their sums stay finite.
MAX_LOG_WEIGHT = 300.0


def weigh_classes(
    class_weight: ClassWeight, targets: Targets, weights: np.ndarray | None, *, is_tree: bool
) -> np.ndarray | None:
    """The weights of the rows times those of their classes; None if all are equal."""
    if class_weight is None or class_weight == "balanced_subsample":
        return weights
    # As in scikit-learn, forests balance total weights of classes, and trees numbers of rows.
    counts = (weights > 0).astype(float) if is_tree and weights is not None else weights
    of_classes = _weights_of_rows(class_weight, targets.class_labels, targets, counts)
    of_classes = rescale_weights(of_classes)
    product = of_classes if weights is None else rescale_weights(weights * of_classes)
    if not product.any():
        raise ValueError(f"class_weight must give some row a weight above 0; got {class_weight!r}.")
    return product


def balances_labels(params: Parameters, targets: Targets) -> bool:
    """Whether labels are balanced one by one.

    scikit-learn multiplies their weights into one per row. With many labels, a row of several rare
    ones would outweigh all others.
    """
    return targets.is_indicator and isinstance(params.class_weight, str)


def balance_bag(targets: Targets, rows: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
    """Weights that balance the classes among the rows of one tree."""
    picked = SparseRows.from_csr(targets.class_labels.to_csr()[rows])
    return _weights_of_rows("balanced", picked, targets, counts)


def _weights_of_rows(
    class_weight: GivenWeights, labels: SparseRows, targets: Targets, counts: np.ndarray | None
) -> np.ndarray:
    """The weight of each row; for several columns of classes, the product over the columns."""
    columns = targets.column_classes
    if columns is None:
        return row_weights(class_weight, labels, targets.classes, counts)
    if isinstance(class_weight, dict):
        raise ValueError(
            "class_weight must be a list of dicts or 'balanced' for several columns of classes; "
            f"got {class_weight!r}."
        )
    if isinstance(class_weight, list) and len(class_weight) != len(columns):
        raise ValueError(
            "number of elements in class_weight should match number of outputs: it must be "
            f"{len(columns)}; got {len(class_weight)}."
        )
    given: list[GivenWeights] = [class_weight] * len(columns)
    if isinstance(class_weight, list):
        given = list(class_weight)
    indicators = targets.by_column(np.arange(labels.n_columns)[None])
    encoded = labels.indices.reshape(-1, len(columns))
    product = np.ones(labels.n_rows)
    for number, (weights, classes) in enumerate(zip(given, columns, strict=True)):
        own = encoded[:, number] - indicators[number][0, 0]
        product *= _weights_of_classes(weights, own, classes, counts)[own]
    return product


def row_weights(
    class_weight: GivenWeights,
    labels: SparseRows,
    classes: np.ndarray | None,
    counts: np.ndarray | None,
) -> np.ndarray:
    """(n_rows,) weights. `counts` are the weights of the rows when classes are balanced.

    With one class per row, the weight of a row is that of its class. With many labels, it is the
    product over labels of the weight of presence (1) or absence (0). One dict applies to all
    labels; a list has one dict per label.
    """
    if classes is not None:
        return _weights_of_classes(class_weight, labels.indices, classes, counts)[labels.indices]
    assert not isinstance(class_weight, str)  # labels are balanced one by one
    absent, present = _weights_of_labels(class_weight, labels.n_columns)
    # Logarithms, since a product over a thousand labels can overflow a double.
    with np.errstate(divide="ignore"):
        log_absent, log_present = np.log(absent), np.log(present)
    log_weights = log_absent.sum() + labels.to_csr(np.float64) @ (log_present - log_absent)
    # Only ratios matter.
    return np.exp(log_weights - max(0.0, log_weights.max() - MAX_LOG_WEIGHT))


def _weights_of_classes(
    class_weight: GivenWeights, encoded: np.ndarray, classes: np.ndarray, counts: np.ndarray | None
) -> np.ndarray:
    if isinstance(class_weight, str):
        sizes = np.bincount(encoded, weights=counts, minlength=len(classes))
        return _balanced(sizes, sizes.sum(), int(np.count_nonzero(sizes)))
    if isinstance(class_weight, list):
        raise ValueError(
            "class_weight must not be a list if Y has one dimension; got a list of "
            f"{len(class_weight)}. Use a dict {{class: weight}}."
        )
    _check_keys(class_weight, classes.tolist())
    return np.array([class_weight.get(name, 1.0) for name in classes.tolist()], dtype=float)


def _weights_of_labels(
    class_weight: dict[Hashable, float] | list[dict[Hashable, float]], n_labels: int
) -> tuple[np.ndarray, np.ndarray]:
    each_label = class_weight if isinstance(class_weight, list) else [class_weight] * n_labels
    if len(each_label) != n_labels:
        raise ValueError(
            f"class_weight must have one dict for each of the {n_labels} labels if it is a "
            f"list; got {len(each_label)}."
        )
    for weights in {id(weights): weights for weights in each_label}.values():
        _check_keys(weights, [0, 1])
        if weights.get(0, 1.0) == 0:
            raise ValueError(
                "class_weight must be positive for an absent label (0); got 0. "
                "Use sample_weight to leave rows out."
            )
    absent, present = ([w.get(kind, 1.0) for w in each_label] for kind in (0, 1))
    return np.array(absent, float), np.array(present, float)


def _balanced(sizes: np.ndarray, n_rows: float, n_kinds: int) -> np.ndarray:
    """scikit-learn's n_rows / (n_kinds * size), over the kinds that occur."""
    return np.divide(n_rows, n_kinds * sizes, out=np.ones(len(sizes)), where=sizes > 0)


def _check_keys(class_weight: dict[Hashable, float], classes: Sequence[Hashable]) -> None:
    unknown = [name for name in class_weight if name not in set(classes)]
    # As in scikit-learn, a key may be a class that does not occur, but then all classes that occur
    # need a key.
    if unknown and len(class_weight) - len(unknown) < len(classes):
        known = ", ".join(map(repr, classes[:5])) + (", ..." if len(classes) > 5 else "")
        raise ValueError(
            f"class_weight must have classes of Y as keys, {known}; got {unknown[0]!r}."
        )


def check_class_weight(class_weight: ClassWeight, *, is_tree: bool) -> None:
    """Raise unless `class_weight` is a known name, a dict of weights, a list of dicts, or None."""
    names = ["balanced"] if is_tree else ["balanced", "balanced_subsample"]
    if class_weight is None or (isinstance(class_weight, str) and class_weight in names):
        return
    given = class_weight if isinstance(class_weight, list) else [class_weight]
    dicts = [item for item in given if isinstance(item, dict)]
    if len(dicts) < len(given):
        raise ValueError(
            f"class_weight must be {', '.join(map(repr, names))}, a dict, a list of dicts or None; "
            f"got {class_weight!r}."
        )
    for weight in (weight for item in dicts for weight in item.values()):
        if not (isinstance(weight, Real) and 0 <= float(weight) < math.inf):
            raise ValueError(f"class_weight must hold numbers of at least 0; got {weight!r}.")

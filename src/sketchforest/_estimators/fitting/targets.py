"""Validation of Y. The labels are stored once, and the form in which they were given is kept."""

from dataclasses import replace
from itertools import islice

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from sketchforest._estimators.fitting.validation import (
    LARGEST_INDEX,
    USE_TAGGER,
    check_is_collected,
    reworded,
)
from sketchforest._estimators.inspection.names import class_names, column_names
from sketchforest._trees.criterion import Criterion
from sketchforest._trees.encoding import canonical
from sketchforest._trees.model import SparseRows
from sketchforest._trees.predict import check_fits_memory
from sketchforest._trees.targets import Targets
from sketchforest._utils.frames import is_missing
from sketchforest._utils.sparse import checked_if_sparse
from sketchforest._utils.typing import Matrix, MatrixLike
from sketchforest._utils.warning import warn

# Sums over rows and trees stay finite.
LARGEST_OUTPUT = 1e300
LOOKED_AT = 100  # rows, for lists of tags
TAG_SEPARATORS = (";", ",", "|")


def check_class_targets(estimator: BaseEstimator, Y: MatrixLike) -> Targets:
    """Validate Y of a classifier: an indicator matrix, one class per row, or columns of classes."""
    Y, names, is_spmatrix = _checked(estimator, Y), column_names(Y), sparse.isspmatrix(Y)
    if Y.ndim == 1:
        return _one_class_per_row(Y)
    values = Y if isinstance(Y, np.ndarray) else Y.data
    wrong = np.asarray((values != 0) & (values != 1)) if Y.dtype.kind in "biuf" else True
    if np.any(wrong) and isinstance(Y, np.ndarray):
        return _columns_of_classes(Y, names)
    if np.any(wrong):
        got = f"the value {values[wrong][0]!s}" if Y.dtype.kind in "biuf" else f"dtype {Y.dtype}"
        raise ValueError(
            f"Sparse Y must be an indicator matrix of zeros and ones; got {got}. Use toarray() "
            "for several columns of classes, or a regressor for real outputs."
        )
    # Converted to bool first: adding up duplicate entries would give 2.
    labels = canonical(sparse.csr_array(Y.astype(bool)))
    labels.eliminate_zeros()
    return Targets(
        SparseRows.from_csr(labels),
        sparse.issparse(Y),
        dtype=Y.dtype,
        label_names=names,
        is_spmatrix=is_spmatrix,
    )


def check_real_targets(estimator: BaseEstimator, Y: MatrixLike) -> Targets:
    """Validate Y of a regressor, (n_rows,) or (n_rows, n_outputs); always makes a copy."""
    Y, names, is_spmatrix = _checked(estimator, Y), column_names(Y), sparse.isspmatrix(Y)
    if sparse.issparse(Y) and Y.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            Y = canonical(sparse.csr_array(Y.astype(np.float32)))
        _check_finite(Y.data)
        Y.eliminate_zeros()
        labels = SparseRows.from_csr(Y)
        return Targets(labels, is_sparse=True, label_names=names, is_spmatrix=is_spmatrix)
    try:
        # A copy, so that later changes of the user's array do not change the model.
        numbers = np.array(Y, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Y must hold numbers; got dtype {Y.dtype}. Use a classifier for class names."
        ) from error
    _check_finite(numbers)
    largest = float(np.abs(numbers).max(initial=0))
    if largest > LARGEST_OUTPUT:
        raise ValueError(
            f"Y must not have values beyond {LARGEST_OUTPUT:g}, since their sums overflow; "
            f"got {largest:g}. Use another unit."
        )
    is_vector = numbers.ndim == 1
    return Targets(
        numbers.reshape(len(numbers), -1), is_sparse=False, is_vector=is_vector, label_names=names
    )


def with_criterion(targets: Targets, criterion: Criterion) -> Targets:
    """The targets for trees of a criterion; raises unless it can be computed on them."""
    labels = targets.labels
    if not targets.is_classification:
        criterion.check(labels if isinstance(labels, np.ndarray) else labels.to_csr().data)
    if criterion.predicts_medians and targets.is_sparse:
        how_to_fix = "Use criterion='squared_error', which keeps Y sparse."
        check_fits_memory(labels.shape, np.float64, how_to_fix, name="Y")
    return replace(targets, criterion=criterion)


def _one_class_per_row(Y: np.ndarray) -> Targets:
    try:
        check_classification_targets(Y)
        classes, columns = np.unique(Y, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"Y must hold classes of one type, without missing values; got: {error}. "
            "Leave out rows whose class is unknown."
        ) from error
    _warn_of_tags(classes)
    one_hot = SparseRows(
        indptr=np.arange(len(columns) + 1, dtype=np.int64),
        indices=columns.astype(np.int32),
        n_columns=len(classes),
    )
    return Targets(one_hot, is_sparse=False, classes=classes, dtype=Y.dtype)


def _columns_of_classes(Y: np.ndarray, names: np.ndarray | None) -> Targets:
    """The labels are the indicators of all classes of all columns."""
    columns = [_one_class_per_row(column) for column in Y.T]
    classes = tuple(column.classes_by_output[0] for column in columns)
    first = np.cumsum([0, *map(len, classes)])
    of_columns = [
        start + column.class_labels.indices for start, column in zip(first, columns, strict=False)
    ]
    labels = SparseRows(
        indptr=np.arange(len(Y) + 1, dtype=np.int64) * len(columns),
        indices=np.stack(of_columns, axis=1).astype(np.int32).ravel(),
        n_columns=int(first[-1]),
    )
    return Targets(
        labels,
        is_sparse=False,
        dtype=Y.dtype,
        label_names=None if names is None else class_names(names, classes),
        column_classes=classes,
    )


def _checked(estimator: BaseEstimator, Y: MatrixLike) -> Matrix:
    """Y as a finite one- or two-dimensional array, or a sparse matrix."""
    if Y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    check_is_collected("Y", Y)
    check_no_tag_lists(Y)
    # Keep duplicate entries: how to merge them depends on the kind of labels.
    Y = checked_if_sparse("Y", Y, merge=False)
    with reworded("Y"):
        Y = check_array(
            Y,
            accept_sparse="csr",
            accept_large_sparse=True,
            ensure_2d=False,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_features=0,
        )
    if Y.ndim == 2 and Y.shape[1] == 0:
        raise ValueError(f"Y must have at least one column; got shape {Y.shape}.")
    if Y.ndim == 2 and Y.shape[1] > LARGEST_INDEX:
        raise ValueError(
            f"Y must have fewer than 2**31 columns; got {Y.shape[1]}. Leave out labels that do not "
            "occur."
        )
    _check_finite(Y.data if sparse.issparse(Y) else Y)
    if Y.ndim == 2 and Y.shape[1] == 1 and not sparse.issparse(Y):
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        return Y.ravel()
    return Y


def check_no_tag_lists(Y: MatrixLike) -> None:
    """Raise for lists of tags, which NumPy takes for columns of classes if all are equally long."""
    has_rows = isinstance(Y, list | tuple) or len(getattr(Y, "shape", ())) == 1
    if not has_rows or (isinstance(Y, np.ndarray) and Y.dtype.kind != "O"):
        return
    for row in islice(Y, LOOKED_AT):  # type: ignore[arg-type]
        is_set = isinstance(row, set | frozenset)
        if is_set or (hasattr(row, "__iter__") and not isinstance(row, str | bytes | dict)):
            tags = list(islice(row, 2))
            if is_set or any(isinstance(tag, str) for tag in tags):
                raise ValueError(
                    "Y must be an indicator matrix or hold one class per row; got lists of labels, "
                    f"such as {tags}. {USE_TAGGER}"
                )


def _warn_of_tags(classes: np.ndarray) -> None:
    """Warn if classes look like strings of several tags."""
    if classes.dtype.kind not in "UO":
        return
    names = [name for name in classes.tolist() if isinstance(name, str)]
    for separator in TAG_SEPARATORS:
        joined = [name for name in names if separator in name]
        tags = {part.strip() for name in names for part in name.split(separator)}
        if 2 * len(joined) > len(names) > len(tags):
            warn(
                f"Y has {len(names)} classes, such as {joined[0][:40]!r}, which split into "
                f"{len(tags)} labels at {separator!r}. For rows with several labels, use "
                f"Tagger(tag_separator={separator!r}) or an indicator matrix."
            )
            return


def _check_finite(values: np.ndarray) -> None:
    if values.dtype.kind == "f":
        # In one piece: NumPy (2.4) reads a slice through buffers, and crashes if it cannot allocate
        # them.
        is_finite = np.isfinite(values.ravel(order="K")).all()
    else:
        is_finite = values.dtype.kind != "O" or not any(map(is_missing, values.flat))
    if not is_finite:
        raise ValueError(
            "Y must not contain missing or infinite values; got NaN, None or inf. "
            "Leave out rows whose labels are unknown."
        )

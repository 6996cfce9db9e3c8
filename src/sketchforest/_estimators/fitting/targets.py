"""Y as users give it: checked, stored once, and remembered in the form that it had."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from sketchforest._estimators.fitting.validation import (
    LARGEST_INDEX,
    check_is_collected,
    reworded,
)
from sketchforest._sparse import checked_if_sparse
from sketchforest._trees.encoding import canonical
from sketchforest._trees.impurity import Impurity
from sketchforest._trees.model import Labels, SparseRows
from sketchforest._trees.predict import check_fits_memory
from sketchforest._trees.targets import Targets
from sketchforest._typing import Matrix, MatrixLike
from sketchforest._warning import warn

# Sums of as many values as there are rows and trees are numbers still.
LARGEST_OUTPUT = 1e300


def check_class_targets(estimator: BaseEstimator, Y: MatrixLike) -> Targets:
    """Y of a classifier: an indicator matrix, dense or sparse, one class a row, or several columns
    of classes."""
    names, is_spmatrix = _label_names(Y), sparse.isspmatrix(Y)
    Y = _checked(estimator, Y)
    if Y.ndim == 1:
        return _one_class_a_row(Y)
    values = Y if isinstance(Y, np.ndarray) else Y.data
    wrong = np.asarray((values != 0) & (values != 1)) if Y.dtype.kind in "biuf" else True
    if np.any(wrong) and isinstance(Y, np.ndarray):
        return _columns_of_classes(Y, names)
    if np.any(wrong):
        got = f"the value {values[wrong][0]!s}" if Y.dtype.kind in "biuf" else f"dtype {Y.dtype}"
        raise ValueError(
            f"Y must be an indicator matrix of zeros and ones where it is sparse; got {got}. Use "
            "toarray() for several columns of classes, or a regressor for real outputs."
        )
    # As bool before duplicates are added up: a label given twice is a label.
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
    """Y of a regressor: (n_rows,) or (n_rows, n_outputs), dense or sparse; always a copy."""
    names, is_spmatrix = _label_names(Y), sparse.isspmatrix(Y)
    Y = _checked(estimator, Y)
    if sparse.issparse(Y) and Y.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            Y = canonical(sparse.csr_array(Y.astype(np.float32)))
        _check_finite(Y.data)
        Y.eliminate_zeros()
        labels = SparseRows.from_csr(Y)
        return Targets(labels, is_sparse=True, label_names=names, is_spmatrix=is_spmatrix)
    try:
        # A copy: a later change of the user's array must not change the model.
        numbers = np.array(Y, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Y must hold numbers; got dtype {Y.dtype}. Use a classifier for names of classes."
        ) from error
    _check_finite(numbers)
    _check_sizes(numbers)
    is_vector = numbers.ndim == 1
    return Targets(
        numbers.reshape(len(numbers), -1), is_sparse=False, is_vector=is_vector, label_names=names
    )


def with_impurity(targets: Targets, impurity: Impurity) -> Targets:
    """The targets of trees that are grown by it. Raises where their outputs have none."""
    if impurity is Impurity.POISSON:
        _check_counts(targets.labels)
    if impurity is Impurity.ABSOLUTE_ERROR and targets.is_sparse:
        way_out = "Use criterion='squared_error', which takes sparse Y as it is."
        check_fits_memory(targets.labels.shape, np.float64, way_out, name="Y")
    return replace(targets, impurity=impurity)


def _check_counts(labels: Labels) -> None:
    values = labels if isinstance(labels, np.ndarray) else labels.to_csr().data
    if (values < 0).any():
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson regression: "
            f"criterion='poisson' is for counts; got {values.min()}. Use 'squared_error'."
        )
    if not values.any():
        raise ValueError(
            "Sum of y is not strictly positive which is necessary for Poisson regression; got "
            "zeros alone. Where y is not positive, there is no Poisson deviance: use another "
            "criterion."
        )


def _one_class_a_row(Y: np.ndarray) -> Targets:
    if Y.dtype.kind == "O" and isinstance(Y[0], list | tuple | set | frozenset | np.ndarray):
        raise ValueError(
            f"Y must hold one class a row; got a {type(Y[0]).__name__} of them. Use "
            "MultiLabelBinarizer to turn lists of labels into an indicator matrix."
        )
    try:
        check_classification_targets(Y)
        classes, codes = np.unique(Y, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"Y must hold classes of one type, none of them missing; got: {error}. "
            "Leave out the rows whose class is not known."
        ) from error
    one_hot = SparseRows(
        row_start=np.arange(len(codes) + 1, dtype=np.int64),
        columns=codes.astype(np.int32),
        values=None,
        n_columns=len(classes),
    )
    return Targets(one_hot, is_sparse=False, classes=classes, dtype=Y.dtype)


def _columns_of_classes(Y: np.ndarray, names: np.ndarray | None) -> Targets:
    """The indicators of all classes of all columns are the labels, by name and class of the column
    where columns have names."""
    columns = [_one_class_a_row(column) for column in Y.T]
    classes = tuple(column.classes_by_output[0] for column in columns)
    first = np.cumsum([0, *map(len, classes)])
    codes = [
        start + column.class_labels.columns for start, column in zip(first, columns, strict=False)
    ]
    labels = SparseRows(
        row_start=np.arange(len(Y) + 1, dtype=np.int64) * len(columns),
        columns=np.stack(codes, axis=1).astype(np.int32).ravel(),
        values=None,
        n_columns=int(first[-1]),
    )
    return Targets(
        labels,
        is_sparse=False,
        dtype=Y.dtype,
        label_names=None if names is None else names_of_classes(names, classes),
        column_classes=classes,
    )


def names_of_classes(columns: Iterable[object], classes: Iterable[np.ndarray]) -> np.ndarray:
    """Of the classes of several columns, as in "team: support"."""
    pairs = zip(columns, classes, strict=True)
    return np.array([f"{column}: {name}" for column, found in pairs for name in found])


def outputs_as_fitted(fitted: np.ndarray | None, Y: MatrixLike) -> MatrixLike:
    """A data frame Y with its columns in the order of the names of the fit; Y as it is where one of
    them has no names, or all are other ones."""
    given = _label_names(Y)
    if given is None or fitted is None or np.array_equal(given, fitted):
        return Y
    missing, unknown = np.setdiff1d(fitted, given), np.setdiff1d(given, fitted)
    if len(missing) == len(fitted):
        return Y
    if len(missing) or len(unknown):
        found = f"no {missing[0]!s}" if len(missing) else f"{unknown[0]!s}, which it does not know"
        raise ValueError(
            f"Y must have the {len(fitted)} columns that the model was fitted on; got {found}. Add "
            "columns of zeros for labels that no row has, and leave out others."
        )
    return Y[fitted.tolist()]  # type: ignore[index]


def _label_names(Y: object) -> np.ndarray | None:
    """Names of the columns of a data frame, where all are of type str."""
    names = list(getattr(Y, "columns", []))
    return np.array(names) if names and all(isinstance(name, str) for name in names) else None


def _checked(estimator: BaseEstimator, Y: MatrixLike) -> Matrix:
    """Y as a finite array of one or two dimensions, or as a sparse matrix."""
    if Y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    check_is_collected("Y", Y)
    # Duplicates stay: how they merge depends on the kind of labels.
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
            f"Y must have fewer than 2**31 columns; got {Y.shape[1]}. Leave out labels that no row "
            "has."
        )
    _check_finite(Y.data if sparse.issparse(Y) else Y)
    if Y.ndim == 2 and Y.shape[1] == 1 and not sparse.issparse(Y):
        return _ravel_column(Y)
    return Y


def _check_finite(values: np.ndarray) -> None:
    if values.dtype.kind == "f":
        # In one piece: a part of an array is read through buffers, and NumPy (2.4) crashes where
        # it finds no memory for them.
        is_finite = np.isfinite(values.ravel(order="K")).all()
    else:
        is_finite = values.dtype.kind != "O" or all(map(_equals_itself, values.flat))
    if not is_finite:
        raise ValueError(
            "Y must have no missing or infinite value; got NaN, NA or inf. "
            "Leave out the rows whose labels are not known."
        )


def _check_sizes(numbers: np.ndarray) -> None:
    largest = float(np.abs(numbers).max(initial=0))
    if largest > LARGEST_OUTPUT:
        raise ValueError(
            f"Y must not have values beyond {LARGEST_OUTPUT:g}, since sums of them are no numbers; "
            f"got {largest:g}. Use another unit."
        )


def _equals_itself(value: object) -> bool:
    """Not so for NaN; and pandas' NA does not say."""
    equal = value == value
    return isinstance(equal, bool | np.bool_) and bool(equal)


def _ravel_column(Y: np.ndarray) -> np.ndarray:
    warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
    )
    return Y.ravel()

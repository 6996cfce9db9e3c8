"""Validation of X and sample_weight, with error messages that say how to fix the input."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, validate_data

from sketchforest._utils.frames import (
    InputColumns,
    cells_of,
    is_frame,
    one_hot_names,
    role_of,
)
from sketchforest._utils.sparse import checked_if_sparse, indicator_matrix, merged
from sketchforest._utils.typing import Matrix, MatrixLike, WeightsLike
from sketchforest._utils.warning import warn

LARGEST_INTEGER = 2**53  # a double represents all integers up to it
FEW_ROWS = 100  # of a column whose categories may be texts or ids
LARGEST_INDEX = np.iinfo(np.int32).max  # of rows, features and labels in the core

_NUMPY_TEXT = re.compile(r"np\.str_\(('[^']*'|\"[^\"]*\")\)")
_ENCODE = "Encode categories first, with OrdinalEncoder for example."
USE_TAGGER = (
    "Use MultiLabelBinarizer(sparse_output=True) to turn lists of labels into an indicator matrix, "
    "or Tagger, which takes them."
)
# Words in error messages of scikit-learn and NumPy, and the messages that replace them.
REWORDED = {
    "Complex data": "hold real numbers; got complex ones. Complex data not supported: "
    "use the real and imaginary parts as two columns.",
    "legacy multi-label": "be an indicator matrix; got lists of labels. " + USE_TAGGER,
    "could not convert": f"hold numbers; {{said}}. {_ENCODE}",
    "argument must be": f"hold numbers; {{said}}. {_ENCODE}",
    "bytes/strings": f"hold numbers; got strings. {_ENCODE}",
    "Expected 2D array": "have two dimensions; got one. Reshape your data: use reshape(-1, 1) for "
    "a single feature, reshape(1, -1) for a single row.",
    "array with dim": "have at most two dimensions; {said}.",
    "got scalar": "have one or two dimensions; got a scalar. Use a list for a single row.",
    "inhomogeneous": "have rows of equal length; got rows of different lengths. " + USE_TAGGER,
    "while a minimum of": "not be empty; {said}.",
}


@contextmanager
def reworded(name: str) -> Iterator[None]:
    """Reword errors of scikit-learn and NumPy: the parameter, one line, and how to fix it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        said = _NUMPY_TEXT.sub(r"\1", str(error).splitlines()[0].rstrip("."))
        said = said[0].lower() + said[1:]
        for words, sentence in REWORDED.items():
            if words in str(error):
                raise type(error)(f"{name} must {sentence.format(said=said)}") from error
        raise


class FeatureNames(NamedTuple):
    n_features: int
    names: np.ndarray | None  # of a data frame with string names
    columns: InputColumns | None = None  # of a data frame with categories


def check_training_features(
    estimator: BaseEstimator, X: MatrixLike, *, is_warm_start: bool
) -> tuple[Matrix, FeatureNames]:
    """X as a numeric array or canonical CSR, and its feature names. The estimator does not change.

    With a warm start, the features must be those of the previous fit.
    """
    scratch = object.__new__(type(estimator))  # scikit-learn sets attributes on it
    scratch.__dict__ = vars(estimator).copy()
    if not is_warm_start:
        scratch.__dict__.pop("_fitted", None)
    check_is_collected("X", X)
    columns = estimator.fitted_.input_columns if is_warm_start else learn_columns(X)
    checked = check_features(scratch, X, reset=not is_warm_start, columns=columns)
    names = getattr(scratch, "feature_names_in_", None)
    names = names if columns is None else np.array(one_hot_names(columns), dtype=object)
    numbers = checked if isinstance(checked, np.ndarray) else checked.data
    has_large = numbers.dtype.kind in "iu" and numbers.dtype.itemsize == 8 and numbers.size > 0
    if has_large and max(int(numbers.max()), -int(numbers.min())) > LARGEST_INTEGER:
        warn(
            "X has integers beyond 2**53, where neighbors are equal in double precision. Use their "
            "ranks, or split them into several columns, if they must stay distinct."
        )
    return checked, FeatureNames(checked.shape[1], names, columns)


def check_features(
    estimator: BaseEstimator,
    X: MatrixLike,
    *,
    reset: bool = False,
    columns: InputColumns | None = None,
) -> Matrix:
    """X as a numeric array or canonical CSR; NaN means missing.

    `columns` are those of a data frame with categories, which are one-hot encoded.
    """
    check_is_collected("X", X)
    if columns is not None and is_frame(X):
        return _with_categories(estimator, X, columns, reset=reset)
    X = checked_if_sparse("X", X, merge=False)
    _check_no_texts(X)
    _check_columns(X)
    with _naming_the_column(X), reworded("X"):
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype="numeric",
            ensure_all_finite=False,
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must hold numbers; got dtype {X.dtype}. Convert it with astype(float)."
        )
    if X.dtype == np.float16 or X.dtype.itemsize > 8:
        X = X.astype(np.float32 if X.dtype == np.float16 else np.float64)
    if sparse.issparse(X):
        X = merged(X)
    else:  # big-endian files and fields of packed records
        X = np.require(X, dtype=X.dtype.newbyteorder("="), requirements="A")
    values = X.data if sparse.issparse(X) else X
    if _has_infinity(values):
        raise ValueError(
            "X must not contain infinity; got inf or -inf. Replace it with NaN, which means "
            "missing, or with a large number."
        )
    for size, what in zip(X.shape, ("rows", "features"), strict=True):
        if size > LARGEST_INDEX:
            raise ValueError(
                f"X must have fewer than 2**31 {what}; got {size}. Use a sample of them."
            )
    return X


def learn_columns(X: Any) -> InputColumns | None:
    """Return the columns of a training data frame; None unless some hold categories."""
    if not is_frame(X) or not all(isinstance(name, str) for name in X.columns):
        return None
    known: dict[str, tuple[str, ...] | None] = {}
    for name, dtype in zip(X.columns, list(X.dtypes), strict=True):
        known[name], role, n_rows = None, role_of(dtype, X[name]), X.shape[0]
        if role in ("number", None):
            continue
        values = tuple(sorted({value for value in _category_names(X[name]) if value is not None}))
        known[name] = values
        if role == "text" and n_rows > FEW_ROWS and len(values) > n_rows / 2:
            warn(
                f"X has {len(values):,} categories in column {name!r} of {n_rows:,} rows. If it "
                "holds texts or ids, leave it out, or use Tagger, which reads texts."
            )
    return known if any(values is not None for values in known.values()) else None


def _indicators(X: Any, columns: InputColumns) -> list[Any]:
    """Return a CSR matrix for each column of categories; other values have zeros only."""
    return [
        indicator_matrix(_category_names(X[name]), values)
        for name, values in columns.items()
        if values is not None
    ]


def _category_names(column: Any) -> list[str | None]:
    return [None if cell is None else str(cell) for cell in cells_of(column)]


def _with_categories(
    estimator: BaseEstimator, X: Any, columns: InputColumns, *, reset: bool
) -> sparse.csr_array:
    with reworded("X"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    numbers = [name for name, values in columns.items() if values is None]
    parts = [check_features(BaseEstimator(), X[numbers], reset=True)] if numbers else []
    parts = [sparse.csr_array(part) for part in (*parts, *_indicators(X, columns))]
    return sparse.csr_array(sparse.hstack(parts, format="csr"))


def are_texts(X: object) -> bool:
    """Whether X is a list of texts, for a model with a vectorizer."""
    if isinstance(X, str):
        raise ValueError(f"X must be a list of texts; got one text, {X[:20]!r}. Use [text].")
    is_column = isinstance(X, list | tuple) or getattr(X, "ndim", 2) == 1
    return is_column and all(isinstance(text, str) for text in X)  # type: ignore[attr-defined]


def check_width(n_made: int, n_features: int) -> None:
    """Raise if a vectorizer does not make as many features as the model was fitted on.

    The core relies on it: it reads every feature that a node names.
    """
    if n_made != n_features:
        raise ValueError(
            f"vectorizer must produce the {n_features} features that the model was fitted on; it "
            f"produces {n_made}. Attach the one that produced X, without fitting it again."
        )


def check_is_collected(name: str, given: object) -> None:
    if hasattr(given, "collect") and not hasattr(given, "__array__"):
        raise ValueError(
            f"{name} must hold rows; got a {type(given).__name__}, which is not computed yet. "
            "Call its collect()."
        )


def _check_no_texts(X: object) -> None:
    """Raise for texts, if the model has no vectorizer."""
    texts: Any = [X] if isinstance(X, str) else X
    if sparse.issparse(texts) or not are_texts(texts) or not len(texts):
        return
    raise ValueError(
        f"X must hold numbers; got texts, such as {str(next(iter(texts)))[:20]!r}. Use a "
        "TfidfVectorizer, or attach(vectorizer=...) to make the model accept texts."
    )


def _columns_of(X: object) -> list[tuple[object, Any]]:
    """Names and dtypes of the columns of a data frame; empty for anything else."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return []
    return list(zip(list(X.columns), list(dtypes), strict=True))


def _check_columns(X: object) -> None:
    """Raise for the first column of a data frame that is not numeric."""
    for name, dtype in _columns_of(X):
        how_to_fix = _how_to_make_numeric(dtype)
        if how_to_fix is not None:
            kind = str(dtype).partition("(")[0]  # not the list of all categories
            raise ValueError(f"X must hold numbers; got column {name!r} of {kind}. {how_to_fix}")


def _how_to_make_numeric(dtype: Any) -> str | None:
    """None for numeric dtypes, and for objects, which may be numbers."""
    word = str(dtype).lower()
    if word.startswith(("datetime64", "timestamp", "timedelta64", "duration", "period")):
        return "Convert it to numbers first, such as its year, month or seconds."
    if word.startswith(("category", "categorical", "enum")):
        names = getattr(dtype, "categories", None)  # numeric categories are fine
        are_numbers = getattr(getattr(names, "dtype", None), "kind", "O") in "biuf"
        is_pandas = word == "category"
        codes = ", or use its cat.codes" if is_pandas else ""
        return None if are_numbers else f"Encode it first, with OneHotEncoder{codes}."
    is_text = word in ("str", "string", "utf8") or word.startswith(("string[", "large_string"))
    return _ENCODE if is_text else None


@contextmanager
def _naming_the_column(X: object) -> Iterator[None]:
    """Add the name of the data frame column that has a text to the error."""
    try:
        yield
    except ValueError as error:
        is_about_text = "could not convert" in str(error)
        objects = [name for name, dtype in _columns_of(X) if str(dtype) == "object"]
        for name in objects if is_about_text else []:
            try:
                np.asarray(X[name], dtype=np.float64)  # type: ignore[index]
            except (TypeError, ValueError):
                said = str(error).replace("X must hold numbers; ", f"in column {name!r}, ")
                raise ValueError(f"X must hold numbers; {said}") from error
        raise


def _has_infinity(values: np.ndarray) -> bool:
    if values.dtype.kind != "f":
        return False
    # Faster than testing each value: a finite sum has only finite terms.
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return False
    return bool(np.isinf(values).any())


def check_same_length(X: Matrix, n_labelled: int) -> None:
    if X.shape[0] != n_labelled:
        raise ValueError(
            f"X and Y must have the same number of rows; got {X.shape[0]} and {n_labelled}. "
            "Row i of Y must hold the labels of row i of X."
        )


def check_sample_weight(sample_weight: WeightsLike, n_rows: int) -> np.ndarray | None:
    """(n_rows,) float64, not negative and not all zero; None if all are equal."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, np.ndarray) and sample_weight.ndim == 0:
        check_consistent_length(sample_weight.astype(float))  # raises TypeError, like scikit-learn
    with reworded("sample_weight"):
        weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n_rows} rows; "
            f"got shape {weights.shape}."
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight must be finite; got NaN or inf. Use 0 to ignore a row.")
    if weights.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative; got {weights.min()}. Use 0 to ignore a row."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight must not be all zero; got no weight above 0. Use None for equal weights."
        )
    return None if (weights == weights[0]).all() else weights

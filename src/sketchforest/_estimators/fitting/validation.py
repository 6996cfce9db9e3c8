"""Rows and their weights as users give them, checked: what is wrong is said in one sentence."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, validate_data

from sketchforest._sparse import checked_if_sparse, merged
from sketchforest._typing import Matrix, MatrixLike, WeightsLike
from sketchforest._warning import warn

LARGEST_WHOLE = 2**53  # up to which a double holds every whole number
LARGEST_INDEX = np.iinfo(np.int32).max  # the native core counts rows, features and labels so

_NUMPY_TEXT = re.compile(r"np\.str_\(('[^']*'|\"[^\"]*\")\)")
_ENCODE = "Encode categories first, with OrdinalEncoder for example."
# Words of scikit-learn's and numpy's errors about an array, and our sentence for each of them.
REWORDED = {
    "Complex data": "hold real numbers; got complex ones. Complex data not supported: "
    "use real and imaginary parts as two columns.",
    "legacy multi-label": "be an indicator matrix; got lists of labels. Use MultiLabelBinarizer to "
    "turn them into one.",
    "could not convert": f"hold numbers; {{said}}. {_ENCODE}",
    "argument must be": f"hold numbers; {{said}}. {_ENCODE}",
    "bytes/strings": f"hold numbers; got strings. {_ENCODE}",
    "Expected 2D array": "have two dimensions; got one. Reshape your data: reshape(-1, 1) makes "
    "one feature of it, reshape(1, -1) one row.",
    "array with dim": "have at most two dimensions; {said}.",
    "got scalar": "have one or two dimensions; got a scalar. Use a list for a single row.",
    "inhomogeneous": "have rows of one length; got rows of several lengths. "
    "Use MultiLabelBinarizer to turn lists of labels into an indicator matrix.",
    "while a minimum of": "not be empty; {said}.",
}


@contextmanager
def reworded(name: str) -> Iterator[None]:
    """Gives errors about an array the name of the parameter, one line, and a way out."""
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
    """What an estimator remembers of the columns of X."""

    n_features: int
    names: np.ndarray | None  # of a data frame with names of type str


def check_training_features(
    estimator: BaseEstimator, X: MatrixLike, *, is_warm_start: bool
) -> tuple[Matrix, FeatureNames]:
    """X as a numeric array or canonical CSR, and its columns, which a warm start has seen before.
    The estimator stays as it is."""
    scratch = object.__new__(type(estimator))  # scikit-learn writes what it finds on it
    scratch.__dict__ = vars(estimator).copy()
    if not is_warm_start:
        scratch.__dict__.pop("_fitted", None)
    checked = check_features(scratch, X, reset=not is_warm_start)
    names = getattr(scratch, "feature_names_in_", None)
    _warn_of_large_integers(checked)
    return checked, FeatureNames(scratch.n_features_in_, names)


def _warn_of_large_integers(X: Matrix) -> None:
    numbers = X if isinstance(X, np.ndarray) else X.data
    if X.dtype.kind not in "iu" or X.dtype.itemsize < 8 or not numbers.size:
        return
    if max(int(numbers.max()), -int(numbers.min())) > LARGEST_WHOLE:
        warn(
            "X has whole numbers beyond 2**53, of which neighbours are the same number to a tree. "
            "Use their ranks, or columns of their parts, if they must be told apart."
        )


def check_features(estimator: BaseEstimator, X: MatrixLike, *, reset: bool = False) -> Matrix:
    """X as a numeric array or canonical CSR; NaN means missing."""
    check_is_collected("X", X)
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
            "X must not contain infinity; got inf or -inf. Replace it by NaN, which means missing, "
            "or by a large number."
        )
    for size, what in zip(X.shape, ("rows", "features"), strict=True):
        if size > LARGEST_INDEX:
            raise ValueError(
                f"X must have fewer than 2**31 {what}; got {size}. Use a sample of them."
            )
    return X


def are_texts(X: object) -> bool:
    """Whether these are rows of a text model before its vectorizer has seen them."""
    if isinstance(X, str):
        raise ValueError(f"X must be a list of texts; got one text, {X[:20]!r}. Use [text].")
    is_column = isinstance(X, list | tuple) or getattr(X, "ndim", 2) == 1
    return is_column and all(isinstance(text, str) for text in X)  # type: ignore[attr-defined]


def check_width(n_made: int, n_features: int) -> None:
    """Raises where a vectorizer is not the one that made the features of the fit: the core reads
    what nodes ask for, and not less."""
    if n_made != n_features:
        raise ValueError(
            f"vectorizer must make the {n_features} features that the model was fitted on; it "
            f"makes {n_made}. Attach the one that made X, which is not fitted again."
        )


def check_is_collected(name: str, given: object) -> None:
    """Raises for a frame that is a plan and holds no rows yet."""
    if hasattr(given, "collect") and not hasattr(given, "__array__"):
        raise ValueError(
            f"{name} must hold rows; got a {type(given).__name__}, which is a plan for them. "
            "Use its collect()."
        )


def _check_no_texts(X: object) -> None:
    """Raises for texts that no vectorizer has seen."""
    texts: Any = [X] if isinstance(X, str) else X
    if sparse.issparse(texts) or not are_texts(texts) or not len(texts):
        return
    raise ValueError(
        f"X must hold numbers; got texts, as {str(next(iter(texts)))[:20]!r}. Make numbers of them "
        "with a TfidfVectorizer; a model that it is attached to, by attach(vectorizer=...), takes "
        "texts."
    )


def _columns_of(X: object) -> list[tuple[object, Any]]:
    """Names and types of the columns of a data frame; none of what is no frame."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return []
    return list(zip(list(X.columns), list(dtypes), strict=True))


def _check_columns(X: object) -> None:
    """Raises for the first column of a data frame whose type is not one of numbers, by its name."""
    for name, dtype in _columns_of(X):
        way_out = _way_out_of(dtype)
        if way_out is not None:
            kind = str(dtype).partition("(")[0]  # without all categories
            raise ValueError(f"X must hold numbers; got column {name!r} of {kind}. {way_out}")


def _way_out_of(dtype: Any) -> str | None:
    """None for types of numbers, and for objects, which may be numbers."""
    word = str(dtype).lower()
    if word.startswith(("datetime64", "timestamp", "timedelta64", "duration", "period")):
        return "Make numbers of it first, as its year, its month or its seconds."
    if word.startswith(("category", "categorical", "enum")):
        names = getattr(dtype, "categories", None)  # numbers are taken as they are
        are_numbers = getattr(getattr(names, "dtype", None), "kind", "O") in "biuf"
        is_pandas = word == "category"
        codes = ", or use its cat.codes" if is_pandas else ""
        return None if are_numbers else f"Encode it first, with OneHotEncoder{codes}."
    is_text = word in ("str", "string", "utf8") or word.startswith(("string[", "large_string"))
    return _ENCODE if is_text else None


@contextmanager
def _naming_the_column(X: object) -> Iterator[None]:
    """Says in which column of a data frame a text among objects is."""
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
    # A sum is finite unless something in it is not, and is faster than a look at each value.
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return False
    return bool(np.isinf(values).any())


def check_same_length(X: Matrix, n_labelled: int) -> None:
    if X.shape[0] != n_labelled:
        raise ValueError(
            f"X and Y must have the same number of rows; got {X.shape[0]} and {n_labelled}. "
            "Row i of Y holds the labels of row i of X."
        )


def check_sample_weight(sample_weight: WeightsLike, n_rows: int) -> np.ndarray | None:
    """(n_rows,) float64, none below zero and not all zero; None for equal ones, as only
    ratios count."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, np.ndarray) and sample_weight.ndim == 0:
        check_consistent_length(sample_weight.astype(float))  # a TypeError, as scikit-learn says
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
        raise ValueError(
            "sample_weight must be finite; got NaN or inf. A weight of 0 leaves a row out."
        )
    if weights.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative; got {weights.min()}. "
            "A weight of 0 leaves a row out."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight must not be all zero; got no row with a weight above 0. "
            "Use None for equal weights."
        )
    return None if (weights == weights[0]).all() else weights

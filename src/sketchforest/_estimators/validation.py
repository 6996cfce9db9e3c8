"""Everything a user can get wrong, said once: parameter, rule, value, way out."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from sketchforest._estimators.thresholds import is_threshold
from sketchforest._trees.encoding import canonical
from sketchforest._trees.model import Labels, SparseRows


class Rule(NamedTuple):
    says: str
    holds: Callable[[Any], bool]


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not _is_int(value) and not isinstance(value, bool | np.bool_)


def _at_least(low: int) -> Rule:
    return Rule(f"an int of at least {low}", lambda v: _is_int(v) and v >= low)


def _int_or_share(low: int, *, none: bool = False) -> Rule:
    says = f"an int of at least {low} or a fraction in (0, 1]"
    return Rule(
        says + " or None" if none else says,
        lambda v: (none and v is None) or (_is_int(v) and v >= low) or (_is_real(v) and 0 < v <= 1),
    )


def _or_none(rule: Rule) -> Rule:
    return Rule(f"{rule.says} or None", lambda v: v is None or rule.holds(v))


_FLAG = Rule("True or False", lambda v: isinstance(v, bool | np.bool_))
_MAX_FEATURES = _int_or_share(1, none=True)

RULES: dict[str, Rule] = {
    "n_estimators": Rule(
        "an int of at least 1 or 'auto'",
        lambda v: v == "auto" if isinstance(v, str) else _is_int(v) and v >= 1,
    ),
    "max_depth": _or_none(_at_least(1)),
    "min_samples_split": _int_or_share(2),
    "min_samples_leaf": _int_or_share(1),
    "min_weight_fraction_leaf": Rule(
        "a number in [0, 0.5]", lambda v: (_is_int(v) or _is_real(v)) and 0 <= v <= 0.5
    ),
    "max_features": Rule(
        f"'sqrt', 'log2', 'auto', {_MAX_FEATURES.says}",
        lambda v: v in ("sqrt", "log2", "auto") if isinstance(v, str) else _MAX_FEATURES.holds(v),
    ),
    "max_leaf_nodes": _or_none(_at_least(2)),
    "min_impurity_decrease": Rule(
        "a number of at least 0", lambda v: (_is_int(v) or _is_real(v)) and 0 <= v < math.inf
    ),
    "bootstrap": _FLAG,
    "max_samples": _int_or_share(1, none=True),
    "oob_score": Rule(
        "True, False, the name of a metric or a callable",
        lambda v: isinstance(v, bool | np.bool_ | str) or callable(v),
    ),
    "shared_projection": _FLAG,
    "n_jobs": Rule("an int other than 0 or None", lambda v: v is None or (_is_int(v) and v != 0)),
    "random_state": Rule(
        "an int from 0 to 2**32 - 1, a numpy RandomState or None",
        lambda v: (
            v is None
            or v is np.random
            or isinstance(v, np.random.RandomState)
            or (_is_int(v) and 0 <= v < 2**32)
        ),
    ),
    "verbose": Rule("an int of at least 0", lambda v: isinstance(v, Integral) and int(v) >= 0),
    "warm_start": _FLAG,
    "threshold": Rule(
        "a number in [0, 1], 'oob-f1', 'oob-f1-global' or 'top-K' with K of at least 1",
        is_threshold,
    ),
    "splitter": Rule("'best' or 'random'", lambda v: v in ("best", "random")),
}


def check_parameters(params: dict[str, Any]) -> None:
    """Raises for the first parameter that breaks its rule; the others are checked where used."""
    for name, value in params.items():
        rule = RULES.get(name)
        if rule is not None and not rule.holds(value):
            raise ValueError(f"{name} must be {rule.says}; got {value!r}.")


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Whatever goes wrong inside, Ctrl-C included, leaves the estimator as it was."""
    before = dict(vars(estimator))
    rng = before["random_state"]
    rng_state = rng.get_state() if isinstance(rng, np.random.RandomState) else None
    try:
        yield
    except BaseException:
        if rng_state is not None:
            rng.set_state(rng_state)
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


_ENCODE = "Encode categories first, with OrdinalEncoder for example."
# Words of scikit-learn's and numpy's errors about an array, and our sentence for each of them.
REWORDED = {
    "Complex data": "hold real numbers; got complex ones. Complex data not supported: "
    "use real and imaginary parts as two columns.",
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
def _reworded(name: str) -> Iterator[None]:
    """Gives errors about an array the name of the parameter, one line, and a way out."""
    try:
        yield
    except (TypeError, ValueError) as error:
        said = str(error).splitlines()[0].rstrip(".")
        said = said[0].lower() + said[1:]
        for words, sentence in REWORDED.items():
            if words in str(error):
                raise type(error)(f"{name} must {sentence.format(said=said)}") from error
        raise


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a numeric array, or a CSR or CSC matrix; NaN means missing."""
    with _reworded("X"):
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
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
    if not sparse.issparse(X):  # big-endian files and fields of packed records
        X = np.require(X, dtype=X.dtype.newbyteorder("="), requirements="A")
    values = X.data if sparse.issparse(X) else X
    if _has_infinity(values):
        raise ValueError(
            "X must not contain infinity; got inf or -inf. Replace it by NaN, which means missing, "
            "or by a large number."
        )
    if X.shape[0] > np.iinfo(np.int32).max:
        raise ValueError(
            f"X must have fewer than 2**31 rows; got {X.shape[0]}. Fit on a sample of them."
        )
    return X


def _has_infinity(values: np.ndarray) -> bool:
    if values.dtype.kind != "f":
        return False
    # A sum is finite unless something in it is not, and is faster than a look at each value.
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return False
    return bool(np.isinf(values).any())


def check_same_length(X: Any, Y: Any) -> None:
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"X and Y must have the same number of rows; got {X.shape[0]} and {Y.shape[0]}. "
            "Row i of Y holds the labels of row i of X."
        )


class ClassTargets(NamedTuple):
    """The labels of a classifier, and how to speak of them."""

    labels: SparseRows
    classes: np.ndarray | None  # None: multi-label
    dtype: np.dtype
    is_sparse: bool


def check_class_targets(estimator: Any, Y: Any) -> ClassTargets:
    """Y of a classifier: an indicator matrix, dense or sparse, or one class a row."""
    Y = _as_targets(estimator, Y)
    if Y.ndim == 1:
        return _one_class_a_row(Y)
    if Y.dtype.kind not in "biuf":
        raise _not_an_indicator(f"dtype {Y.dtype}")
    values = Y.data if sparse.issparse(Y) else Y
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise _not_an_indicator(f"the value {values[wrong].flat[0]!s}")
    # As bool before duplicates are added up: a label given twice is a label.
    labels = canonical(sparse.csr_array(Y.astype(bool)))
    labels.eliminate_zeros()
    return ClassTargets(SparseRows.from_csr(labels), None, Y.dtype, sparse.issparse(Y))


def _one_class_a_row(Y: np.ndarray) -> ClassTargets:
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
    return ClassTargets(one_hot, classes, Y.dtype, False)


class RealTargets(NamedTuple):
    labels: Labels
    is_vector: bool


def check_real_targets(estimator: Any, Y: Any) -> RealTargets:
    """Y of a regressor: (n_rows,) or (n_rows, n_outputs), dense or sparse; always a copy."""
    Y = _as_targets(estimator, Y)
    if sparse.issparse(Y) and Y.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            Y = canonical(sparse.csr_array(Y.astype(np.float32)))
        _check_finite(Y.data)
        Y.eliminate_zeros()
        return RealTargets(SparseRows.from_csr(Y), False)
    try:
        # A copy: a later change of the user's array must not change the model.
        labels = np.array(Y, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Y must hold numbers; got dtype {Y.dtype}. Use a classifier for names of classes."
        ) from error
    _check_finite(labels)
    return RealTargets(labels.reshape(len(labels), -1), labels.ndim == 1)


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """(n_rows,) float64, none below zero and not all zero; None for equal weights."""
    if sample_weight is None:
        return None
    with _reworded("sample_weight"):
        weights = np.asarray(sample_weight, dtype=np.float64)
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
    return weights


def check_k(k: Any, n_outputs: int) -> int:
    if not (_is_int(k) and 1 <= k <= n_outputs):
        raise ValueError(
            f"k must be an int from 1 to the number of outputs, {n_outputs}; got {k!r}."
        )
    return int(k)


def _as_targets(estimator: Any, Y: Any) -> Any:
    """Y as a finite array of one or two dimensions, or as a sparse matrix."""
    if Y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    with _reworded("Y"):
        Y = check_array(
            Y,
            accept_sparse=("csr", "csc", "coo"),
            accept_large_sparse=True,
            ensure_2d=False,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_features=0,
        )
    if sparse.issparse(Y) and Y.ndim != 2:
        raise ValueError(
            f"Y must have two dimensions where it is sparse; got shape {Y.shape}. "
            "Use toarray() for a single column."
        )
    if Y.ndim == 2 and Y.shape[1] == 0:
        raise ValueError(f"Y must have at least one column; got shape {Y.shape}.")
    _check_finite(Y.data if sparse.issparse(Y) else Y)
    if Y.ndim == 2 and Y.shape[1] == 1 and not sparse.issparse(Y):
        return _ravel_column(Y)
    return Y


def _check_finite(values: np.ndarray) -> None:
    if values.dtype.kind == "f":
        is_finite = np.isfinite(values).all()
    else:
        is_finite = values.dtype.kind != "O" or all(map(_equals_itself, values.flat))
    if not is_finite:
        raise ValueError(
            "Y must have no missing or infinite value; got NaN, NA or inf. "
            "Leave out the rows whose labels are not known."
        )


def _equals_itself(value: Any) -> bool:
    """Not so for NaN; and pandas' NA does not say."""
    equal = value == value
    return isinstance(equal, bool | np.bool_) and bool(equal)


def _ravel_column(Y: np.ndarray) -> np.ndarray:
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
        stacklevel=7,  # the call of fit
    )
    return Y.ravel()


def _not_an_indicator(got: str) -> ValueError:
    return ValueError(
        f"Y must be an indicator matrix of zeros and ones; got {got}. Use a one-dimensional Y for "
        "classes, or a regressor for real outputs."
    )

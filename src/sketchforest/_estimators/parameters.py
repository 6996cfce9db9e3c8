"""The rules of the parameters, and one value that holds the parameters of an estimator."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from sketchforest._estimators.constructors import (
    DEFAULT_PROJECTION,
    Calibrate,
    ClassWeight,
    Device,
    MaxFeatures,
    NComponents,
    OobScore,
    RandomState,
    Threshold,
)
from sketchforest._estimators.predicting.decisions import DEFAULT, is_threshold
from sketchforest._trees.criterion import VARIANCE, Criterion
from sketchforest._trees.encoding import MOST_BINS
from sketchforest.projection import ProjectionLike


@dataclass(frozen=True)
class Parameters:
    """The validated parameters of one estimator.

    Parameters that the estimator does not have keep the defaults given here.
    """

    projection: ProjectionLike
    n_components: NComponents
    max_features: MaxFeatures
    max_depth: int | None
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_leaf_nodes: int | None
    random_state: RandomState
    is_tree: bool
    is_mixed: bool  # a forest of oblique trees and extra-trees
    splitter: str = "best"
    # None: the default of each tree type of a mixed forest.
    min_samples_split: int | float | None = None
    min_samples_leaf: int | float | None = None
    n_estimators: int | Literal["auto"] = 1
    bootstrap: bool = True
    max_samples: int | float | None = None
    oob_score: OobScore = False
    shared_projection: bool = False
    n_jobs: int | None = None
    verbose: int = 0
    warm_start: bool = False
    class_weight: ClassWeight = None
    threshold: Threshold = DEFAULT
    calibrate: Calibrate = None
    oblique: float = 0.0  # share of the trees
    ridge: float = 2.0
    linear: float | Literal["auto"] = 0.0  # weight
    label_correlations: bool = False
    device: Device = None
    ccp_alpha: float = 0.0
    max_bins: int | None = None
    criterion: str = "gini"
    split_criterion: Criterion = VARIANCE  # what `criterion` names

    @classmethod
    def of(cls, estimator: BaseEstimator) -> "Parameters":
        """Validate the parameters of an estimator, except for what depends on the data."""
        given = estimator.get_params(deep=False)
        if "oblique" in given:
            given = {n: v for n, v in given.items() if not uses_tree_type_default(n, v)}
        check_parameters(given)
        values = {n: v for n, v in given.items() if n in {field.name for field in fields(cls)}}
        if "criterion" in given:
            known = estimator._criteria
            if not isinstance(given["criterion"], str) or given["criterion"] not in known:
                *names, last = map(repr, known)
                got = f"got {given['criterion']!r}."
                raise ValueError(f"criterion must be {', '.join(names)} or {last}; {got}")
            values["split_criterion"] = known[given["criterion"]]
        if "splitter" not in given:  # a forest's is part of its class
            values["splitter"] = estimator._splitter
        values |= {"is_tree": "n_estimators" not in given, "is_mixed": "oblique" in given}
        return cls(**values)

    @property
    def has_default_projection(self) -> bool:
        is_default = isinstance(self.projection, str) and self.projection == DEFAULT_PROJECTION
        return is_default and self.n_components is None and not self.shared_projection

    @property
    def sees_all_rows(self) -> bool:
        """Whether each tree sees all rows, unless a mixed forest leaves some out to score them."""
        return not self.bootstrap and self.max_samples is None

    @property
    def auto_names(self) -> list[str]:
        """Parameters to choose before the trees are grown; `n_estimators` is chosen afterwards."""
        names = ("n_components", "max_features")
        return [name for name in names if getattr(self, name) == "auto"]


def uses_tree_type_default(name: str, value: object) -> bool:
    """Whether each tree type of a mixed forest uses its own default of a parameter."""
    return name in ("min_samples_split", "min_samples_leaf") and value is None


class Rule(NamedTuple):
    says: str
    holds: Callable[[object], bool]


def is_int(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not is_int(value) and not isinstance(value, bool | np.bool_)


def _is_between(value: object, low: float, high: float) -> bool:
    is_number = is_int(value) or _is_real(value)
    return is_number and low <= float(value) <= high  # type: ignore[arg-type]


def _is_at_least(value: object, low: int) -> bool:
    return is_int(value) and int(value) >= low  # type: ignore[call-overload]


def _at_least(low: int) -> Rule:
    return Rule(f"an int of at least {low}", lambda v: _is_at_least(v, low))


def _int_or_share(low: int, *, none: bool = False) -> Rule:
    says = f"an int of at least {low} or a fraction in (0, 1]"
    return Rule(
        says + " or None" if none else says,
        lambda v: (
            (none and v is None)
            or _is_at_least(v, low)
            or (_is_real(v) and _is_between(v, 0, 1) and v != 0)
        ),
    )


def _or_none(rule: Rule) -> Rule:
    return Rule(f"{rule.says} or None", lambda v: v is None or rule.holds(v))


_FLAG = Rule("True or False", lambda v: isinstance(v, bool | np.bool_))
_MAX_FEATURES = _int_or_share(1, none=True)
_NOT_NEGATIVE = Rule(
    "a number of at least 0", lambda v: _is_between(v, 0, float(np.finfo(np.float64).max))
)

RULES: dict[str, Rule] = {
    "n_estimators": Rule(
        "an int of at least 1 or 'auto'",
        lambda v: v == "auto" if isinstance(v, str) else _is_at_least(v, 1),
    ),
    "max_depth": _or_none(_at_least(1)),
    "min_samples_split": _int_or_share(2),
    "min_samples_leaf": _int_or_share(1),
    "min_weight_fraction_leaf": Rule("a number in [0, 0.5]", lambda v: _is_between(v, 0, 0.5)),
    "max_features": Rule(
        f"'sqrt', '4sqrt', 'log2', 'auto', {_MAX_FEATURES.says}",
        lambda v: (
            v in ("sqrt", "4sqrt", "log2", "auto") if isinstance(v, str) else _MAX_FEATURES.holds(v)
        ),
    ),
    "max_leaf_nodes": _or_none(_at_least(2)),
    "min_impurity_decrease": _NOT_NEGATIVE,
    "ccp_alpha": _NOT_NEGATIVE,
    "max_bins": Rule(
        "an int from 2 to 255 or None",
        lambda v: v is None or (is_int(v) and _is_between(v, 2, MOST_BINS)),
    ),
    "monotonic_cst": Rule(
        "None, since monotonicity constraints are not supported", lambda v: v is None
    ),
    "bootstrap": _FLAG,
    "max_samples": Rule(
        "an int of at least 1, a share above 0 or None",
        lambda v: v is None or _is_at_least(v, 1) or (_is_real(v) and 0 < v < np.inf),  # type: ignore[operator]
    ),
    "oob_score": Rule(
        "True, False, the name of a metric or a callable",
        lambda v: isinstance(v, bool | np.bool_ | str) or callable(v),
    ),
    "shared_projection": _FLAG,
    "n_jobs": Rule("an int other than 0 or None", lambda v: v is None or (is_int(v) and v != 0)),
    "random_state": Rule(
        "an int from 0 to 2**32 - 1, a numpy RandomState or None",
        lambda v: (
            v is None
            or v is np.random
            or isinstance(v, np.random.RandomState)
            or (is_int(v) and _is_between(v, 0, 2**32 - 1))
        ),
    ),
    "verbose": Rule(
        "an int of at least 0", lambda v: isinstance(v, bool | np.bool_) or _is_at_least(v, 0)
    ),
    "warm_start": _FLAG,
    "threshold": Rule(
        "a number in [0, 1], one for each label, 'f1', 'f1-per-label' or 'top-K' with K of at "
        "least 1",
        is_threshold,
    ),
    "calibrate": Rule(
        "'sigmoid', 'isotonic' or None", lambda v: v in ("sigmoid", "isotonic", None)
    ),
    "splitter": Rule("'best', 'random' or 'oblique'", lambda v: v in ("best", "random", "oblique")),
    "oblique": Rule("a number in [0, 1]", lambda v: _is_between(v, 0, 1)),
    "ridge": _NOT_NEGATIVE,
    "linear": Rule(
        "a number in [0, 1] or 'auto'",
        lambda v: v == "auto" if isinstance(v, str) else _is_between(v, 0, 1),
    ),
    "label_correlations": _FLAG,
    "device": Rule("None, 'cpu' or 'cuda'", lambda v: v in (None, "cpu", "cuda")),
    # of boosting
    "learning_rate": Rule("a number above 0", lambda v: _is_between(v, 0, 1e6) and v != 0),
    "max_iter": _at_least(1),
    "l2_regularization": _NOT_NEGATIVE,
    "subsample": Rule("a number in (0, 1]", lambda v: _is_between(v, 0, 1) and v != 0),
    "leaf_fit": Rule("'outputs' or 'linear'", lambda v: v in ("outputs", "linear")),
    "early_stopping": Rule(
        "True, False or 'auto'", lambda v: isinstance(v, bool | np.bool_) or v == "auto"
    ),
    "validation_fraction": _int_or_share(1, none=True),
    "n_iter_no_change": _at_least(1),
    "tol": _NOT_NEGATIVE,
}


def check_parameters(params: Mapping[str, object]) -> None:
    for name, value in params.items():
        rule = RULES.get(name)
        if rule is not None and not rule.holds(value):
            raise ValueError(f"{name} must be {rule.says}; got {value!r}.")


def check_k(k: object, most: int, what: str = "outputs") -> int:
    if not (is_int(k) and _is_between(k, 1, most)):
        raise ValueError(f"k must be an int from 1 to the number of {what}, {most}; got {k!r}.")
    return int(k)  # type: ignore[call-overload]


def n_features_sampled(max_features: MaxFeatures, n_features: int) -> int:
    match max_features:
        case "sqrt":
            return max(1, int(math.sqrt(n_features)))
        case "4sqrt":
            return min(n_features, max(1, int(4 * math.sqrt(n_features))))
        case "log2":
            return max(1, int(math.log2(n_features)))
        case "auto":
            raise ValueError(
                "max_features must be 'sqrt', 'log2', an int, a fraction or None for a single "
                "tree; got 'auto', which is for forests."
            )
        case float() | np.floating():
            return max(1, int(max_features * n_features))
    return n_features if max_features is None else min(int(max_features), n_features)


def resolve_n_rows(number: int | float, n_rows: int) -> int:
    """A number of rows, given as an int or a fraction."""
    return math.ceil(number * n_rows) if isinstance(number, float | np.floating) else int(number)

"""The parameters of all estimators: their types, their rules, and one value that holds them."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from sketchforest._estimators.predicting.thresholds import DEFAULT, is_threshold
from sketchforest._warning import warn
from sketchforest.projection import ProjectionLike

NComponents: TypeAlias = int | float | Literal["log", "sqrt", "all", "auto"] | None
MaxFeatures: TypeAlias = int | float | Literal["sqrt", "4sqrt", "log2", "auto"] | None
RandomState: TypeAlias = int | np.random.RandomState | None
OobScore: TypeAlias = bool | str | Callable[..., float]
RegressionCriterion: TypeAlias = Literal[
    "squared_error", "friedman_mse", "absolute_error", "poisson"
]
Threshold: TypeAlias = float | str | Sequence[float] | np.ndarray
ClassWeight: TypeAlias = (
    Literal["balanced", "balanced_subsample"]
    | dict[Hashable, float]
    | list[dict[Hashable, float]]
    | None
)

DEFAULT_PROJECTION = "gaussian"


class HasParameters(Protocol):
    """What every estimator is."""

    _splitter: str
    _criteria: tuple[str, ...]

    def get_params(self, deep: bool = True) -> dict[str, object]: ...


@dataclass(frozen=True)
class Parameters:
    """The parameters of one estimator, checked. A single tree has the defaults of those that only
    forests have, a regressor those of classifiers."""

    projection: ProjectionLike
    n_components: NComponents
    max_features: MaxFeatures
    max_depth: int | None
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_leaf_nodes: int | None
    random_state: RandomState
    is_tree: bool
    is_mixed: bool  # a forest of oblique and other trees, however many of each
    splitter: str = "best"
    # None, in a forest of both kinds of trees: as is best for each kind.
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
    oblique: float = 0.0  # share of the trees
    ridge: float = 2.0
    ccp_alpha: float = 0.0
    criterion: str = "gini"  # of an estimator that has no such parameter, as of variances

    @classmethod
    def of(cls, estimator: HasParameters) -> "Parameters":
        """Raises for the first parameter that breaks its rule; what depends on the data is checked
        with them."""
        given = estimator.get_params(deep=False)
        if "oblique" in given:
            _check_not_auto(given)
            given = {name: value for name, value in given.items() if not is_by_kind(name, value)}
        check_parameters(given)
        _check_criterion(given.get("criterion", estimator._criteria[0]), estimator._criteria)
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in given.items() if name in known}
        if "splitter" not in given:  # a forest's is its kind
            values["splitter"] = estimator._splitter
        kinds = {"is_tree": "n_estimators" not in given, "is_mixed": "oblique" in given}
        return cls(**kinds, **values)  # type: ignore[arg-type]

    @property
    def leaves_projection_to_us(self) -> bool:
        """Whether nobody has asked for a projection."""
        is_default = isinstance(self.projection, str) and self.projection == DEFAULT_PROJECTION
        return is_default and self.n_components is None and not self.shared_projection

    @property
    def auto_names(self) -> list[str]:
        """Parameters whose values are chosen during the fit; `n_estimators` is so afterwards."""
        names = ("n_components", "max_features")
        return [name for name in names if getattr(self, name) == "auto"]


def regression_criterion(given: RegressionCriterion) -> RegressionCriterion:
    """With a warning for the name that scikit-learn gives up, as its constructors do."""
    if not (isinstance(given, str) and given == "friedman_mse"):
        return given
    warn(
        "criterion='friedman_mse' is deprecated, since scikit-learn 1.11 will not know it; it is "
        "another name of 'squared_error'. Use that.",
        FutureWarning,
    )
    return "squared_error"


def is_by_kind(name: str, value: object) -> bool:
    """Whether a forest of oblique and other trees lets each kind have what is best for it."""
    return name in ("min_samples_split", "min_samples_leaf") and value is None


def _check_not_auto(given: Mapping[str, object]) -> None:
    for name in ("n_estimators", "n_components", "max_features"):
        if isinstance(given[name], str) and given[name] == "auto":
            raise ValueError(
                f"{name} must not be 'auto' in a forest of oblique and other trees; got 'auto'. "
                "Leave it out for the default."
            )


def _check_criterion(given: object, known: tuple[str, ...]) -> None:
    if not (isinstance(given, str) and given in known):
        raise ValueError(
            f"criterion must be {', '.join(map(repr, known[:-1]))} or {known[-1]!r}; got {given!r}."
        )


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
_LARGEST = np.finfo(np.float64).max

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
    "min_impurity_decrease": Rule(
        "a number of at least 0", lambda v: _is_between(v, 0, float(_LARGEST))
    ),
    "ccp_alpha": Rule("a number of at least 0", lambda v: _is_between(v, 0, float(_LARGEST))),
    "monotonic_cst": Rule(
        "None, since constraints of monotonicity are not supported, as they are by "
        "scikit-learn's estimators",
        lambda v: v is None,
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
    "splitter": Rule("'best', 'random' or 'oblique'", lambda v: v in ("best", "random", "oblique")),
    "oblique": Rule("a number in [0, 1]", lambda v: _is_between(v, 0, 1)),
    "ridge": Rule("a number of at least 0", lambda v: _is_between(v, 0, float(_LARGEST))),
}


def check_parameters(params: Mapping[str, object]) -> None:
    """Raises for the first parameter that breaks its rule."""
    for name, value in params.items():
        rule = RULES.get(name)
        if rule is not None and not rule.holds(value):
            raise ValueError(f"{name} must be {rule.says}; got {value!r}.")


def check_k(k: object, most: int, what: str = "outputs") -> int:
    if not (is_int(k) and _is_between(k, 1, most)):
        raise ValueError(f"k must be an int from 1 to the number of {what}, {most}; got {k!r}.")
    return int(k)  # type: ignore[call-overload]


def n_features_drawn(max_features: MaxFeatures, n_features: int) -> int:
    """How many features are drawn at each split."""
    match max_features:
        case None:
            return n_features
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
    return min(int(max_features), n_features)


def n_rows_meant(number: int | float, n_rows: int) -> int:
    """A number of rows, given as such or as a fraction."""
    return math.ceil(number * n_rows) if isinstance(number, float | np.floating) else int(number)

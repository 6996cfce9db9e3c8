"""`tune`, the search as one function."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils import check_random_state

from sketchforest._estimators.constructors import RandomState
from sketchforest._estimators.fitting.preparation import Prepared, prepare
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.predicting.decisions import f1_kind
from sketchforest._selection.comparison import PROBE_SHARE, Comparison
from sketchforest._selection.out_of_bag import OutOfBagScorer, ScoreMetric
from sketchforest._selection.setting import Setting
from sketchforest._trees.problem import Problem
from sketchforest._utils.progress import stage, watched
from sketchforest._utils.typing import MatrixLike, WeightsLike
from sketchforest.extra_trees import ExtraTreesClassifier
from sketchforest.forest import RandomForestClassifier
from sketchforest.metrics import Metric
from sketchforest.sketch_forest import SketchForestClassifier
from sketchforest.tuning import budget as _budget
from sketchforest.tuning.budget import Budget
from sketchforest.tuning.result import TuningResult, make_trials
from sketchforest.tuning.space import GivenValues, Space
from sketchforest.tuning.tuner import Tuner, no_report

_KINDS: dict[str, Callable[[], ForestMixin]] = {
    "sketch_forest": SketchForestClassifier,
    "random_forest": RandomForestClassifier,
    "extra_trees": ExtraTreesClassifier,
}


def tune(
    X: MatrixLike,
    Y: MatrixLike,
    metric: str | Metric = "lrap",
    budget: float | str | None = None,
    estimators: Sequence[str | ForestMixin] = ("sketch_forest", "random_forest", "extra_trees"),
    n_estimators: int = 100,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    *,
    space: GivenValues | None = None,
    sample_weight: WeightsLike = None,
) -> TuningResult:
    """Search for the best forest and its projection, m, k, leaf size and more, and fit it.

    Settings are compared by their out-of-bag scores on the same rows, extrapolated to
    `n_estimators` trees. Fitting the winner again with its own parameters gives the same model, bit
    by bit. Ctrl-C returns the best forest so far.

    Parameters
    ----------
    X, Y : as for `fit`
    metric : str or callable, default="lrap"
        The name of a metric of `sketchforest.metrics`, "squared_error", or f(Y_true, Y_score) whose
        larger values are better. Both arguments are dense for up to 128 labels, and CSR for more.
    budget : float, str or None, default=None
        A number of seconds, or a number of trees such as "2000 trees", which gives the same result
        for any `n_jobs`. None is about the cost of ten default fits.
    estimators : sequence of str or estimators
        "sketch_forest", "random_forest", "extra_trees", or forests of this library, which keep
        their other parameters. The search starts from the first one.
    n_estimators : int, default=100
        Number of trees of the winner.
    random_state, n_jobs, verbose : as for the forests
    space : dict, optional
        Lists of values to choose from instead of the defaults, for "projection", "n_components",
        "max_features", "min_samples_leaf" and, in a sketch forest, "oblique", "ridge" and
        "min_samples_split".
    sample_weight : (n_samples,) array, optional

    Returns
    -------
    TuningResult

    Examples
    --------
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.tuning import tune
    >>> data = make_multilabel(300, 40, 60, labels_per_row=4, features_per_row=8)
    >>> result = tune(data.X, data.Y, budget="400 trees", n_estimators=50, random_state=0)
    >>> result.forest.n_estimators_, len(result.trials) > 3
    (50, True)
    """
    started = _budget.clock()
    limit = Budget(budget, started)
    score_metric = ScoreMetric.of(metric)
    templates = _make_templates(estimators, score_metric, n_estimators, random_state, n_jobs)
    probing = [name for name, template in templates.items() if _leave_rows_out(template)]
    prepared: dict[str, Prepared] = {}
    encoding_seconds = 0.0
    for name, template in templates.items():
        prepared[name] = prepare(template, X, Y, sample_weight)
        encoding_seconds = encoding_seconds or _budget.clock() - started
    first = next(iter(prepared.values())).problem
    scorer = OutOfBagScorer(first, score_metric, first.settings.seed)
    comparison = Comparison(scorer, first, int(n_estimators), n_jobs)
    mixed = [name for name, template in templates.items() if Parameters.of(template).is_mixed]
    space_ = Space(templates, first.X.shape[1], first.labels.shape[1], space, mixed=mixed)

    def problem_of(setting: Setting) -> Problem:
        params = Parameters.of(_forest_of(templates, setting))
        return prepared[setting.estimator].with_parameters(params).problem

    with _progress(verbose) as report:
        tuner = Tuner(comparison, problem_of, encoding_seconds, space_, limit, report, probing)
        winner = tuner.run()
    assert winner.setting is not None
    forest = _forest_of(templates, winner.setting).set_params(n_estimators=winner.n_trees)
    of_forest = replace(prepared[winner.setting.estimator], params=Parameters.of(forest))
    forest._commit(of_forest, winner.settings, winner.trees)
    return TuningResult(
        forest=forest,
        trials=make_trials(comparison, winner, score_metric.sign),
        metric=metric if isinstance(metric, str) else getattr(metric, "__name__", "score"),
        greater_is_better=score_metric.sign > 0,
        n_estimators=comparison.n_target,
        seconds=_budget.clock() - started,
        n_trees_grown=limit.n_trees_spent,
        is_complete=tuner.is_complete,
    )


def _make_templates(
    estimators: Sequence[str | ForestMixin],
    score_metric: ScoreMetric,
    n_estimators: int,
    random_state: RandomState,
    n_jobs: int | None,
) -> dict[str, ForestMixin]:
    """Estimators by name, all with the same seed, so that tree i of each sees the same rows."""
    if isinstance(estimators, str) or not len(estimators):
        raise ValueError(f"estimators must be a list of names or forests; got {estimators!r}.")
    if not isinstance(n_estimators, int | np.integer):
        raise ValueError(
            f"n_estimators must be an int in tune; got {n_estimators!r}. Use 100, for example."
        )
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    templates = {}
    for given in estimators:
        name, template = _named(given)
        metric = score_metric.metric
        if is_regressor(template) and isinstance(metric, str) and metric != "squared_error":
            raise ValueError(
                f"metric must be 'squared_error' or a callable for regressors; got {metric!r}."
            )
        template.set_params(
            n_estimators=n_estimators, random_state=seed, n_jobs=n_jobs, warm_start=False
        )
        if name in templates:
            raise ValueError(f"estimators must be of different classes; got {name!r} twice.")
        templates[name] = template
    return templates


def _leave_rows_out(template: ForestMixin) -> bool:
    """Make trees that would see all rows leave some out, so that they can be scored.

    docs/tuning.md says why by subsampling. Returns whether this is only for the comparison.
    """
    if template.bootstrap or template.max_samples is not None:
        return False
    template.set_params(max_samples=PROBE_SHARE)
    is_scored = template.oob_score or f1_kind(getattr(template, "threshold", None))
    # A mixed forest leaves rows out by itself if it is scored.
    return not is_scored or Parameters.of(template).is_mixed


def _named(given: str | ForestMixin) -> tuple[str, ForestMixin]:
    if isinstance(given, str) and given in _KINDS:
        return given, _KINDS[given]()
    if isinstance(given, ForestMixin):
        return type(given).__name__, clone(given).set_params(n_components=None, max_features="sqrt")
    raise ValueError(
        f"estimators must be among {', '.join(map(repr, _KINDS))}, or forests of this library; "
        f"got {given!r}."
    )


def _forest_of(templates: Mapping[str, ForestMixin], setting: Setting) -> ForestMixin:
    forest: ForestMixin = clone(templates[setting.estimator]).set_params(**setting.params())
    return forest


@contextmanager
def _progress(verbose: int) -> Iterator[Callable[[float, float, str], None]]:
    if not verbose:
        yield no_report
        return
    with watched(), stage("tuning") as shown:
        yield lambda spent, limit, leader: shown.update(spent, limit, f"tuning, {leader}")

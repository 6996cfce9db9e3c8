"""Cross-validation of any estimator on many labels, dense or sparse."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.fitting.targets import check_no_tag_lists
from sketchforest._features.tags import tag_targets
from sketchforest._utils.display import aligned, html_table
from sketchforest._utils.sparse import checked_if_sparse, indicator_matrix, one_hot
from sketchforest._utils.tables import Table, described_methods, latex_table
from sketchforest._utils.typing import Matrix, MatrixLike
from sketchforest._utils.warning import warn
from sketchforest.metrics import get_metric, psp_at_k
from sketchforest.metrics._validation import indicator
from sketchforest.metrics.labels import column_counts, f1_scores
from sketchforest.metrics.meanings import Metric, meaning
from sketchforest.metrics.scorers import label_scores

Splits: TypeAlias = Iterable[tuple[np.ndarray, np.ndarray]]
DEPTHS = (1, 3, 5)
RANKING = (
    "lrap",
    *(f"{name}_at_{k}" for name in ("precision", "ndcg", "psp") for k in DEPTHS),
    *("coverage_error", "label_ranking_loss"),
)
DECISIONS = ("micro_f1", "macro_f1")
_TIMES = ("fit_seconds", "predict_seconds")


@described_methods
@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Table):
    """Scores of an estimator on the test rows of several splits.

    Attributes
    ----------
    scores : dict of (n_splits,) arrays
        By metric; `fit_seconds` and `predict_seconds` are among them.

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier, evaluate
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 20, labels_per_row=3, features_per_row=8)
    >>> found = evaluate(RandomForestClassifier(10, random_state=0), data.X, data.Y, cv=3)
    >>> found.scores["lrap"].shape
    (3,)
    >>> bool(found.mean["lrap"] > 0.3)
    True
    """

    scores: Mapping[str, np.ndarray]

    @property
    def mean(self) -> dict[str, float]:
        """Mean of each score over the splits."""
        return {name: float(np.mean(values)) for name, values in self.scores.items()}

    @property
    def std(self) -> dict[str, float]:
        """Standard deviation of each score over the splits; NaN for a single split."""
        return {
            name: float(np.std(values, ddof=1)) if len(values) > 1 else np.nan
            for name, values in self.scores.items()
        }

    def _columns(self) -> dict[str, Any]:
        """One row per score: its name, mean, std and the value of each split."""
        columns: dict[str, Any] = {"score": list(self.scores)}
        columns |= {"mean": list(self.mean.values()), "std": list(self.std.values())}
        splits = np.array(list(self.scores.values())).T
        return columns | {f"split {n}": each for n, each in enumerate(splits, 1)}

    def to_latex(self, caption: str | None = None) -> str:
        r"""The means and standard deviations as a LaTeX table, for the package booktabs."""
        return latex_table(["score", "mean", "std"], self._lines(), caption)

    def __repr__(self) -> str:
        n_splits = len(next(iter(self.scores.values())))
        rows = [["", "mean", "± sd", ""]]
        rows += [
            [*line, meaning(name).says]
            for name, line in zip(self.scores, self._lines(), strict=True)
        ]
        return f"Scores on {n_splits} splits:\n{aligned(rows, right=(1, 2))}"

    def _repr_html_(self) -> str:
        n_splits = len(next(iter(self.scores.values())))
        splits = [f"split {n}" for n in range(1, n_splits + 1)]
        rows = [
            [*line, *(f"{value:.4f}" for value in self.scores[name])]
            for name, line in zip(self.scores, self._lines(), strict=True)
        ]
        return html_table(["score", "mean", "± sd", *splits], rows)

    def _lines(self) -> list[list[str]]:
        return [
            [meaning(name).title, f"{self.mean[name]:.4f}", f"{self.std[name]:.4f}"]
            for name in self.scores
        ]


def evaluate(
    estimator: BaseEstimator,
    X: MatrixLike,
    Y: MatrixLike,
    *,
    cv: int | Any | Splits | None = None,
    metrics: Sequence[str] | Mapping[str, Metric] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> CrossValidation:
    """Cross-validate an estimator on many labels, dense or sparse.

    scikit-learn's `cross_validate` rejects sparse Y. This accepts any estimator that has
    `predict_proba` or `decision_function`, and takes Y as the estimator does. Propensities of PSP@k
    come from the training rows of each split. To evaluate a fitted model on test rows, use
    `sketchforest.evaluation.evaluate`.

    Parameters
    ----------
    estimator : estimator
        Each split fits a clone of it.
    X : (n_samples, n_features) array, scipy sparse matrix, data frame, or texts for a pipeline
    Y : (n_samples, n_labels) indicators, dense or sparse, or (n_samples,) classes
        For a `Tagger`, tags in any form that its `fit` takes.
    cv : int, splitter of scikit-learn, or iterable of (train, test) row numbers, default=None
        An int is a number of shuffled folds. None means 5.
    metrics : sequence of str or dict of callables, optional
        Names such as "lrap", "precision_at_5", "psp_at_3" and "macro_f1", or functions
        (Y_true, Y_score) -> float by name. By default, all ranking metrics, F1, and
        log loss if the estimator has `predict_proba`.
    n_jobs : int or None, default=None
        Number of splits to fit at a time, in processes. Forests use threads of their own.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier, evaluate
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 20, labels_per_row=3, features_per_row=8)  # sparse Y
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> found = evaluate(forest, data.X, data.Y, cv=3, metrics=["lrap", "macro_f1"], random_state=0)
    >>> list(found.scores)
    ['lrap', 'macro_f1', 'fit_seconds', 'predict_seconds']
    """
    X, Y = checked_if_sparse("X", X), checked_if_sparse("Y", Y)
    n_rows = Y.shape[0] if hasattr(Y, "shape") else len(Y)
    if cv is None:
        _warn_if_fitted(estimator)
        cv = 5
    if isinstance(cv, int) and not isinstance(cv, bool):
        cv = KFold(cv, shuffle=True, random_state=random_state)
    splits = list(check_cv(cv).split(np.zeros(n_rows)))
    truth = _Truth.of(Y, estimator)
    chosen = _chosen(metrics, truth.indicators.shape[1], hasattr(estimator, "predict_proba"))
    work = delayed(_score_split)
    found = Parallel(n_jobs=n_jobs)(
        work(clone(estimator), X, Y, truth, chosen, train, test) for train, test in splits
    )
    names = [*chosen, *_TIMES]
    return CrossValidation({name: np.array([each[name] for each in found]) for name in names})


def _warn_if_fitted(estimator: BaseEstimator) -> None:
    """Tell users who want scores of a fitted estimator that it is fitted anew."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return
    warn(
        "The estimator is already fitted; evaluate refits clones of it on parts of these rows. To "
        "score it as it is, use sketchforest.evaluation.evaluate or Tagger.evaluate; to keep "
        "cross-validation, pass cv=5."
    )


@dataclass(frozen=True)
class _Truth:
    """All labels as indicators; classes are encoded one-hot."""

    indicators: sparse.csr_array
    classes: np.ndarray | None = None
    tags: Sequence[str] | None = None  # the names of the columns, for a Tagger

    @classmethod
    def of(cls, Y: MatrixLike, estimator: BaseEstimator) -> "_Truth":
        if hasattr(estimator, "indicators"):
            indicators, names = tag_targets(Y, getattr(estimator, "tag_separator", None))
            tags = list(map(str, range(indicators.shape[1]))) if names is None else names.tolist()
            return cls(indicators.astype(bool), tags=tags)
        check_no_tag_lists(Y)
        given: Any = Y if sparse.issparse(Y) else np.asarray(Y)
        if given.ndim == 2:
            return cls(indicator(given, "Y"))
        classes, columns = np.unique(given, return_inverse=True)
        return cls(one_hot(columns, len(classes)), classes)

    def scores(self, estimator: Any, scores: Matrix) -> Matrix:
        """(n_rows, n_labels): a column for each label, though training rows may lack some."""
        if self.tags is not None:
            return scores @ self._columns(estimator, self.tags)
        if self.classes is None:
            return scores
        if scores.ndim == 1:  # decision_function of two classes
            scores = np.column_stack([-scores, scores])
        columns = np.searchsorted(self.classes, estimator.classes_)
        found = np.full((scores.shape[0], len(self.classes)), np.min(scores), float)
        found[:, columns] = scores if isinstance(scores, np.ndarray) else scores.toarray()
        return found

    def decisions(self, estimator: Any, predicted: Any) -> sparse.csr_array:
        if self.tags is not None:
            found = estimator.indicators(predicted) @ self._columns(estimator, self.tags)
            return sparse.csr_array(found).astype(bool)
        if self.classes is None:
            return sparse.csr_array(predicted).astype(bool)
        return one_hot(np.searchsorted(self.classes, predicted), len(self.classes))

    def _columns(self, tagger: Any, tags: Sequence[str]) -> sparse.csr_array:
        """Return an (n_known, n_labels) matrix from the tags of a fitted tagger to all tags."""
        return indicator_matrix(tagger.label_names_.tolist(), tags)


def _chosen(
    metrics: Sequence[str] | Mapping[str, Metric] | None, n_labels: int, has_probabilities: bool
) -> dict[str, Metric | None]:
    """Metrics by name; None for those that need more than the truth and the scores."""
    if isinstance(metrics, Mapping):
        return dict(metrics)
    names = [*RANKING, *DECISIONS] if metrics is None else list(metrics)
    if metrics is None:
        names = [name for name in names if _depth(name) <= n_labels]
        names += ["log_loss"] if has_probabilities else []
    return {
        name: None if name in DECISIONS or name.startswith("psp_at_") else get_metric(name)
        for name in names
    }


def _depth(name: str) -> int:
    return int(name.rpartition("_at_")[2]) if "_at_" in name else 0


def _score_split(
    estimator: Any,
    X: Matrix,
    Y: MatrixLike,
    truth: _Truth,
    metrics: Mapping[str, Callable[..., float] | None],
    train: np.ndarray,
    test: np.ndarray,
) -> dict[str, float]:
    started = time.perf_counter()
    estimator.fit(_safe_indexing(X, train), _safe_indexing(Y, train))
    fitted = time.perf_counter()
    X_test = _safe_indexing(X, test)
    scores = truth.scores(estimator, label_scores(estimator, X_test))
    predicted = time.perf_counter()
    Y_test = truth.indicators[test]
    found = {"fit_seconds": fitted - started, "predict_seconds": predicted - fitted}
    if set(DECISIONS) & set(metrics):
        decided = truth.decisions(estimator, estimator.predict(X_test))
        counts = [column_counts(each) for each in (Y_test, decided, Y_test.multiply(decided))]
        found |= f1_scores(*counts)
    for name, metric in metrics.items():
        if metric is not None:
            found[name] = float(metric(Y_test, scores))
        elif name not in DECISIONS:
            Y_train = truth.indicators[train]
            found[name] = psp_at_k(Y_test, scores, k=_depth(name), Y_train=Y_train)
    return found

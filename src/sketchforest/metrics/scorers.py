"""Scorers: metrics of an estimator on rows, in the form that scikit-learn's searches take."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._utils.typing import Matrix, MatrixLike
from sketchforest.metrics._shared_docs import described
from sketchforest.metrics.names import get_metric, greater_is_better
from sketchforest.metrics.ranking import psp_at_k


def label_scores(estimator: Any, X: MatrixLike) -> Matrix:
    """The scores of an estimator for each label: sparse from our forests, otherwise dense."""
    if hasattr(estimator, "predict_sparse"):
        sparse_scores: Matrix = estimator.predict_sparse(X)
        return sparse_scores
    method = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    if not hasattr(estimator, method):
        raise TypeError(
            "estimator must have predict_proba or decision_function to rank labels; got a "
            f"{type(estimator).__name__}. Use CalibratedClassifierCV, or a metric of predictions."
        )
    found = getattr(estimator, method)(X)
    if isinstance(found, list):  # scikit-learn's forests: (n_rows, 2) for each label
        return np.column_stack(
            [_of_present(p, each) for p, each in zip(found, estimator.classes_, strict=True)]
        )
    return found if sparse.issparse(found) else np.asarray(found)


def true_labels(estimator: Any, Y: MatrixLike) -> MatrixLike:
    """Y with a column for each score; the tags that a Tagger was given become indicators."""
    encode = getattr(estimator, "indicators", None)
    return Y if encode is None else encode(Y)


def _of_present(probabilities: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The probability of class 1, which training rows may lack."""
    place = np.flatnonzero(np.asarray(classes) == 1)
    return probabilities[:, place[0]] if len(place) else np.zeros(len(probabilities))


@dataclass(frozen=True)
class RankingScorer:
    """A callable (estimator, X, Y) -> float; higher is better, so errors are negative.

    Works in `GridSearchCV` with dense or sparse Y, or with the tags of a `Tagger`, and with any
    estimator that has `predict_proba` or `decision_function`.

    Parameters
    ----------
    metric : str
        Name of a ranking metric, such as "lrap" or "ndcg_at_3"; see `get_metric`.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.metrics import RankingScorer
    >>> data = make_multilabel(300, 60, 20, labels_per_row=3, features_per_row=12, n_topics=6)
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> grid = {"min_samples_leaf": [1, 60]}
    >>> search = GridSearchCV(forest, grid, scoring=RankingScorer("ndcg_at_3"), cv=3)
    >>> search.fit(data.X, data.Y).best_params_
    {'min_samples_leaf': 1}
    """

    metric: str

    def __post_init__(self) -> None:
        get_metric(self.metric)  # raises for an unknown name

    def __call__(self, estimator: Any, X: MatrixLike, Y: MatrixLike) -> float:
        sign = 1.0 if greater_is_better(self.metric) else -1.0
        Y = true_labels(estimator, Y)
        return sign * get_metric(self.metric)(Y, label_scores(estimator, X))


@dataclass(frozen=True)
class PropensityScorer:
    """A callable (estimator, X, Y) -> PSP@k, as `psp_at_k_scorer` returns it.

    Examples
    --------
    >>> from sketchforest.metrics import PropensityScorer, psp_at_k_scorer
    >>> isinstance(psp_at_k_scorer([[0, 1], [1, 0], [1, 1]], k=1), PropensityScorer)
    True
    """

    Y_train: MatrixLike = field(repr=False)
    k: int = 5

    def __call__(self, estimator: Any, X: MatrixLike, Y: MatrixLike) -> float:
        Y, Y_train = (true_labels(estimator, each) for each in (Y, self.Y_train))
        return psp_at_k(Y, label_scores(estimator, X), k=self.k, Y_train=Y_train)


lrap_scorer = RankingScorer("lrap")
coverage_error_scorer = RankingScorer("coverage_error")
label_ranking_loss_scorer = RankingScorer("label_ranking_loss")


@described
def precision_at_k_scorer(k: int = 5) -> RankingScorer:
    """A scorer of `precision_at_k`.

    Examples
    --------
    >>> from sketchforest.metrics import precision_at_k_scorer
    >>> precision_at_k_scorer(3)
    RankingScorer(metric='precision_at_3')
    """
    return RankingScorer(f"precision_at_{k}")


@described
def ndcg_at_k_scorer(k: int = 5) -> RankingScorer:
    """A scorer of `ndcg_at_k`.

    Examples
    --------
    >>> from sketchforest.metrics import ndcg_at_k_scorer
    >>> ndcg_at_k_scorer(3)
    RankingScorer(metric='ndcg_at_3')
    """
    return RankingScorer(f"ndcg_at_{k}")


@described
def psp_at_k_scorer(Y_train: MatrixLike, k: int = 5) -> PropensityScorer:
    """A scorer of `psp_at_k`.

    Parameters
    ----------
    Y_train : (n_samples, n_labels) array or sparse matrix, or tags of a `Tagger`
        The labels that propensities are estimated from, such as all of Y.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.metrics import psp_at_k_scorer
    >>> data = make_multilabel(300, 60, 20, labels_per_row=3, features_per_row=12, n_topics=6)
    >>> grid = {"min_samples_leaf": [1, 60]}
    >>> scorer = psp_at_k_scorer(data.Y, k=3)
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> search = GridSearchCV(forest, grid, scoring=scorer, cv=3).fit(data.X, data.Y)
    >>> search.best_params_
    {'min_samples_leaf': 1}
    """
    if np.isscalar(Y_train):
        raise TypeError(
            f"Y_train must hold the labels of training rows; got {Y_train!r}. Use "
            "psp_at_k_scorer(Y, k=5)."
        )
    return PropensityScorer(Y_train, k)

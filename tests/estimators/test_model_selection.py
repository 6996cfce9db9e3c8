"""Searches and cross-validation of scikit-learn."""

import joblib
import numpy as np
import pytest
from scikit_learn_kinds import CLASSIFIERS, ESTIMATORS, small, targets_for
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sketchforest import RandomForestClassifier
from sketchforest.metrics import lrap

LRAP = make_scorer(lrap, response_method="predict_proba")


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_a_search_by_lrap_gives_the_same_for_dense_and_sparse_labels(kind, layout, labelled):
    X, Y = labelled
    grid = {"max_depth": [1, None], "n_components": [2, "log"]}
    search = GridSearchCV(small(kind), grid, scoring=LRAP, cv=3).fit(X, layout(Y))
    by_hand = [
        cross_val_score(small(kind, **point), X, Y, scoring=LRAP, cv=3).mean()
        for point in search.cv_results_["params"]
    ]
    assert np.allclose(search.cv_results_["mean_test_score"], by_hand)
    assert len(set(by_hand)) > 1
    assert search.best_score_ == max(by_hand)
    assert sparse.issparse(search.predict(X)) == sparse.issparse(layout(Y))


def test_a_random_search_over_projections_runs_in_a_pipeline(labelled):
    X, Y = labelled
    pipeline = make_pipeline(StandardScaler(), small(RandomForestClassifier))
    choices = {
        "randomforestclassifier__projection": ["gaussian", "rademacher", "subsample", None],
        "randomforestclassifier__n_components": [1, 5, "sqrt"],
    }
    search = RandomizedSearchCV(
        pipeline, choices, n_iter=5, scoring=LRAP, cv=2, random_state=0, error_score="raise"
    ).fit(X, sparse.csr_array(Y))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert lrap(Y, search.predict_proba(X)) > search.best_score_


def test_a_search_runs_in_parallel_around_parallel_forests(labelled):
    X, Y = labelled
    grid, scores = {"n_components": [2, 8]}, []
    for n_jobs in (None, 2):
        search = GridSearchCV(
            small(RandomForestClassifier, n_jobs=n_jobs), grid, scoring=LRAP, cv=2, n_jobs=n_jobs
        )
        with joblib.parallel_config("threading"):
            scores.append(search.fit(X, Y).cv_results_["mean_test_score"])
    assert np.array_equal(*scores)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_default_scores_are_accuracy_and_r2(kind, labelled):
    X, Y = labelled[0], targets_for(kind, labelled)
    estimator = small(kind, max_depth=5).fit(X, Y)
    expected = (
        (estimator.predict(X) == Y).all(axis=1).mean()
        if is_classifier(estimator)
        else r2_score(Y, estimator.predict(X))
    )
    assert estimator.score(X, Y) == pytest.approx(expected)
    assert len(cross_val_score(small(kind), X, Y, cv=3, error_score="raise")) == 3


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_cross_val_predict_gives_probabilities_of_rows_left_out(kind, labelled, classes):
    X, Y = labelled
    P = cross_val_predict(small(kind), X, Y, cv=3, method="predict_proba")
    assert P.shape == Y.shape
    assert np.array_equal(
        P[40:80],
        small(kind).fit(X[np.r_[:40, 80:120]], Y[np.r_[:40, 80:120]]).predict_proba(X[40:80]),
    )
    P = cross_val_predict(small(kind), X, classes, cv=3, method="predict_proba")
    assert np.allclose(P.sum(axis=1), 1)
    assert (cross_val_predict(small(kind), X, classes, cv=3) == classes).mean() > 0.5


def test_cross_validate_takes_scikit_learns_scorers_by_name(labelled, classes):
    X, Y = labelled
    frequent = Y[:, Y.mean(axis=0) > 0.15]
    scores = cross_validate(
        small(RandomForestClassifier), X, frequent, cv=2, scoring=["f1_micro", "roc_auc"]
    )
    assert np.isfinite(scores["test_f1_micro"]).all()
    assert np.isfinite(scores["test_roc_auc"]).all()
    scores = cross_validate(
        small(RandomForestClassifier), X, classes, cv=2, scoring=["neg_log_loss", "roc_auc_ovr"]
    )
    assert np.isfinite(scores["test_roc_auc_ovr"]).all()
    binary = cross_val_score(
        small(RandomForestClassifier), X, classes == "top", cv=2, scoring="average_precision"
    )
    assert np.isfinite(binary).all()

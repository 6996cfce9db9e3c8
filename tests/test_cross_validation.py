"""`sketchforest.evaluate` and the scorers: any estimator, dense and sparse labels."""

import csv
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier as ScikitLearnForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, label_ranking_average_precision_score
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sketchforest import RandomForestClassifier, evaluate
from sketchforest.datasets import make_multilabel
from sketchforest.metrics import (
    RankingScorer,
    coverage_error,
    coverage_error_scorer,
    lrap,
    lrap_scorer,
    ndcg_at_k_scorer,
    precision_at_k,
    precision_at_k_scorer,
    psp_at_k,
    psp_at_k_scorer,
)

DATA = make_multilabel(160, 25, 12, labels_per_row=2, features_per_row=8, random_state=0)
X, Y = DATA.X, DATA.Y
FOREST = RandomForestClassifier(8, random_state=0)
FOLDS = KFold(3, shuffle=True, random_state=0)


def test_scores_are_those_of_a_loop_over_the_folds():
    found = evaluate(FOREST, X, Y, cv=FOLDS)
    for number, (train, test) in enumerate(FOLDS.split(X)):
        forest = RandomForestClassifier(8, random_state=0).fit(X[train], Y[train])
        scores, truth = forest.predict_proba(X[test]), Y[test].toarray()
        expected = {
            "lrap": lrap(truth, scores),
            "precision_at_3": precision_at_k(truth, scores, 3),
            "psp_at_5": psp_at_k(truth, scores, k=5, Y_train=Y[train]),
            "coverage_error": coverage_error(truth, scores),
            "micro_f1": f1_score(truth, forest.predict(X[test]).toarray(), average="micro"),
        }
        assert {name: found.scores[name][number] for name in expected} == pytest.approx(expected)
    values = found.scores["lrap"]
    assert found.mean["lrap"] == pytest.approx(values.mean())
    assert found.std["lrap"] == pytest.approx(values.std(ddof=1))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_dense_and_sparse_labels_have_the_same_scores(n_jobs):
    expected = evaluate(FOREST, X, Y, cv=3, random_state=5).scores
    found = evaluate(FOREST, X.toarray(), Y.toarray(), cv=3, random_state=5, n_jobs=n_jobs).scores
    for name in expected:
        if "seconds" not in name:
            assert found[name] == pytest.approx(expected[name]), name


@pytest.mark.parametrize(
    ("estimator", "labels"),
    [
        (OneVsRestClassifier(LogisticRegression()), Y),
        (OneVsRestClassifier(LinearSVC()), Y),
        (ScikitLearnForest(5, random_state=0), Y.toarray()),
        (make_pipeline(StandardScaler(with_mean=False), FOREST), Y),
    ],
    ids=["one vs rest", "decision function", "scikit-learn's forest", "pipeline"],
)
def test_estimators_of_other_libraries_are_evaluated(estimator, labels):
    found = evaluate(estimator, X, labels, cv=3, random_state=0)
    assert 0.2 < found.mean["lrap"] < 1
    assert 0 < found.mean["micro_f1"] < 1


def test_classes_are_ranked_like_labels():
    y = np.array(list("abc"))[np.arange(160) % 3]
    y[:2] = "d"  # a class that a fold may lack
    found = evaluate(FOREST, X, y, cv=FOLDS)
    expected = cross_validate(FOREST, X, y, cv=FOLDS, scoring="accuracy")["test_score"]
    assert found.scores["micro_f1"] == pytest.approx(expected)
    assert found.scores["precision_at_1"] == pytest.approx(expected)


def test_metrics_are_chosen_by_name_or_function():
    found = evaluate(FOREST, X, Y, cv=FOLDS, metrics=["ndcg_at_3", "psp_at_3"])
    assert list(found.scores) == ["ndcg_at_3", "psp_at_3", "fit_seconds", "predict_seconds"]
    mine = evaluate(FOREST, X, Y, cv=FOLDS, metrics={"mine": lambda truth, scores: truth.nnz})
    assert mine.scores["mine"].sum() == Y.nnz
    with pytest.raises(ValueError, match=r"metric must be a callable or one of .*; got 'accuracy'"):
        evaluate(FOREST, X, Y, metrics=["accuracy"])


def test_a_result_is_shown_and_exported(tmp_path):
    found = evaluate(FOREST, X, Y, cv=FOLDS)
    assert max(map(len, repr(found).splitlines())) <= 80
    assert "LRAP" in repr(found)
    assert "split 3" in found._repr_html_()
    frame = found.to_frame().set_index("score")
    assert frame.loc["lrap", ["split 1", "split 2", "split 3"]].tolist() == pytest.approx(
        found.scores["lrap"].tolist()
    )
    found.to_csv(tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open() as file:
        rows = {row["score"]: row for row in csv.DictReader(file)}
    assert float(rows["lrap"]["mean"]) == pytest.approx(found.mean["lrap"])
    latex = found.to_latex("Scores of 100% & more")
    assert rf"LRAP & {found.mean['lrap']:.4f} & {found.std['lrap']:.4f} \\" in latex
    assert r"\caption{Scores of 100\% \& more}" in latex


def test_a_fitted_estimator_is_fitted_anew_with_a_warning_unless_that_was_asked_for():
    fitted = clone(FOREST).fit(X, Y)
    with pytest.warns(UserWarning, match=r"use sketchforest\.evaluation\.evaluate"):
        found = evaluate(fitted, X, Y, metrics=["lrap"], random_state=0)
    asked_for = evaluate(fitted, X, Y, cv=5, metrics=["lrap"], random_state=0)
    assert asked_for.mean["lrap"] == found.mean["lrap"]


# ---- scorers


def test_the_labels_of_training_rows_are_no_number():
    with pytest.raises(TypeError, match=r"Use psp_at_k_scorer\(Y, k=5\)"):
        psp_at_k_scorer(5)


@pytest.mark.parametrize("labels", [Y, Y.toarray()], ids=["sparse", "dense"])
@pytest.mark.parametrize(
    "scorer",
    [lrap_scorer, precision_at_k_scorer(3), ndcg_at_k_scorer(3), psp_at_k_scorer(Y, k=3)],
    ids=["lrap", "precision", "ndcg", "psp"],
)
def test_a_scorer_works_in_a_search(scorer, labels):
    grid = {"max_depth": [1, None]}
    search = GridSearchCV(FOREST, grid, scoring=pickle.loads(pickle.dumps(scorer)), cv=FOLDS)
    search.fit(X, labels)
    direct = [
        scorer(RandomForestClassifier(8, random_state=0).fit(X[train], Y[train]), X[test], Y[test])
        for train, test in FOLDS.split(X)
    ]
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(direct))
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_scorers_work_in_cross_validate():
    scoring = {"lrap": lrap_scorer, "coverage": coverage_error_scorer}
    dense = Y.toarray()
    found = cross_validate(FOREST, X, dense, cv=FOLDS, scoring=scoring)
    expected = evaluate(FOREST, X, Y, cv=FOLDS).scores
    assert found["test_lrap"] == pytest.approx(expected["lrap"])
    assert -found["test_coverage"] == pytest.approx(expected["coverage_error"])
    theirs = ScikitLearnForest(5, random_state=0).fit(X, dense)
    scores = np.column_stack([p[:, 1] for p in theirs.predict_proba(X)])
    has_labels = dense.any(axis=1)
    assert lrap_scorer(theirs, X, dense) == pytest.approx(
        label_ranking_average_precision_score(dense[has_labels], scores[has_labels])
    )


def test_labels_that_a_fold_lacks_score_zero():
    dense = Y.toarray().copy()
    dense[:, 3] = 0
    forest = ScikitLearnForest(5, random_state=0).fit(X, dense)
    assert 0 < lrap_scorer(forest, X, dense) <= 1


def test_scorers_refuse_unknown_metrics_and_estimators_without_scores():
    with pytest.raises(ValueError, match="metric must be a callable or one of"):
        RankingScorer("accuracy")
    with pytest.raises(TypeError, match="estimator must have predict_proba or decision_function"):
        lrap_scorer(StandardScaler().fit(X.toarray()), X, sparse.csr_array(Y))

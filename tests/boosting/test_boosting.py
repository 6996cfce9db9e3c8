"""The boosting estimators: the algorithm of the definition, and what goes with a fitted model."""

import pickle

import numpy as np
import pytest
import reference_boosting
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import SketchBoostingClassifier, SketchBoostingRegressor, load_forest
from sketchforest._boosting.binning import bin_features
from sketchforest.datasets import make_multilabel

KINDS = (SketchBoostingClassifier, SketchBoostingRegressor)


def numbers(n=200, n_outputs=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, size=(n, 5)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    known = np.nan_to_num(X, nan=3)
    Y = np.sin(known @ rng.normal(size=(5, n_outputs)) / 5) + 0.1 * rng.normal(size=(n, n_outputs))
    return X, Y * np.logspace(-2, 2, n_outputs)


def labels(n=200, n_labels=9, seed=0):
    X, Y = numbers(n, n_labels, seed)
    return X, (Y > 0).astype(int)


def classes(n=200, n_classes=4):
    X, Y = numbers(n, n_classes)
    return X, np.array(list("abcdefgh"))[:n_classes][np.argmax(Y / Y.std(axis=0), axis=1)]


def small(kind, **params):
    defaults = {"max_iter": 8, "min_samples_leaf": 5, "random_state": 0}
    return kind(**defaults | params)


def data_of(kind):
    return labels() if kind is SketchBoostingClassifier else numbers()


def predicted(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


# ---- the algorithm


def codes_and_sizes(X):
    binned = bin_features(X, 1)
    return binned.X.columns.T.astype(int), np.diff(binned.bin_start) - 1


SETTING = {"max_leaf_nodes": 5, "learning_rate": 0.3}


def definition(X, Y, loss, start, groups=None):
    codes, n_known = codes_and_sizes(X)
    limits = {"max_leaf_nodes": 5, "min_rows": 5, "learning_rate": 0.3, "groups": groups}
    return reference_boosting.boost(
        codes, n_known, Y, loss, start, 8, lambda number: None, **limits
    )


def test_regression_is_the_algorithm_of_the_definition():
    X, Y = numbers()
    mean, spread = Y.mean(axis=0), Y.std(axis=0)
    expected = definition(X, (Y - mean) / spread, "squared_error", np.zeros(9))
    alike = {"projection": None, "l2_regularization": 1, "subsample": 1.0}
    model = small(SketchBoostingRegressor, **alike, **SETTING).fit(X, Y)
    np.testing.assert_allclose((model.predict(X) - mean) / spread, expected, atol=1e-4)


def test_many_labels_are_the_algorithm_of_the_definition():
    X, Y = labels()
    p = Y.mean(axis=0)
    expected = definition(X, Y, "cross_entropy", np.log(p / (1 - p)))
    model = small(SketchBoostingClassifier, projection=None, **SETTING).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), expit(expected), atol=1e-4)


def test_classes_are_the_algorithm_of_the_definition():
    X, y = classes()
    Y = (y[:, None] == np.unique(y)).astype(float)
    expected = definition(X, Y, "softmax", np.log(Y.mean(axis=0)), groups=[0, 4])
    model = small(SketchBoostingClassifier, projection=None, **SETTING).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), softmax(expected, axis=1), atol=1e-4)


def test_one_output_is_boosted_as_in_scikit_learn():
    X, Y = numbers(2000)
    y = Y[:, 0] / Y[:, 0].std()
    common = {"max_iter": 20, "max_leaf_nodes": 8, "l2_regularization": 0.0, "min_samples_leaf": 20}
    ours = SketchBoostingRegressor(**common, subsample=1.0, early_stopping=False).fit(X, y)
    theirs = HistGradientBoostingRegressor(**common, early_stopping=False).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)


def test_leaves_of_a_linear_fit_share_one_step():
    X, Y = numbers()
    model = small(SketchBoostingRegressor, leaf_fit="linear", max_iter=1).fit(X, Y)
    steps = np.unique(model.predict(X) - Y.mean(axis=0), axis=0)
    assert len(steps) > 2
    assert np.linalg.matrix_rank(steps / Y.std(axis=0), tol=1e-4) == 1


@pytest.mark.parametrize(
    "projection", ["gaussian", "rademacher", "hadamard", "subsample", "norm-subsample", "top-norm"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_sketch_learns_nearly_as_well_as_all_outputs(kind, projection):
    X, Y = labels(500, 20) if kind is SketchBoostingClassifier else numbers(500, 20)
    fit = {"max_iter": 60, "min_samples_leaf": 5}
    whole = small(kind, projection=None, **fit).fit(X, Y)
    model = small(kind, projection=projection, n_components=3, **fit).fit(X, Y)
    assert model.n_components_ == 3

    def error(model):
        return np.mean((predicted(model, X) - Y) ** 2 / Y.var(axis=0))

    assert error(model) < error(whole) + 0.25
    assert error(model) < 0.5


# ---- what must not matter


@pytest.mark.parametrize("kind", KINDS)
def test_bits_do_not_depend_on_the_number_of_threads(kind):
    X, Y = labels(3000, 30) if kind is SketchBoostingClassifier else numbers(3000, 30)
    one, two, five = (
        small(kind, n_jobs=n, subsample=0.7, early_stopping=True, max_features=3).fit(X, Y)
        for n in (1, 2, 5)
    )
    for other in (two, five):
        np.testing.assert_array_equal(predicted(one, X), predicted(other, X))
        np.testing.assert_array_equal(one.validation_score_, other.validation_score_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("early_stopping", [True, False])
def test_a_warm_start_gives_the_bits_of_one_fit(kind, early_stopping):
    X, Y = data_of(kind)
    params = {"subsample": 0.8, "early_stopping": early_stopping}
    whole = small(kind, **params).fit(X, Y)
    steps = small(kind, warm_start=True, **params | {"max_iter": 3}).fit(X, Y)
    assert 1 <= steps.n_iter_ <= 3
    steps.set_params(max_iter=8).fit(X, Y)
    np.testing.assert_array_equal(predicted(steps, X), predicted(whole, X))
    np.testing.assert_array_equal(steps.train_score_, whole.train_score_)
    np.testing.assert_array_equal(steps.feature_importances_, whole.feature_importances_)


def test_a_warm_start_on_other_data_is_refused():
    X, Y = numbers()
    model = small(SketchBoostingRegressor, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="must be those of the first fit"):
        model.fit(X, Y + 1)
    with pytest.raises(ValueError, match="max_iter must be at least the 8 trees"):
        model.set_params(max_iter=7).fit(X, Y)


def test_sparse_and_dense_labels_give_the_same_model():
    X, Y = labels()
    dense = small(SketchBoostingClassifier).fit(X, Y)
    thin = small(SketchBoostingClassifier).fit(X, sparse.csr_array(Y))
    np.testing.assert_array_equal(dense.predict_proba(X), thin.predict_proba(X))
    assert sparse.issparse(thin.predict(X))
    np.testing.assert_array_equal(thin.predict(X).toarray(), dense.predict(X))


def test_sparse_and_dense_outputs_give_the_same_model():
    X, Y = numbers()
    Y = np.where(Y > 0, Y, 0).round(3)
    dense = small(SketchBoostingRegressor).fit(X, Y.astype(np.float32))
    thin = small(SketchBoostingRegressor).fit(X, sparse.csr_array(Y))
    np.testing.assert_allclose(thin.predict(X).toarray(), dense.predict(X), rtol=1e-3, atol=1e-3)


def test_sparse_and_dense_features_give_the_same_model():
    data = make_multilabel(300, 30, 12, labels_per_row=3, features_per_row=5, random_state=0)
    thin = small(SketchBoostingClassifier).fit(data.X, data.Y)
    dense = small(SketchBoostingClassifier).fit(data.X.toarray() + 1.0, data.Y)
    np.testing.assert_allclose(
        thin.predict_proba(data.X), dense.predict_proba(data.X.toarray() + 1.0), atol=1e-5
    )


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_weight_zero_are_left_out(kind):
    X, Y = data_of(kind)
    weights = np.where(np.arange(200) < 150, 2.0, 0.0)
    model = small(kind).fit(X, Y, weights)
    np.testing.assert_array_equal(
        predicted(model, X), predicted(small(kind).fit(X[:150], Y[:150]), X)
    )


def test_class_weights_are_weights_of_rows():
    X, y = classes()
    n = len(y)
    found, size = np.unique(y, return_counts=True)
    balanced = dict(zip(found, n / (len(found) * size), strict=True))
    for given, of_class in (("balanced", balanced), ({"a": 3, "b": 1, "c": 1, "d": 1}, None)):
        weights = np.array([(of_class or given)[name] for name in y])
        model = small(SketchBoostingClassifier, class_weight=given).fit(X, y)
        expected = small(SketchBoostingClassifier).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-5)
    with pytest.raises(ValueError, match=r"got 'balanced'\. Use a forest"):
        small(SketchBoostingClassifier, class_weight="balanced").fit(*labels())


def test_outputs_may_be_of_any_unit():
    X, Y = numbers()
    model = small(SketchBoostingRegressor).fit(X, Y)
    other = small(SketchBoostingRegressor).fit(X, 1e9 + Y * 2.0**40)
    expected = 1e9 + model.predict(X) * 2.0**40
    np.testing.assert_allclose(other.predict(X), expected, rtol=1e-3)


# ---- early stopping


@pytest.mark.parametrize("kind", KINDS)
def test_fitting_stops_when_the_held_out_loss_does_not_improve(kind):
    X, Y = labels(seed=1) if kind is SketchBoostingClassifier else numbers(seed=1)
    Y = np.random.default_rng(0).permutation(Y)  # there is nothing to learn
    model = small(kind, max_iter=200, early_stopping=True, n_iter_no_change=5).fit(X, Y)
    assert model.do_early_stopping_
    scores = model.validation_score_
    assert 6 <= len(scores) == len(model.train_score_) < 100
    assert (scores[-5:] <= scores[-6] + 1e-7).all()
    assert model.n_iter_ == max(1, np.argmax(scores))


def test_the_training_score_is_minus_the_mean_loss():
    X, Y = labels()
    model = small(SketchBoostingClassifier, early_stopping=True, validation_fraction=None)
    p = model.fit(X, Y).predict_proba(X).astype(float)
    loss = -np.mean(np.where(Y == 1, np.log(p), np.log1p(-p)))
    assert model.train_score_[-1] == pytest.approx(-loss, rel=1e-4)
    assert len(model.validation_score_) == 0
    X, Y = numbers()
    model = small(SketchBoostingRegressor, early_stopping=True, validation_fraction=None)
    loss = np.mean((model.fit(X, Y).predict(X) - Y) ** 2 / Y.var(axis=0))
    assert model.train_score_[-1] == pytest.approx(-loss, rel=1e-4)


def test_stages_lead_to_the_prediction():
    X, Y = labels()
    model = small(SketchBoostingClassifier).fit(X, Y)
    *_, last = stages = list(model.staged_predict_proba(X))
    assert len(stages) == model.n_iter_
    np.testing.assert_allclose(last, model.predict_proba(X), atol=1e-6)
    X, Y = numbers()
    model = small(SketchBoostingRegressor).fit(X, Y)
    first = next(model.staged_predict(X))
    alone = small(SketchBoostingRegressor, max_iter=1).fit(X, Y)
    np.testing.assert_allclose(first, alone.predict(X))


# ---- models


@pytest.mark.parametrize("how", ["pickle", "file"])
@pytest.mark.parametrize("case", ["labels", "classes", "columns", "numbers", "vector"])
def test_a_copy_predicts_the_same(case, how, tmp_path):
    kind = SketchBoostingRegressor if case in ("numbers", "vector") else SketchBoostingClassifier
    X, Y = numbers() if case in ("numbers", "vector") else labels()
    Y = {"classes": classes()[1], "vector": Y[:, 0], "columns": Y[:, :3] + [2, 3, 4]}.get(case, Y)
    model = small(kind, early_stopping=True).fit(X, Y)
    model.predict(X)  # what is computed on demand is not part of the copy
    if how == "pickle":
        copy = pickle.loads(pickle.dumps(model))
    else:
        model.save(tmp_path / "model.sf")
        copy = load_forest(tmp_path / "model.sf")
    assert copy.get_params() == model.get_params()
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(predicted(copy, X), predicted(model, X))
    np.testing.assert_array_equal(copy.validation_score_, model.validation_score_)
    np.testing.assert_array_equal(copy.feature_importances_, model.feature_importances_)
    more = {"warm_start": True, "max_iter": 10}
    again = copy.set_params(**more).fit(X, Y)
    np.testing.assert_array_equal(
        predicted(again, X), predicted(model.set_params(**more).fit(X, Y), X)
    )


def test_a_compact_file_predicts_the_same_without_importances(tmp_path):
    X, Y = labels()
    model = small(SketchBoostingClassifier).fit(X, Y)
    model.save(tmp_path / "model.sf", compact=True)
    twin = load_forest(tmp_path / "model.sf")
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="compact=True"):
        _ = twin.feature_importances_


def test_a_model_saved_with_its_vectorizer_takes_texts(tmp_path):
    texts = [f"word{i % 7} and word{i % 3}" for i in range(60)]
    vectorizer = TfidfVectorizer().fit(texts)
    X, Y = vectorizer.transform(texts), np.eye(3, dtype=int)[np.arange(60) % 3]
    model = small(SketchBoostingClassifier).fit(X, Y)
    model.save(tmp_path / "model.sf", vectorizer=vectorizer)
    twin = load_forest(tmp_path / "model.sf")
    np.testing.assert_array_equal(twin.predict_proba(texts), model.predict_proba(X))
    found = twin.explain(texts[:1], k=1)
    assert set(found.feature_names) <= set(vectorizer.get_feature_names_out())


def test_categories_of_a_data_frame_are_encoded_as_in_the_fit(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"number": np.arange(60.0), "kind": list("xyz") * 20})
    Y = np.eye(3, dtype=int)[np.arange(60) % 3]
    model = small(SketchBoostingClassifier).fit(frame, Y)
    assert model.score(frame, Y) == 1
    model.save(tmp_path / "model.sf")
    twin = load_forest(tmp_path / "model.sf")
    np.testing.assert_array_equal(twin.predict_proba(frame), model.predict_proba(frame))
    assert model.explain(frame[:1], label=0).feature_names[0] == "kind=x"


def test_the_best_labels_are_those_of_largest_probability():
    X, Y = labels()
    model = small(SketchBoostingClassifier).fit(X, Y)
    p = model.predict_proba(X)
    best, scores = model.predict_topk(X, 3)
    np.testing.assert_array_equal(best, np.argsort(-p, axis=1, kind="stable")[:, :3])
    np.testing.assert_allclose(scores, np.take_along_axis(p, best.astype(int), axis=1))
    thin = model.predict_sparse(X, 3)
    assert (np.diff(thin.indptr) == 3).all()
    np.testing.assert_array_equal(np.sort(thin.data.reshape(-1, 3)), np.sort(scores))
    model.set_params(threshold="top-2")
    assert (model.predict(X).sum(axis=1) == 2).all()


def test_features_without_influence_are_not_important():
    X, Y = numbers(500)
    X[:, 4] = 1
    model = small(SketchBoostingRegressor).fit(X, Y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[4] == 0


def test_columns_of_classes_are_boosted_together():
    X, Y = numbers(400, 3)
    columns = np.array([10, 20, 30]) + np.digitize(Y / Y.std(axis=0), [-0.5, 0.5])
    model = small(SketchBoostingClassifier, max_iter=50).fit(X, columns)
    for p, known in zip(model.predict_proba(X), model.classes_, strict=True):
        assert p.shape == (400, len(known))
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    assert (model.predict(X) == columns).mean() > 0.8


@pytest.mark.parametrize("case", ["labels", "classes", "numbers"])
def test_contributions_add_up_to_the_score(case):
    X, Y = {"labels": labels, "classes": classes, "numbers": numbers}[case]()
    kind = SketchBoostingRegressor if case == "numbers" else SketchBoostingClassifier
    model = small(kind).fit(X, Y)
    names = list("abcd") if case == "classes" else list(range(9))
    found = model.explain(X[[7]], label=names)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=0), found.scores)
    scores = found.scores
    if case == "labels":
        scores = expit(scores)
    elif case == "classes":
        scores = softmax(scores)
    np.testing.assert_allclose(scores, predicted(model, X[[7]])[0], rtol=1e-5)
    assert "training rows" not in repr(found)
    # With as many rows as they have in training, leaves average to the base.
    bases = np.mean([model.explain(x[None], label=names[0]).scores[0] for x in X])
    assert found.base[0] == pytest.approx(bases, rel=1e-4, abs=1e-4 * np.abs(scores).max())


# ---- errors


@pytest.mark.parametrize("method", ["leaf_weights", "similar", "relabel"])
def test_what_needs_training_rows_says_why_there_are_none(method):
    X, Y = numbers()
    model = small(SketchBoostingRegressor).fit(X, Y)
    assert not hasattr(model, method)
    with pytest.raises(AttributeError, match=rf"{method} needs leaves of .* Use a forest"):
        getattr(model, method)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"learning_rate": 0}, "learning_rate must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"subsample": 1.5}, "subsample must be"),
        ({"early_stopping": "yes"}, "early_stopping must be"),
        ({"leaf_fit": "mean"}, "leaf_fit must be"),
        ({"l2_regularization": -1}, "l2_regularization must be"),
        ({"projection": "pca"}, "projection must not depend on the outputs"),
        ({"validation_fraction": 200, "early_stopping": True}, "validation_fraction must leave"),
        ({"threshold": "f1"}, "threshold must be"),
    ],
)
def test_invalid_parameters_are_refused(params, words):
    X, Y = labels()
    with pytest.raises(ValueError, match=words):
        small(SketchBoostingClassifier, **params).fit(X, Y)


def test_scores_larger_than_memory_are_refused_with_their_size():
    Y = sparse.csr_array((np.ones(2), ([0, 1], [0, 10**9])), shape=(2000, 2**31 - 2))
    with pytest.raises(MemoryError, match=r"scores of 2000 rows and 2147483646 outputs .* forest"):
        SketchBoostingClassifier().fit(np.arange(2000.0)[:, None], Y)

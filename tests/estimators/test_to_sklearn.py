"""`to_sklearn`: a genuine estimator of scikit-learn with the same trees and predictions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn_versions
from scipy import sparse
from sklearn import ensemble, tree
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
)
from sketchforest._estimators.inspection import to_sklearn

TREES = [DecisionTreeClassifier, ExtraTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor]
CLASSIFIERS = [*TREES[:2], RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [*TREES[2:], RandomForestRegressor, ExtraTreesRegressor]
N_TRAIN = 200


@pytest.fixture(scope="module", name="X")
def features():
    X = np.random.default_rng(0).normal(size=(N_TRAIN, 5)).astype(np.float32)
    X[::6, 3] = np.nan
    return X


@pytest.fixture(scope="module", name="Y")
def outputs(X):
    noise = np.random.default_rng(1).normal(size=(N_TRAIN, 4))
    return np.nan_to_num(X)[:, :4] + X[:, [0]] + noise


def small(kind, **params):
    params = {"random_state": 0, **params}
    return kind(**params) if kind in TREES else kind(n_estimators=6, **params)


def assert_genuine(twin, ours):
    module = tree if type(ours) in TREES else ensemble
    assert type(twin) is getattr(module, type(ours).__name__)
    if module is ensemble:
        assert len(twin.estimators_) == len(ours.estimators_) == twin.n_estimators
        assert all(type(member) is type(twin.estimator) for member in twin.estimators_)
    np.testing.assert_allclose(
        twin.feature_importances_, ours.feature_importances_, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_classes(kind, weighted, X, Y):
    y = np.array(["low", "middle", "high"])[np.digitize(Y[:, 0], [-1, 1])]
    weights = np.random.default_rng(2).exponential(size=N_TRAIN) if weighted else None
    ours = small(kind, min_samples_leaf=4).fit(X, y, weights)
    twin = ours.to_sklearn()
    assert_genuine(twin, ours)
    assert np.array_equal(twin.classes_, ours.classes_)
    np.testing.assert_allclose(twin.predict_proba(X), ours.predict_proba(X), atol=1e-7)
    assert np.array_equal(twin.predict(X), ours.predict(X))
    assert twin.score(X, y) == ours.score(X, y)
    assert np.array_equal(twin.apply(X), ours.apply(X))


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_labels(kind, form, X, Y):
    labels = (Y > 0.7).astype(int)
    labels[:, 2] = 0  # a label that no row has
    ours = small(kind, projection=None, min_samples_leaf=3).fit(X, form(labels))
    twin = ours.to_sklearn()
    assert twin.n_outputs_ == 4
    shares = np.column_stack([shares[:, 1] for shares in twin.predict_proba(X)])
    np.testing.assert_allclose(shares, ours.predict_proba(X), atol=1e-6)
    predicted = ours.predict(X)
    predicted = predicted.toarray() if sparse.issparse(predicted) else predicted
    assert np.array_equal(twin.predict(X), predicted)
    assert twin.predict(X).dtype == predicted.dtype


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("n_outputs", [1, 4])
def test_real_outputs(kind, n_outputs, X, Y):
    y = Y[:, 0] if n_outputs == 1 else Y
    ours = small(kind, min_samples_leaf=2).fit(X, y)
    twin = ours.to_sklearn()
    if n_outputs == 1:
        assert_genuine(twin, ours)
    assert twin.predict(X).shape == ours.predict(X).shape
    np.testing.assert_allclose(twin.predict(X), ours.predict(X), rtol=1e-12)
    if not sklearn_versions.SPLITS_MISSING_VALUES:
        X = np.nan_to_num(X)
    their_paths, our_paths = twin.decision_path(X), ours.decision_path(X)
    if kind in TREES:
        their_paths, our_paths = (their_paths, 0), (our_paths, 0)
    assert np.array_equal(their_paths[0].toarray(), our_paths[0].toarray())
    assert np.array_equal(their_paths[1], our_paths[1])


def test_a_twin_is_pickled_cloned_and_fitted_again(X, Y):
    ours = small(ExtraTreesRegressor, max_features=None, min_samples_leaf=2).fit(X, Y)
    twin = ours.to_sklearn()
    assert twin.max_features is None
    assert twin.min_samples_leaf == 2
    again = pickle.loads(pickle.dumps(twin))
    # Threads of scikit-learn add up trees in the order in which they come.
    np.testing.assert_allclose(again.predict(X), twin.predict(X), rtol=1e-12)
    assert clone(twin).fit(X, Y).n_outputs_ == 4
    assert isinstance(twin.estimators_[0], tree.ExtraTreeRegressor)


def test_names_and_values_that_scikit_learn_does_not_know(X, Y):
    frame = pd.DataFrame(X, columns=list("abcde"))
    ours = RandomForestClassifier(
        "auto", max_features="auto", oob_score="lrap", random_state=0, max_depth=2
    ).fit(frame, (Y > 0).astype(int))
    twin = ours.to_sklearn()
    assert twin.n_estimators == ours.n_estimators_ == len(twin.estimators_)
    assert twin.max_features == ours.max_features_
    assert twin.oob_score is True
    assert twin.feature_names_in_.tolist() == list("abcde")
    assert not hasattr(twin.estimators_[0], "feature_names_in_")
    twin.predict(frame)
    clone(twin).set_params(n_estimators=2, oob_score=False).fit(frame, (Y > 0).astype(int))


def test_a_sketch_forest_without_oblique_trees_is_one_of_extra_trees(X, Y):
    ours = SketchForestClassifier(
        4, oblique=0, linear=0, label_correlations=False, random_state=0
    ).fit(X, Y[:, 0] > 0)
    twin = ours.to_sklearn()
    assert type(twin) is ensemble.ExtraTreesClassifier
    np.testing.assert_allclose(twin.predict_proba(X), ours.predict_proba(X))


def test_tools_that_ask_for_a_tree_of_scikit_learn_are_served(X, Y):
    ours = small(DecisionTreeRegressor, max_depth=2).fit(X, Y[:, 0])
    assert "feature_0 <=" in tree.export_text(ours.to_sklearn())
    assert tree.export_graphviz(ours.to_sklearn()).startswith("digraph Tree")


def test_what_scikit_learn_has_not_is_refused(X, Y, monkeypatch):
    labels = (Y > 0).astype(int)
    forest = SketchForestClassifier(4, oblique=0.5, random_state=0).fit(X, labels)
    with pytest.raises(ValueError, match="2 of 4 are oblique"):
        forest.to_sklearn()
    fine = 1 + np.arange(N_TRAIN)[:, None] * 1e-12
    with pytest.raises(ValueError, match="between values that are equal in float32"):
        DecisionTreeRegressor().fit(fine, Y).to_sklearn()
    chosen = small(RandomForestClassifier, threshold="top-2").fit(X, labels)
    with pytest.raises(ValueError, match=r"threshold must be 0\.5 .* got 'top-2'"):
        chosen.to_sklearn()
    with pytest.raises(NotFittedError):
        RandomForestClassifier().to_sklearn()
    single = small(DecisionTreeRegressor, max_depth=3).fit(X, Y)
    size = 15 * 4 * 8
    monkeypatch.setattr("sketchforest._trees.memory.memory_size", lambda: size - 1)
    with pytest.raises(MemoryError, match="15 nodes and 4 outputs they take"):
        single.to_sklearn()
    monkeypatch.setattr("sketchforest._trees.memory.memory_size", lambda: size)
    assert single.to_sklearn().tree_.value.nbytes == size


def test_a_version_whose_nodes_have_other_fields_is_refused(X, Y, monkeypatch):
    fields = {name: ours for name, ours in to_sklearn.FIELDS.items() if name != "impurity"}
    monkeypatch.setattr(to_sklearn, "FIELDS", fields)
    with pytest.raises(NotImplementedError, match="does not support scikit-learn"):
        DecisionTreeRegressor().fit(X, Y).to_sklearn()

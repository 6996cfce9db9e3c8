"""The trees of a forest as a list: cheap, made once, and the user's to change."""

import copy
import pickle
import threading

import numpy as np
import pytest
from every_kind import trees_alone
from sklearn.base import clone

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
    SketchForestRegressor,
    load_forest,
)

REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor, SketchForestRegressor)
FORESTS = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    SketchForestClassifier,
    *REGRESSORS,
)
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 6))
OUTPUTS = X[:, 0] + rng.normal(size=120)
CLASSES = np.searchsorted([-1, 1], OUTPUTS)


def fitted(kind, n_estimators=6, **params):
    forest = kind(n_estimators, random_state=0, **params)
    return forest.fit(X, OUTPUTS if kind in REGRESSORS else CLASSES)


def predictions(estimator):
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(X)
    return estimator.predict(X)


@pytest.mark.parametrize("kind", FORESTS)
def test_the_list_is_made_once_and_shares_the_arrays(kind):
    forest = fitted(kind)
    assert isinstance(forest.estimators_, list)
    assert forest.estimators_ is forest.estimators_
    assert all(
        np.shares_memory(t.fitted_.forest.nodes, forest.fitted_.forest.nodes)
        for t in forest.estimators_
    )
    assert len(forest) == len(forest.estimators_) == forest.n_estimators_ == 6
    assert forest[2] is forest.estimators_[2]
    assert list(forest) == forest.estimators_
    refitted = forest.fit(X, OUTPUTS if kind in REGRESSORS else CLASSES)
    assert refitted.estimators_[0] is not forest


@pytest.mark.parametrize("kind", FORESTS)
def test_what_is_done_to_the_list_is_done_to_the_forest(kind):
    forest, small = fitted(kind), fitted(kind, 2)
    del forest.estimators_[2:]
    assert np.array_equal(predictions(forest), predictions(small))
    assert forest.n_estimators_ == len(forest) == 2
    assert np.allclose(forest.feature_importances_, small.feature_importances_)
    forest.estimators_.reverse()
    assert np.array_equal(forest.apply(X), small.apply(X)[:, ::-1])
    forest = fitted(kind)
    forest.estimators_ = forest.estimators_[:2]
    assert np.array_equal(predictions(forest), predictions(small))


def calls_beside(function, *arguments):
    """What may stand in a method of an estimator: another thread calls a function, and is waited
    for a moment, in case it must wait for us."""
    thread = threading.Thread(target=function, args=arguments)

    def begin(instance):
        if thread.ident is None:
            thread.start()
            thread.join(0.2)

    return thread, begin


def test_a_list_may_be_assigned_while_a_fit_ends(monkeypatch):
    forest, trees, refitted = fitted(RandomForestClassifier), [], fitted(RandomForestClassifier, 2)
    fit, begin_fit = calls_beside(forest._publish, refitted.fitted_)
    make_params = RandomForestClassifier._tree_params
    monkeypatch.setattr(
        RandomForestClassifier, "_tree_params", lambda self: begin_fit(self) or make_params(self)
    )
    forest.estimators_ = trees
    fit.join()
    assert forest.n_estimators_ == 2


def test_the_list_that_is_assigned_last_is_the_list(monkeypatch):
    forest = fitted(RandomForestClassifier)
    first, last = forest.estimators_[:4], forest.estimators_[:2]
    assigning, begin = calls_beside(setattr, forest, "estimators_", last)
    with_trees = RandomForestClassifier._with_trees
    monkeypatch.setattr(
        RandomForestClassifier,
        "_with_trees",
        lambda self, *more: begin(self) or with_trees(self, *more),
    )
    forest.estimators_ = first
    forest.predict(X)
    assigning.join()
    assert forest.estimators_ is last
    assert forest.n_estimators_ == 2


def test_a_model_is_changed_while_others_compute_what_it_derives():
    model = fitted(RandomForestClassifier).fitted_

    class Name(str):
        """What is asked for this name, another thread has just computed something."""

        __slots__ = ()

        def __hash__(self):
            vars(model).setdefault("computed meanwhile", None)
            return super().__hash__()

    vars(model)[Name("derived")] = 1
    del vars(model)["computed meanwhile"]
    assert vars(model.but(is_relabelled=True))["derived"] == 1


@pytest.mark.parametrize("kind", FORESTS)
def test_two_forests_of_the_same_labels_are_joined(kind):
    params = trees_alone(kind)
    one, other = fitted(kind, **params), fitted(kind, max_depth=2, **params)
    both = (predictions(one) + predictions(other)) / 2
    one.estimators_ += other.estimators_
    assert len(one) == 12
    assert np.allclose(predictions(one), both)


def test_a_changed_list_is_saved_copied_and_grown_on(tmp_path):
    forest = fitted(RandomForestClassifier, warm_start=True)
    small = fitted(RandomForestClassifier, 2)
    del forest.estimators_[2:]
    forest.save(tmp_path / "model.sf")
    twins = [load_forest(tmp_path / "model.sf"), copy.deepcopy(forest)]
    twins += [pickle.loads(pickle.dumps(forest)), forest.relabel(CLASSES)]
    for twin in twins:
        assert np.array_equal(twin.predict_proba(X), small.predict_proba(X))
    forest.fit(X, CLASSES)
    assert np.array_equal(forest.apply(X), fitted(RandomForestClassifier).apply(X))


def test_a_look_at_the_list_does_not_make_a_pickle_larger():
    forest = fitted(RandomForestClassifier)
    before = len(pickle.dumps(forest))
    assert len(forest.estimators_) == 6
    assert len(pickle.dumps(forest)) == before


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ([], "at least one tree; got none"),
        ([DecisionTreeClassifier()], "fitted trees of type DecisionTreeClassifier; got Dec"),
        ([DecisionTreeRegressor().fit(X, OUTPUTS)], "fitted trees of type DecisionTreeClassifier"),
        ([DecisionTreeClassifier().fit(X, CLASSES[::-1])], "grown on the labels and features"),
        ([DecisionTreeClassifier().fit(X[:, :3], CLASSES)], "grown on the labels and features"),
    ],
)
def test_a_list_of_something_else_is_refused(trees, message):
    forest = fitted(RandomForestClassifier)
    kept, before = forest.estimators_, forest.predict_proba(X)
    forest.estimators_ = trees
    with pytest.raises(ValueError, match=f"^estimators_ must hold .*{message}"):
        forest.predict_proba(X)
    forest.estimators_ = kept
    assert np.array_equal(forest.predict_proba(X), before)


@pytest.mark.parametrize("kind", [k for k in FORESTS if "Sketch" not in k.__name__])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_clone_of_a_tree_fitted_to_its_rows_is_the_tree(kind, bootstrap):
    forest = fitted(kind, bootstrap=bootstrap, max_features=0.5, max_depth=4)
    y = OUTPUTS if kind in REGRESSORS else CLASSES
    assert len({tree.random_state for tree in forest}) == 6
    for tree, rows in zip(forest, forest.estimators_samples_, strict=True):
        assert type(int(tree.random_state)) is int
        again = clone(tree).fit(X[rows], y[rows])
        assert again.get_n_leaves() == tree.get_n_leaves()
        assert np.allclose(predictions(again)[rows], predictions(tree)[rows])
        other = clone(tree).set_params(random_state=7).fit(X[rows], y[rows])
        assert not np.allclose(predictions(other)[rows], predictions(tree)[rows])


@pytest.mark.parametrize("kind", FORESTS)
def test_a_single_tree_of_the_forest_can_be_fitted(kind):
    params = {} if kind in REGRESSORS else {"class_weight": "balanced_subsample"}
    forest = fitted(kind, **params)
    y = OUTPUTS if kind in REGRESSORS else CLASSES
    assert clone(forest.estimator_).fit(X, y).n_features_in_ == 6
    assert kind().estimator.splitter == forest.estimator_.splitter
    assert clone(forest[1]).fit(X, y).get_params()["random_state"] == forest[1].random_state


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("n_drawn", [None, 40])
def test_the_samples_of_each_tree_are_as_many_as_were_drawn(kind, n_drawn):
    weighted = {} if kind in REGRESSORS else {"class_weight": "balanced_subsample"}
    for params in ({}, weighted):
        forest = fitted(kind, bootstrap=True, max_samples=n_drawn, **params)
        for tree, rows in zip(forest, forest.estimators_samples_, strict=True):
            assert rows.dtype == np.int32
            assert len(rows) == (n_drawn or 120)
            assert np.array_equal(np.unique(rows), np.sort(tree.fitted_.forest.members))
    whole = fitted(kind, bootstrap=False, max_samples=None)
    assert all(np.array_equal(rows, np.arange(120)) for rows in whole.estimators_samples_)


def test_the_trees_of_extra_trees_are_extra_trees_with_the_parameters_of_the_forest():
    for forest, kind in (
        (fitted(ExtraTreesClassifier, max_features=None), ExtraTreeClassifier),
        (fitted(ExtraTreesRegressor, max_features=0.5, max_depth=3), ExtraTreeRegressor),
    ):
        tree = forest.estimators_[0]
        assert type(tree) is type(forest.estimator) is kind
        assert forest.estimator.splitter == tree.splitter == "random"
        assert (tree.max_features, tree.max_depth) == (forest.max_features, forest.max_depth)


def test_a_forest_of_one_extra_tree_is_that_extra_tree():
    for kind, single in (
        (ExtraTreesClassifier, ExtraTreeClassifier),
        (ExtraTreesRegressor, ExtraTreeRegressor),
    ):
        forest = fitted(kind, 1)
        tree = single(random_state=0).fit(X, OUTPUTS if kind in REGRESSORS else CLASSES)
        assert np.array_equal(tree.apply(X), forest.apply(X)[:, 0])
        assert np.array_equal(predictions(tree), predictions(forest))

"""Pickles, clones and copies of estimators predict the same."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from mapped_memory import is_mapped
from scikit_learn_kinds import ESTIMATORS, FORESTS, predictions, small, targets_for
from sklearn.base import clone

from sketchforest import RandomForestClassifier, load_forest


def through_joblib(estimator, folder):
    path = folder / "model.joblib"
    joblib.dump(estimator, path)
    return joblib.load(path, mmap_mode="r")


def through_a_model_file(estimator, folder):
    estimator.save(folder / "model.sketchforest")
    return load_forest(folder / "model.sketchforest")


COPIES = {
    "pickle": lambda estimator, folder: pickle.loads(pickle.dumps(estimator)),
    "joblib, mapped from disk": through_joblib,
    "save and load": through_a_model_file,
    "copy": lambda estimator, folder: copy.copy(estimator),
    "deepcopy": lambda estimator, folder: copy.deepcopy(estimator),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("leaf_size", [1, 10])  # leaves of rows, and a table of leaf means
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_copy_predicts_the_same(kind, leaf_size, how, labelled, tmp_path):
    X, Y = labelled[0], targets_for(kind, labelled)
    estimator = small(kind, min_samples_leaf=leaf_size).fit(X, Y)
    before = predictions(estimator, X)
    twin = COPIES[how](estimator, tmp_path)
    assert np.array_equal(predictions(twin, X), before)
    assert np.array_equal(twin.apply(X), estimator.apply(X))
    assert np.array_equal(twin.feature_importances_, estimator.feature_importances_)
    assert twin.get_params() == estimator.get_params()


def test_what_predicting_caches_is_not_pickled(labelled):
    X, Y = labelled
    forest = small(RandomForestClassifier, min_samples_leaf=10).fit(X, Y)
    size = len(pickle.dumps(forest))
    forest.predict(X)
    forest.leaf_weights(X)
    assert len(pickle.dumps(forest)) == size


def test_models_of_a_mapped_file_are_not_read_into_memory(labelled, tmp_path):
    X, Y = labelled
    forest = through_joblib(small(RandomForestClassifier).fit(X, Y), tmp_path)
    assert is_mapped(forest.fitted_.forest.members)
    assert is_mapped(forest.fitted_.labels.indices)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_clone_is_unfitted_and_grows_the_same_trees(kind, labelled):
    X, Y = labelled[0], targets_for(kind, labelled)
    estimator = small(kind, max_depth=4, projection="rademacher", n_components=3).fit(X, Y)
    twin = clone(estimator)
    assert not [name for name in vars(twin) if name.endswith("_")]
    assert np.array_equal(predictions(twin.fit(X, Y), X), predictions(estimator, X))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_can_be_read_written_and_shown(kind):
    estimator = kind()
    assert repr(estimator) == f"{kind.__name__}()"
    for name in estimator.get_params():
        marker = object()
        assert estimator.set_params(**{name: marker}) is estimator
        assert getattr(estimator, name) is marker
        estimator.set_params(**{name: kind().get_params()[name]})
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        estimator.set_params(depth=3)
    estimator.set_params(max_depth=3, projection="pca")
    assert repr(estimator) == f"{kind.__name__}(max_depth=3, projection='pca')"
    assert "max_depth" in estimator._repr_html_()


def test_forests_take_the_parameters_of_scikit_learns_forests():
    import sklearn.ensemble

    for kind in FORESTS:
        if "Sketch" in kind.__name__:  # scikit-learn has none
            continue
        theirs = getattr(sklearn.ensemble, kind.__name__)().get_params()
        ours = kind().get_params()
        assert set(theirs) <= set(ours)
        assert {name for name in set(theirs) & set(ours) if theirs[name] != ours[name]} == set()

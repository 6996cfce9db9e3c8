"""Other labels on the same trees."""

import numpy as np
import pytest
from every_kind import ESTIMATORS, N_LABELS, N_TRAIN, fitted, predictions, targets, trees_alone
from scipy import sparse

from sketchforest import RandomForestClassifier


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("n_labels", [3, N_LABELS, 200])
def test_other_labels_on_the_same_trees_are_their_weighted_means(
    kind, n_labels, X, Y, X_new, outputs
):
    estimator = fitted(kind, X, targets(kind, Y, outputs))
    before, state = predictions(estimator, X_new), dict(vars(estimator))
    other = (np.random.default_rng(5).random((N_TRAIN, n_labels)) < 0.2).astype(float)
    twin = estimator.relabel(other)
    assert type(twin) is kind
    assert twin.n_outputs_ == n_labels
    assert np.array_equal(twin.apply(X_new), estimator.apply(X_new))
    assert np.array_equal(twin.feature_importances_, estimator.feature_importances_)
    # The trees' weights were chosen for the old labels.
    assert np.allclose(predictions(twin, X_new), twin.leaf_weights(X_new) @ other, atol=1e-6)
    if not trees_alone(kind):
        assert (twin.leaf_weights(X_new) != estimator.leaf_weights(X_new)).nnz == 0
    assert vars(estimator) == state
    assert np.array_equal(predictions(estimator, X_new), before)


def test_labels_of_another_kind_are_taken(X, Y, X_new, names):
    forest = fitted(RandomForestClassifier, X, Y, oob_score=True, n_estimators=20)
    lean = forest.relabel(sparse.csr_array(Y[:, ::-1]))
    assert sparse.issparse(lean.predict(X_new))
    assert np.array_equal(lean.predict_proba(X_new), forest.predict_proba(X_new)[:, ::-1])
    named = forest.relabel(names)
    assert named.classes_.tolist() == ["ash", "birch", "cedar", "date"]
    assert named.score(X, names) > 0.8
    assert np.array_equal(named.relabel(Y).predict_proba(X_new), forest.predict_proba(X_new))
    assert hasattr(forest, "oob_score_")
    assert not hasattr(lean, "oob_score_")


def test_the_projection_of_replaced_labels_is_not_known(X, Y):
    forest = fitted(RandomForestClassifier, X, Y, n_components=4)
    with pytest.raises(
        ValueError, match=r"relabel replaced them\. Call it on the estimator before relabel"
    ):
        forest.relabel(Y[:, :9]).projection_matrix()
    assert forest.relabel(Y[:, :9]).fit(X, Y).projection_matrix().shape == (N_LABELS, 4)

"""Layouts of X, missing values, frames and seeds."""

import numpy as np
import pytest
from every_kind import (
    ESTIMATORS,
    N_LABELS,
    N_TRAIN,
    fitted,
    predictions,
    targets,
)
from scipy import sparse

from sketchforest import (
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_layout_of_x_gives_the_same_forest(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    grid = np.round(X * 8)  # whole numbers from about -10 to 50
    expected = predictions(fitted(kind, grid, y), grid)
    wide = np.zeros((2 * N_TRAIN, 60))
    wide[::2, ::2] = grid
    layouts = [
        np.asfortranarray(grid),
        grid.astype(np.float32),
        grid.astype(np.float16),
        grid.astype(np.int8),
        grid.astype(np.int64),
        grid.astype(np.longdouble),
        grid.astype(object),
        grid.tolist(),
        wide[::2, ::2],
        sparse.csr_array(grid),
        sparse.csc_matrix(grid),
        sparse.coo_array(grid),
    ]
    long_indices = sparse.csr_array(grid)
    long_indices.indices = long_indices.indices.astype(np.int64)
    long_indices.indptr = long_indices.indptr.astype(np.int64)
    for layout in [*layouts, long_indices]:
        estimator = fitted(kind, layout, y)
        assert np.array_equal(predictions(estimator, layout), expected)
        assert np.array_equal(predictions(estimator, grid), expected)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_missing_values_are_taken_dense_and_sparse(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    is_missing = np.random.default_rng(0).random(X.shape) < 0.2
    with_holes = np.where(is_missing, np.nan, X)
    estimator = fitted(kind, with_holes, y)
    expected = predictions(estimator, with_holes)
    assert np.isfinite(expected).all()
    assert not np.array_equal(expected, predictions(estimator, X))
    lean = sparse.csr_array(with_holes)
    assert np.array_equal(predictions(fitted(kind, lean, y), lean), expected)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_seeds_mean_what_they_mean_in_scikit_learn(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)

    def leaves(random_state):
        return fitted(kind, X, y, random_state=random_state, max_features="sqrt").apply(X_new)

    assert np.array_equal(leaves(3), leaves(3))
    assert not np.array_equal(leaves(3), leaves(4))
    assert not np.array_equal(leaves(None), leaves(None))
    stream = np.random.RandomState(3)
    first = leaves(stream)
    assert np.array_equal(first, leaves(3))
    assert not np.array_equal(first, leaves(stream))


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_a_frame_of_sparse_columns_keeps_its_names(kind, X, Y):
    pd = pytest.importorskip("pandas")
    names = [f"tag {j}" for j in range(N_LABELS)]
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(Y), columns=names)
    assert kind(3).fit(X, frame).label_names_.tolist() == names

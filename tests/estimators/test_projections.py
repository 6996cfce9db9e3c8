"""Every projection, by name, as an object or as a transformer."""

import numpy as np
import pytest
import reference
from every_kind import (
    ESTIMATORS,
    FOREST_CLASSIFIERS,
    FORESTS,
    N_LABELS,
    N_TRAIN,
    fitted,
    predictions,
    targets,
)
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.random_projection import GaussianRandomProjection

from sketchforest import (
    DecisionTreeRegressor,
    RandomForestClassifier,
)
from sketchforest.metrics import lrap
from sketchforest.projection import DEFAULT_N_COMPONENTS, PROJECTIONS, Projection


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", [*PROJECTIONS, None])
@pytest.mark.parametrize("kind", FORESTS)
def test_every_projection_grows_forests_that_rank_labels(kind, name, shared, X, Y, X_new, outputs):
    """Better than the labels' frequencies, on training rows."""
    y = targets(kind, Y, outputs)
    forest = fitted(kind, X, y, projection=name, n_components=5, shared_projection=shared)
    scores = predictions(forest, X)
    assert lrap(Y, scores) > lrap(Y, np.tile(Y.mean(axis=0), (N_TRAIN, 1))) + 0.1
    if name is None:
        with pytest.raises(ValueError, match="grown on the original outputs"):
            forest.projection_matrix()
        return
    matrices = [forest.projection_matrix(tree) for tree in range(7)]
    matrices = [P.toarray() if sparse.issparse(P) else P for P in matrices]
    assert all(P.shape == (N_LABELS, 5) for P in matrices)
    is_same = np.array_equal(matrices[0], matrices[1])
    assert is_same == (shared or name in ("pca", "top-norm"))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", [*PROJECTIONS])
@pytest.mark.parametrize("kind", FOREST_CLASSIFIERS)
def test_labels_that_never_occur_take_no_part(kind, name, shared, X, Y):
    """Of those that do, Z is Y @ P, as it would be without the others."""
    Y = sparse.csr_array(Y)
    occurring = np.flatnonzero(Y.sum(axis=0))
    rows, columns = Y.nonzero()
    wide = sparse.csr_array((Y.data, (rows, 13 * columns + 5)), shape=(N_TRAIN, 13 * N_LABELS + 9))
    params = {"projection": name, "n_components": 5, "shared_projection": shared}
    forest = fitted(kind, X, wide, **params)
    P = reference.dense(forest.projection_matrix(3))
    assert P.shape == (wide.shape[1], 5)
    if name not in ("gaussian", "rademacher", "achlioptas"):
        return
    alone = fitted(kind, X, Y[:, occurring], **params)
    reference.assert_same_forest(forest, alone)
    np.testing.assert_array_equal(
        P[13 * occurring + 5], reference.dense(alone.projection_matrix(3))
    )
    assert np.count_nonzero(P.any(axis=1)) <= len(occurring)


@pytest.mark.parametrize(
    ("n_components", "m"),
    [(1, 1), (np.int64(7), 7), (50, 50), (80, 80), (0.1, 7), (1.0, 70), ("log", 4), ("sqrt", 8),
     ("all", 70), (None, DEFAULT_N_COMPONENTS)],
)  # fmt: skip
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_number_of_components_has_many_forms(kind, n_components, m, X, Y, outputs):
    if "Sketch" in kind.__name__ and n_components is None:
        m = 32  # of both kinds of trees, for fewer than 256 labels
    estimator = fitted(kind, X, targets(kind, Y, outputs), n_components=n_components)
    assert estimator.projection_matrix().shape == (N_LABELS, m)


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if "Sketch" not in kind.__name__])
def test_few_outputs_are_kept_unless_a_number_is_asked_for(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)[:, :DEFAULT_N_COMPONENTS]
    by_default = fitted(kind, X, y)
    with pytest.raises(ValueError, match="original outputs"):
        by_default.projection_matrix()
    exact = fitted(kind, X, y, projection=None)
    assert np.array_equal(by_default.apply(X_new), exact.apply(X_new))
    asked = fitted(kind, X, y, n_components="all")
    assert asked.projection_matrix().shape == (DEFAULT_N_COMPONENTS,) * 2
    assert not np.array_equal(asked.apply(X_new), exact.apply(X_new))
    one_more = fitted(kind, X, targets(kind, Y, outputs)[:, : DEFAULT_N_COMPONENTS + 1])
    shape = (DEFAULT_N_COMPONENTS + 1, DEFAULT_N_COMPONENTS)
    assert one_more.projection_matrix().shape == shape


class FirstLabels(Projection):
    is_random = False

    def draw(self, n_labels, n_components, rng):
        return np.eye(n_labels, n_components, dtype=np.float32)


class Duck:
    """Not a Projection, but draws like one."""

    def draw(self, n_labels, n_components, rng):
        return sparse.csr_array(rng.normal(size=(n_labels, n_components)))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_projections_of_ones_own_are_used(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    first = fitted(kind, X, y, projection=FirstLabels(), n_components=6)
    only = fitted(kind, X, y[:, :6], projection=FirstLabels(), n_components=6)
    assert np.array_equal(first.apply(X_new), only.apply(X_new))
    assert np.array_equal(first.projection_matrix(), np.eye(N_LABELS, 6))
    duck = fitted(kind, X, y, projection=Duck(), n_components=6)
    assert duck.projection_matrix().shape == (N_LABELS, 6)


@pytest.mark.parametrize(
    "transformer", [TruncatedSVD(5), PCA(5, svd_solver="full"), GaussianRandomProjection(5)]
)
@pytest.mark.parametrize("shared", [False, True])
def test_transformers_are_projections(transformer, shared, X, Y):
    params = {"projection": transformer, "shared_projection": shared}
    forest = fitted(RandomForestClassifier, X, Y, **params)
    assert lrap(Y, forest.predict_proba(X)) > 0.6
    assert not hasattr(transformer, "components_")  # a copy is fitted
    again = fitted(RandomForestClassifier, X, Y, **params)
    assert np.array_equal(again.predict_proba(X), forest.predict_proba(X))


def test_a_transformer_of_all_directions_leaves_every_split_as_it_is(X, Y, X_new):
    # Splits of 0/1 labels often tie exactly, and rounding would then decide; real outputs do not.
    outputs = Y + np.random.default_rng(0).normal(scale=0.1, size=Y.shape)
    whole = fitted(DecisionTreeRegressor, X, outputs, projection=PCA(), min_samples_leaf=8)
    exact = fitted(DecisionTreeRegressor, X, outputs, projection=None, min_samples_leaf=8)
    assert np.array_equal(whole.tree_.feature, exact.tree_.feature)
    assert np.array_equal(whole.tree_.threshold, exact.tree_.threshold)
    assert np.allclose(whole.predict(X_new), exact.predict(X_new))

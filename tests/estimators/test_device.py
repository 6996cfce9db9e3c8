"""Forests with oblique trees of a GPU, for which NumPy's kernels stand in: how they are grown level
by level is tested in tests/trees/test_levels.py."""

import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.base import clone

from sketchforest import SketchForestClassifier, SketchForestRegressor, dask, load_forest
from sketchforest._trees import grow_on_gpu
from sketchforest._trees.levels.numpy_kernels import NumpyKernels
from sketchforest.metrics import lrap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 11)).astype(np.float32)
Y = (X @ RNG.normal(size=(11, 30)) > 2).astype(np.uint8)
FOREST = SketchForestClassifier(8, device="cuda", random_state=0)


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(grow_on_gpu, "kernels_of_gpu", NumpyKernels)


def assert_ordinary(forest, rows):
    """Its training rows reach the leaves that hold them."""
    leaves = forest.apply(rows)
    for index, tree in enumerate(forest.fitted_.forest.trees()):
        reference.assert_rows_reach_their_leaves(tree, leaves[:, index])


def test_without_cupy_one_sentence_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with pytest.raises(ImportError, match=r"device='cuda' needs CuPy.*sketchforest\[cuda\]"):
        clone(FOREST).fit(X, Y)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"oblique": 1.0},
        {"oblique": 0.0},
        {"bootstrap": True, "max_samples": 0.7},
        {"class_weight": "balanced", "min_samples_leaf": 3},
        {"n_components": 5, "max_depth": 4},
        {"projection": None},
    ],
)
def test_the_forest_is_like_any_other(params, tmp_path):
    forest = clone(FOREST).set_params(**params).fit(X, Y)
    assert_ordinary(forest, X)
    forest.save(tmp_path / "model")
    loaded = load_forest(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), forest.predict_proba(X))
    assert lrap(Y, forest.predict_proba(X)) > 0.8


@pytest.mark.usefixtures("gpu")
def test_extra_trees_are_those_of_the_cpu():
    on_gpu = clone(FOREST).fit(X, Y).fitted_.forest
    on_cpu = clone(FOREST).set_params(device="cpu").fit(X, Y).fitted_.forest
    are_oblique = [tree.directions is not None for tree in on_cpu.trees()]
    assert [tree.directions is not None for tree in on_gpu.trees()] == are_oblique
    for ours, theirs, is_oblique in zip(on_gpu.trees(), on_cpu.trees(), are_oblique, strict=True):
        assert np.array_equal(ours.members, theirs.members) != is_oblique


@pytest.mark.usefixtures("gpu")
def test_threads_room_and_warm_starts_do_not_matter(monkeypatch):
    forest = clone(FOREST).fit(X, Y)
    reference.assert_same_forest(forest, clone(FOREST).set_params(n_jobs=4).fit(X, Y))
    in_steps = clone(FOREST).set_params(n_estimators=3, warm_start=True).fit(X, Y)
    reference.assert_same_forest(forest, in_steps.set_params(n_estimators=8).fit(X, Y))
    # Three bags of 500 rows fit at a time, and half of one.
    monkeypatch.setattr(NumpyKernels, "free_bytes", lambda self: X.nbytes + 1_500_000)
    reference.assert_same_forest(forest, clone(FOREST).fit(X, Y))


@pytest.mark.usefixtures("gpu")
def test_finished_trees_are_kept(tmp_path, monkeypatch):
    # The weights of a linear part need trees of their own.
    alone = clone(FOREST).set_params(linear=0, label_correlations=False)
    expected = clone(alone).fit(X, Y)

    def fail(*args):
        raise RuntimeError("broken off")

    with monkeypatch.context() as context:
        context.setattr("sketchforest._estimators.forest_mixin.ForestMixin._commit", fail)
        with pytest.raises(RuntimeError):
            clone(alone).fit(X, Y, checkpoint_dir=tmp_path)
    with pytest.raises(ValueError, match="parameters"):
        clone(alone).set_params(device=None).fit(X, Y, checkpoint_dir=tmp_path)
    monkeypatch.setattr(grow_on_gpu, "grow_level_wise", fail)  # nothing is grown again
    reference.assert_same_forest(clone(alone).fit(X, Y, checkpoint_dir=tmp_path), expected)


@pytest.mark.usefixtures("gpu")
def test_regression_is_as_good_as_on_the_cpu():
    targets = X[:, :3] @ RNG.normal(size=(3, 2))
    forest = SketchForestRegressor(20, random_state=0)
    on_cpu = clone(forest).fit(X[:400], targets[:400]).score(X[400:], targets[400:])
    on_gpu = clone(forest).set_params(device="cuda").fit(X[:400], targets[:400])
    assert on_gpu.score(X[400:], targets[400:]) == pytest.approx(on_cpu, abs=0.03)
    assert_ordinary(on_gpu, X[:400])


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_leaf_nodes": 5}, "max_leaf_nodes must be None for device='cuda'"),
        ({"n_estimators": "auto"}, "n_estimators must be a number for device='cuda'"),
        ({"n_components": "auto"}, "n_components must be a number for device='cuda'"),
        ({"n_components": 9000}, "n_components must be at most 6144 for device='cuda'"),
        ({"device": "gpu"}, "device must be None, 'cpu' or 'cuda'; got 'gpu'"),
    ],
)
def test_what_a_gpu_cannot_grow_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        clone(FOREST).set_params(**params).fit(X, Y)


@pytest.mark.usefixtures("gpu")
def test_sparse_features_are_refused():
    with pytest.raises(ValueError, match="stored sparse; got 'cuda'"):
        clone(FOREST).fit(sparse.random(500, 40, 0.05, "csr", random_state=0), Y)


@pytest.mark.usefixtures("gpu")
def test_too_little_memory_is_refused_with_the_sizes(monkeypatch):
    monkeypatch.setattr(NumpyKernels, "free_bytes", lambda self: 400_000)
    with pytest.raises(MemoryError, match=r"X of 500 rows and 11 features takes 0\.0 GiB"):
        clone(FOREST).fit(X, Y)


@pytest.mark.usefixtures("gpu")
def test_a_failure_on_the_gpu_ends_the_fit(monkeypatch):
    def fail(*args):
        raise MemoryError("no more")

    monkeypatch.setattr(NumpyKernels, "mark_largest", fail)
    with pytest.raises(MemoryError, match="no more"):
        clone(FOREST).set_params(n_jobs=2).fit(X, Y)


@pytest.mark.usefixtures("gpu")
def test_a_cluster_has_no_gpu():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.Client(processes=False, dashboard_address=None) as client,
        pytest.raises(ValueError, match="device must be None or 'cpu' on a Dask cluster"),
    ):
        dask.fit(clone(FOREST), X, Y, client)

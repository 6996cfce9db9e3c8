"""Forests whose parts each see some of the rows: fitting and prediction."""

import os
import random
import signal
import threading
import warnings

import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import r2_score

from sketchforest import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchBoostingClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._estimators.predicting.partitioned import combine_partitions
from sketchforest.datasets import Columns, Dataset, make_multilabel, write

pytest.importorskip("distributed", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from sketchforest.dask import (  # noqa: E402
    fit_partitioned,
    predict,
    predict_files,
    predict_proba,
    predict_topk,
)
from sketchforest.dask.blocks import as_block, deal, join  # noqa: E402


@pytest.fixture(scope="module")
def data():
    return make_multilabel(400, 30, 25, labels_per_row=3, features_per_row=8)


FOREST = RandomForestClassifier(12, n_components=5, random_state=0)


# ---- the model: an average over the trees of all parts


def parts_of(data, forest=FOREST):
    sizes = [(slice(0, 100), 3), (slice(100, 300), 4), (slice(300, 400), 5)]
    return [
        clone(forest).set_params(n_estimators=n, random_state=n).fit(data.X[rows], data.Y[rows])
        for rows, n in sizes
    ]


def test_predictions_are_averages_over_all_trees(data, monkeypatch):
    monkeypatch.setattr("sketchforest._estimators.predicting.partitioned.BLOCK_ROWS", 150)
    parts = parts_of(data)
    whole = combine_partitions(parts)
    trees = [tree for part in parts for tree in part.estimators_]
    expected = np.mean([tree.predict_proba(data.X).astype(float) for tree in trees], axis=0)
    assert whole.n_estimators_ == len(trees) == 12
    np.testing.assert_allclose(whole.predict_proba(data.X), expected, atol=1e-6)
    np.testing.assert_allclose(whole.predict_sparse(data.X).toarray(), expected, atol=1e-6)
    labels, scores = whole.predict_topk(data.X, 4)
    averages = whole.predict_proba(data.X)
    order = np.argsort(-averages, axis=1, kind="stable")  # tied labels by their number
    np.testing.assert_array_equal(labels, order[:, :4])
    np.testing.assert_array_equal(scores, np.take_along_axis(averages, labels, 1))
    best = whole.predict_sparse(data.X, 4)
    np.testing.assert_allclose(best.toarray()[np.arange(400)[:, None], labels], scores)
    assert best.nnz == (scores > 0).sum()
    assert whole.suggest(data.X[:1], 1)[0][0][0] == str(labels[0, 0])
    assert (whole.predict(data.X).toarray() == (whole.predict_proba(data.X) > 0.5)).all()
    importances = np.mean([tree.feature_importances_ for tree in trees], axis=0)
    np.testing.assert_allclose(whole.feature_importances_, importances / importances.sum())


def test_the_best_label_overall_may_be_the_best_of_no_part():
    """Label 2 is second in both parts."""
    X = np.zeros((10, 1))
    Y = np.zeros((2, 10, 3), int)
    Y[0, :6, 0] = Y[1, :6, 1] = 1
    Y[:, :5, 2] = 1
    whole = combine_partitions([RandomForestClassifier(1, bootstrap=False).fit(X, y) for y in Y])
    labels, scores = whole.predict_topk(X[:1], 1)
    assert (labels.tolist(), scores.tolist()) == ([[2]], [[0.5]])


def test_the_threshold_is_the_mean_of_the_thresholds_of_the_parts(data):
    parts = parts_of(data, SketchForestClassifier())
    whole = combine_partitions(parts)
    chosen = [float(part.thresholds_) for part in parts]
    above = np.float32(np.average(chosen, weights=[3, 4, 5]))
    scores = whole.predict_proba(data.X)
    expected = scores > above
    expected[np.arange(400), scores.argmax(axis=1)] = True
    np.testing.assert_array_equal(whole.predict(data.X).toarray(), expected)


def test_regressors(data):
    forest = ExtraTreesRegressor(n_components=3)
    X, Y = data.X.toarray(), np.random.default_rng(0).normal(size=(400, 2))
    for target in (Y, Y[:, 0]):
        parts = parts_of(Dataset("", X, target), forest)
        trees = [tree for part in parts for tree in part.estimators_]
        whole = combine_partitions(parts)
        expected = np.mean([tree.predict(X) for tree in trees], axis=0)
        np.testing.assert_allclose(whole.predict(X), expected)
        assert whole.predict(X).shape == target.shape
        assert whole.score(X, target) == pytest.approx(r2_score(target, expected))


def test_parts_with_different_features_are_refused(data):
    other = clone(FOREST).fit(data.X[:, :20], data.Y)
    with pytest.raises(ValueError, match=r"of 30 features .* of 20 features"):
        combine_partitions([*parts_of(data), other])


def test_boosted_parts_are_refused(data):
    boosted = SketchBoostingClassifier(max_iter=2, random_state=0).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="Parts must be forests"):
        combine_partitions([boosted, boosted])


# ---- the rows


def test_rows_are_dealt_at_random_in_equal_shares_and_reproducibly(data):
    pieces = deal((data.X, data.Y), 3, 7, seed=1)
    sizes = [x.shape[0] for x, _ in pieces]
    assert sum(sizes) == 400
    assert max(sizes) - min(sizes) <= 1
    numbered = deal((np.arange(400), np.arange(400)), 3, 7, seed=1)
    for (x, y), (rows, _) in zip(pieces, numbered, strict=True):
        assert (x != data.X[rows]).nnz == 0
        assert (y != data.Y[rows]).nnz == 0
        assert len(np.unique(rows // 100)) == 4  # from all over the block
    assert sorted(np.concatenate([rows for rows, _ in numbered])) == list(range(400))
    assert not np.array_equal(deal((np.arange(400),) * 2, 4, 7, seed=1)[0][0], numbered[0][0])


def whole_rows(blocks, part, n_partitions, seed):
    return join([deal(block, at, n_partitions, seed)[part] for at, block in enumerate(blocks)])


def seed_of(forest):
    return int(np.random.RandomState(forest.random_state).randint(2**31 - 1))


def assert_parts(found, blocks, n_partitions, forest=FOREST):
    """Each part equals a forest fitted on its rows with its seed on one machine."""
    seed = seed_of(forest)
    assert len(found.parts) == n_partitions
    assert found.n_estimators_ == forest.n_estimators
    for number, part in enumerate(found.parts):
        X, Y = whole_rows(blocks, number, n_partitions, seed)
        alone = clone(forest).set_params(
            n_estimators=part.n_estimators_,
            random_state=int(np.random.SeedSequence([seed, number]).generate_state(1)[0]),
        )
        reference.assert_same_forest(part, alone.fit(X, Y))


def split_into_files(data, folder, suffix, n_files=5):
    folder.mkdir(exist_ok=True)
    paths = []
    for number, rows in enumerate(np.array_split(np.arange(data.X.shape[0]), n_files)):
        paths.append(folder / f"rows-{number}.{suffix}")
        write(Dataset("rows", data.X[rows], data.Y[rows]), paths[-1])
    return paths


@pytest.mark.parametrize("suffix", ["npz", "txt", "svm"])
def test_files(suffix, data, client, tmp_path):
    files = split_into_files(data, tmp_path / "rows", suffix)
    options = {"n_features": 30, "n_labels": 25} if suffix == "svm" else {}
    found = fit_partitioned(FOREST, files, client=client, out=tmp_path / "model", **options)
    blocks = [(data.X[rows], data.Y[rows]) for rows in np.array_split(np.arange(400), 5)]
    assert_parts(found, blocks, 2)
    again = load_forest(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(data.X), found.predict_proba(data.X))
    assert not hasattr(FOREST, "n_features_in_")


def test_parquet_files(data, client, tmp_path):
    pd = pytest.importorskip("pandas")
    X, Y = data.X.toarray(), data.Y.toarray()
    labels = [f"l{i}" for i in range(25)]
    frame = pd.DataFrame(np.hstack([X, Y]), columns=[*(f"f{i}" for i in range(30)), *labels])
    files = []
    for number in range(2):
        files.append(tmp_path / f"{number}.parquet")
        frame[number * 200 : (number + 1) * 200].to_parquet(files[-1])
    found = fit_partitioned(
        FOREST, files, out=tmp_path / "model", columns=Columns(labels=labels), n_partitions=2
    )
    blocks = [(data.X[rows], data.Y[rows]) for rows in np.array_split(np.arange(400), 2)]
    assert_parts(found, blocks, 2)


def test_dask_arrays_and_frames(data, client, tmp_path):
    pd = pytest.importorskip("pandas")
    X, Y = data.X.toarray().astype(float), data.Y.toarray()
    blocks = [(X[rows], Y[rows]) for rows in np.array_split(np.arange(400), 4)]
    arrays = da.from_array(X, chunks=(100, 10)), da.from_array(Y, chunks=(100, 25))
    found = fit_partitioned(FOREST, *arrays, client, out=tmp_path / "a", n_partitions=2)
    assert_parts(found, blocks, 2)
    names = [f"f{i}" for i in range(30)]
    frames = (
        dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=4, sort=False),
        dd.from_pandas(pd.DataFrame(Y), npartitions=4, sort=False),
    )
    found = fit_partitioned(FOREST, *frames, client, out=tmp_path / "b", n_partitions=2)
    assert found.feature_names_in_.tolist() == names
    expected = load_forest(tmp_path / "a").predict_proba(X)
    np.testing.assert_array_equal(found.predict_proba(pd.DataFrame(X, columns=names)), expected)


def test_without_shuffle_each_file_is_a_partition(data, client, tmp_path):
    files = split_into_files(data, tmp_path / "rows", "npz")
    found = fit_partitioned(FOREST, files, client=client, out=tmp_path / "m", shuffle=False)
    assert [part.fitted_.labels.n_rows for part in found.parts] == [80] * 5
    assert [part.n_estimators_ for part in found.parts] == [2, 2, 3, 2, 3]


def test_all_threads_of_a_worker_grow_one_partition(data, tmp_path, monkeypatch):
    import distributed

    seen = []

    def fit(self, X, Y):
        seen.append((self.n_jobs, threading.active_count()))
        return original(self, X, Y)

    original = RandomForestClassifier.fit
    monkeypatch.setattr(RandomForestClassifier, "fit", fit)
    files = split_into_files(data, tmp_path / "rows", "npz")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=3, dashboard_address=None
    ) as client:
        fit_partitioned(FOREST, files, client=client, out=tmp_path / "m", n_partitions=3)
    assert [n_jobs for n_jobs, _ in seen] == [3, 3, 3]


# ---- lazy predictions


def test_predictions_are_mapped_over_blocks(data, client, tmp_path):
    model = combine_partitions(parts_of(data))
    X = data.X.toarray()
    chunked = da.from_array(X, chunks=(90, 30))
    labels, scores = predict_topk(model, chunked, 3)
    assert labels.chunks == ((90, 90, 90, 90, 40), (3,))
    for ours, expected in zip((labels, scores), model.predict_topk(X, 3), strict=True):
        np.testing.assert_array_equal(ours.compute(), expected)
    probabilities = predict_proba(model, chunked)
    assert probabilities.dtype == np.float32
    np.testing.assert_array_equal(probabilities.compute(), model.predict_proba(X))


def test_a_model_is_loaded_from_its_path(data, client, tmp_path):
    pd = pytest.importorskip("pandas")
    forest = clone(FOREST).fit(data.X, data.Y.toarray())
    forest.save(tmp_path / "model.sf")
    chunked = dd.from_pandas(pd.DataFrame(data.X.toarray()), npartitions=3, sort=False)
    found = predict(tmp_path / "model.sf", chunked.to_dask_array())
    np.testing.assert_array_equal(found.compute(), forest.predict(data.X))


def test_predictions_of_sparse_labels_are_sparse(data, client):
    forest = clone(FOREST).fit(data.X, data.Y)
    found = predict(forest, da.from_array(data.X.toarray(), chunks=(150, 30))).compute()
    assert sparse.issparse(found)
    assert (found != forest.predict(data.X)).nnz == 0


@pytest.mark.parametrize("has_parts", [False, True])
def test_predictions_do_not_modify_the_model(has_parts, data):
    model = combine_partitions(parts_of(data)) if has_parts else clone(FOREST).fit(data.X, data.Y)
    model.n_jobs = 2
    known = dict(vars(model))
    found = predict_proba(model, da.from_array(data.X.toarray(), chunks=(150, 30)))
    found.compute(scheduler="threads")
    assert vars(model) == known
    assert model.n_jobs == 2


@pytest.mark.parametrize("is_sparse", [False, True])
def test_empty_blocks_have_no_predictions(is_sparse, data):
    pd = pytest.importorskip("pandas")
    X, Y = data.X.toarray(), data.Y if is_sparse else data.Y.toarray()
    frame = pd.DataFrame(X, columns=[f"feature {i}" for i in range(30)])
    is_kept = (np.arange(400) >= 150) & (np.arange(400) % 3 > 0)
    array = da.from_array(X, chunks=(100, -1))[da.from_array(is_kept, chunks=100)]
    frames = dd.from_pandas(frame.assign(kept=is_kept), npartitions=4, sort=False)
    frames = frames[frames.kept].drop(columns="kept")
    for given, rows in ((array, X), (frames, frame)):
        forest = clone(FOREST).fit(rows, Y)
        expected = forest.predict_topk(rows[is_kept], 3)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            labels = predict_topk(forest, given, 3)[0].compute(scheduler="synchronous")
            decided = predict(forest, given).compute(scheduler="synchronous")
        np.testing.assert_array_equal(labels, expected)
        assert abs(decided - forest.predict(rows[is_kept])).sum() == 0
        assert sparse.issparse(decided) == is_sparse


def test_malformed_blocks_and_empty_partitions_are_refused(data):
    X = data.X.copy()
    X.indices[3] = 10**6
    with pytest.raises(ValueError, match=r"^X must be a sparse matrix whose indices lie within"):
        as_block(X, data.Y)
    with pytest.raises(ValueError, match=r"^Y must be a sparse matrix whose indices lie within"):
        as_block(data.X, X)
    with pytest.raises(ValueError, match=r"^X must have rows for every partition; one"):
        join([(data.X[:0], data.Y[:0])])


def test_predictions_of_files_are_written_to_files(data, client, tmp_path):
    files = split_into_files(data, tmp_path / "rows", "npz")
    fit_partitioned(FOREST, files, client=client, out=tmp_path / "model")
    written = predict_files(tmp_path / "model", files, tmp_path / "found", client, k=2)
    assert [path.name for path in written] == [f"rows-{n}.npz.npz" for n in range(5)]
    labels = np.concatenate([np.load(path)["labels"] for path in written])
    expected, _ = load_forest(tmp_path / "model").predict_topk(data.X, 2)
    np.testing.assert_array_equal(labels, expected)


# ---- errors


def test_invalid_arguments_are_refused(data, client, tmp_path):
    files = split_into_files(data, tmp_path / "rows", "npz")
    out = tmp_path / "model"
    X = da.from_array(data.X.toarray(), chunks=(100, 30))
    for match, arguments, options in (
        ("Y must be None if X is a list of files", (files, data.Y), {}),
        ("X and Y must be Dask arrays or data frames", (data.X, data.Y), {}),
        (
            "got 4 and 2 chunks of rows",
            (X, da.zeros((400, 2), chunks=(200, 2))),
            {},
        ),
        (
            "got a chunk of 100 and one of 75 rows",
            (X, da.zeros((300, 2), chunks=(75, 2))),
            {},
        ),
        ("n_partitions must be from 1 to n_estimators=12", (files,), {"n_partitions": 13}),
        ("indicator matrix for a partitioned fit", (X, da.zeros(400, chunks=100)), {}),
        ("at least one file", ([],), {}),
    ):
        with pytest.raises(ValueError, match=match):
            fit_partitioned(FOREST, *arguments, client=client, out=out, **options)
    with pytest.raises(ValueError, match="out must be a new or empty folder"):
        fit_partitioned(FOREST, files, client=client, out=tmp_path)
    with pytest.raises(ValueError, match="X must be a Dask array or data frame"):
        predict_proba(clone(FOREST).fit(data.X, data.Y), data.X)


def test_an_incomplete_model_folder_is_refused(data, client, tmp_path):
    with pytest.raises(ValueError, match=r"index.json is invalid. Fit the model again"):
        load_forest(tmp_path)
    files = split_into_files(data, tmp_path / "rows", "npz")
    fit_partitioned(FOREST, files, client=client, out=tmp_path / "model")
    (tmp_path / "model" / "part-00001.sf").unlink()
    with pytest.raises(ValueError, match=r"lists part-00001.sf, which does not exist"):
        load_forest(tmp_path / "model")


@pytest.mark.slow
def test_a_partitioned_fit_survives_the_death_of_a_worker(mortal_client, scheduler, tmp_path):
    data = make_multilabel(4000, 200, 100, labels_per_row=3, features_per_row=20)
    files = split_into_files(data, tmp_path / "rows", "npz", 4)
    forest = RandomForestClassifier(60, n_components=32, random_state=0)
    pids = list(mortal_client.run(os.getpid).values())
    killer = threading.Timer(0.5, os.kill, [random.choice(pids), signal.SIGKILL])
    killer.start()
    found = fit_partitioned(
        forest, files, client=mortal_client, out=tmp_path / "model", n_partitions=4
    )
    assert killer.finished.is_set()  # the worker died during the fit
    blocks = [(data.X[rows], data.Y[rows]) for rows in np.array_split(np.arange(4000), 4)]
    assert_parts(found, blocks, 4, forest)

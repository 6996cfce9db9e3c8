"""Generators obey the statistics they promise; files come back as they were written."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest import RandomForestClassifier
from sketchforest.datasets import (
    Dataset,
    list_datasets,
    load,
    load_npz,
    make_delicious_like,
    make_multilabel,
    make_sparse_multilabel,
    read,
    write,
)
from sketchforest.metrics import lrap


@pytest.fixture(scope="module")
def delicious_like() -> Dataset:
    return make_delicious_like()


def label_frequencies(data: Dataset) -> np.ndarray:
    """Shares of rows, most frequent label first."""
    return np.sort(data.Y.sum(axis=0, dtype=np.int64))[::-1] / data.Y.shape[0]


def test_the_default_has_the_shape_types_and_split_of_delicious(delicious_like):
    data = delicious_like
    assert data.X.shape == (16_105, 500)
    assert data.Y.shape == (16_105, 983)
    assert [len(data.splits[part]) for part in ("train", "test")] == [12_920, 3_185]
    np.testing.assert_array_equal(np.concatenate(list(data.splits.values())), np.arange(16_105))
    for matrix in (data.X, data.Y):
        assert matrix.format == "csr"
        assert matrix.dtype == np.uint8
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        assert matrix.has_canonical_format
        assert np.all(matrix.data == 1)


def test_rows_have_as_many_labels_and_words_as_asked_and_never_none(delicious_like):
    labels, words = np.diff(delicious_like.Y.indptr), np.diff(delicious_like.X.indptr)
    assert labels.min() >= 1
    assert words.min() >= 1
    assert labels.mean() == pytest.approx(19.0, rel=0.03)
    assert words.mean() == pytest.approx(18.3, rel=0.06)
    assert labels.std() > 3
    # A few long rows carry most of the words.
    assert np.median(words) < 0.7 * words.mean()


def test_label_frequencies_follow_the_curve_of_delicious(delicious_like):
    ranks = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500])
    # Of the real data set, by rank.
    delicious = np.array([0.403, 0.374, 0.302, 0.222, 0.146, 0.078, 0.043, 0.021, 0.0064])
    ratio = label_frequencies(delicious_like)[ranks - 1] / delicious
    assert np.all((ratio > 0.75) & (ratio < 1.33)), ratio


def test_a_seed_decides_everything():
    first, again, other = (make_delicious_like(300, random_state=seed) for seed in (3, 3, 4))
    for part in ("X", "Y"):
        assert (getattr(first, part) != getattr(again, part)).nnz == 0
        assert (getattr(first, part) != getattr(other, part)).nnz > 0


def test_labels_can_be_learnt_from_the_words():
    data = make_delicious_like(3_000)
    train, test = data.splits["train"], data.splits["test"]
    forest = RandomForestClassifier(n_estimators=20, n_components=8, random_state=0)
    learnt = forest.fit(data.X[train], data.Y[train]).predict_proba(data.X[test])
    by_frequency = np.tile(data.Y[train].sum(axis=0, dtype=float), (len(test), 1))
    assert lrap(data.Y[test], learnt) > 1.2 * lrap(data.Y[test], by_frequency)


def test_means_that_no_row_can_have_are_refused():
    with pytest.raises(ValueError, match="labels_per_row must be between 1 and n_labels=10; got 0"):
        make_multilabel(100, 50, 10, labels_per_row=0.5, features_per_row=5)
    with pytest.raises(ValueError, match="features_per_row must be between 1 and n_features=50"):
        make_multilabel(100, 50, 10, labels_per_row=2, features_per_row=51)


@pytest.mark.parametrize(("n_labels", "labels_per_row"), [(1, 1), (6, 1.9), (50, 3), (374, 3.5)])
def test_other_shapes_are_kept(n_labels, labels_per_row):
    data = make_multilabel(2_000, 200, n_labels, labels_per_row, features_per_row=10)
    assert data.X.shape == (2_000, 200)
    assert data.Y.shape == (2_000, n_labels)
    assert data.Y.nnz / 2_000 == pytest.approx(labels_per_row, rel=0.1)
    assert len(data.feature_names) == 200
    assert len(data.label_names) == n_labels


def write_npz(path, *, split: bool = True, names: bool = True, **changes) -> None:
    arrays = {
        "X_data": np.array([0.5, -1.0, 2.0], np.float32),
        "X_indices": np.array([1, 0, 2], np.int32),
        "X_indptr": np.array([0, 1, 3], np.int64),
        "X_shape": np.array([2, 3]),
        "Y_indices": np.array([0, 3, 2], np.int32),
        "Y_indptr": np.array([0, 2, 3], np.int64),
        "Y_shape": np.array([2, 4]),
    }
    if split:
        arrays |= {"train_rows": np.array([1], np.int32), "test_rows": np.array([0], np.int32)}
    if names:
        arrays |= {"feature_names": np.array(list("abc")), "label_names": np.array(list("wxyz"))}
    np.savez(path, **{key: value for key, value in (arrays | changes).items() if value is not None})


def test_an_archive_comes_back_as_it_was_written(tmp_path):
    write_npz(tmp_path / "tiny.npz")
    data = load_npz(tmp_path / "tiny.npz")
    np.testing.assert_array_equal(data.X.toarray(), [[0, 0.5, 0], [-1, 0, 2]])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0, 0, 1], [0, 0, 1, 0]])
    assert data.X.dtype == np.float32
    assert data.Y.dtype == np.uint8
    assert data.X.indptr.dtype == data.Y.indptr.dtype == np.int32
    assert {part: rows.tolist() for part, rows in data.splits.items()} == {
        "train": [1],
        "test": [0],
    }
    assert data.feature_names.tolist() == list("abc")
    assert data.label_names.tolist() == list("wxyz")
    assert repr(data) == "Dataset('tiny', n_samples=2, n_features=3, n_labels=4)"


def test_split_and_names_are_optional(tmp_path):
    write_npz(tmp_path / "bare.npz", split=False, names=False)
    data = load_npz(tmp_path / "bare.npz")
    assert data.splits == {}
    assert data.feature_names is None
    assert data.label_names is None


def test_an_archive_of_something_else_is_refused(tmp_path):
    write_npz(tmp_path / "half.npz", Y_indices=None, Y_shape=None)
    with pytest.raises(ValueError, match=r"half\.npz: it is not a data set: Y_indices, Y_sh"):
        load_npz(tmp_path / "half.npz")


def test_data_home_is_searched_before_the_environment(tmp_path, monkeypatch):
    for folder in ("home", "shared"):
        (tmp_path / folder).mkdir()
        write_npz(tmp_path / folder / "both.npz", X_data=np.full(3, len(folder), np.float32))
    write_npz(tmp_path / "shared" / "one.npz")
    monkeypatch.setenv("SKETCHFOREST_DATA", str(tmp_path / "shared"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load("both", data_home=tmp_path / "home").X.data[0] == len("home")
    assert load("both").X.data[0] == len("shared")
    assert load("one", data_home=tmp_path / "home").name == "one"
    assert list_datasets() == list_datasets(tmp_path / "home") == ["both", "one"]


def test_a_missing_data_set_says_where_to_put_which_file(tmp_path, monkeypatch):
    monkeypatch.delenv("SKETCHFOREST_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert list_datasets() == []
    with pytest.raises(FileNotFoundError, match=r"put absent\.npz, .* SKETCHFOREST_DATA"):
        load("absent", data_home=tmp_path)


def test_the_real_delicious_has_its_published_figures():
    if "delicious" not in list_datasets():
        pytest.skip("SKETCHFOREST_DATA names no folder with delicious.npz")
    data = load("delicious")
    assert data.X.shape == (16_105, 500)
    assert data.Y.shape == (16_105, 983)
    assert data.Y.nnz / 16_105 == pytest.approx(19.020, abs=5e-4)
    assert [len(data.splits[part]) for part in ("train", "test")] == [12_920, 3_185]
    assert data.label_names[0].startswith("TAG_")


@pytest.mark.parametrize("make", [make_multilabel, make_sparse_multilabel])
@pytest.mark.parametrize("what", ["n_features", "n_labels"])
def test_more_columns_than_32_bits_count_are_refused(make, what):
    sizes = {"n_features": 100, "n_labels": 100, what: 2**31}
    with pytest.raises(ValueError, match=rf"{what} must be at most 2147483647 .*; got 2147483648"):
        make(3, **sizes, labels_per_row=2, features_per_row=2)


@pytest.mark.parametrize("format", ["xc", "svmlight", "npz"])
def test_indices_past_32_bits_are_written_and_read_as_they_are(format, tmp_path):
    n_columns, last = 2**31 + 7, 2**31 + 6
    wide = sparse.csr_array(([1], [last], [0, 1]), shape=(1, n_columns))
    data = Dataset("wide", wide.astype(np.uint8), wide.astype(np.uint8))
    write(data, tmp_path / "wide", format)
    again = read(tmp_path / "wide", format)
    for matrix in (again.X, again.Y):
        assert matrix.shape == (1, n_columns)
        assert matrix.indices.tolist() == [last]

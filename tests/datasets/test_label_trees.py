"""Generated sets with very many labels: their shapes, and that the tree of labels can be learnt."""

import numpy as np
import pytest

from sketchforest import RandomForestClassifier
from sketchforest.datasets import make_amazon_670k_like, make_label_tree, make_wiki10_31k_like
from sketchforest.metrics import precision_at_k


@pytest.fixture(scope="module")
def data():
    return make_label_tree(3000, 2000, 1000, labels_per_row=4, features_per_row=30)


def test_rows_have_as_many_labels_and_words_as_asked(data):
    assert (data.X.shape, data.Y.shape) == ((3000, 2000), (3000, 1000))
    assert data.X.nnz / 3000 == pytest.approx(30, rel=0.03)
    assert data.Y.nnz / 3000 == pytest.approx(4, rel=0.05)
    assert np.diff(data.Y.indptr).min() >= 1
    assert np.diff(data.X.indptr).min() >= 1
    assert (data.X.dtype, data.Y.dtype) == (np.float32, np.uint8)
    assert data.X.has_canonical_format
    assert data.Y.has_canonical_format


def test_the_same_seed_gives_the_same_rows_and_another_one_others(data):
    sizes = {"labels_per_row": 4, "features_per_row": 30}
    again, other = (make_label_tree(3000, 2000, 1000, **sizes, random_state=s) for s in (0, 1))
    assert (again.X != data.X).nnz == (again.Y != data.Y).nnz == 0
    assert (other.Y != data.Y).nnz > 0


def test_labels_of_a_row_are_near_each_other_in_the_tree(data):
    """Most have a brother in the row: one of the same eight."""
    families = [
        np.bincount(labels // 8) for labels in np.split(data.Y.indices, data.Y.indptr[1:-1])
    ]
    share = np.mean([family[family > 1].sum() / family.sum() for family in families])
    assert share > 0.5


def test_some_labels_are_frequent_and_most_are_rare(data):
    counts = np.sort(np.bincount(data.Y.indices, minlength=1000))[::-1]
    assert counts[0] > 20 * np.median(counts) > 0


def test_words_tell_of_labels(data):
    train, test = slice(0, 2500), slice(2500, 3000)
    forest = RandomForestClassifier(30, n_components=16, random_state=0, n_jobs=2)
    forest.fit(data.X[train], data.Y[train])
    found = precision_at_k(data.Y[test], forest.predict_sparse(data.X[test]), 1)
    frequencies = np.tile(np.bincount(data.Y[train].indices, minlength=1000), (500, 1))
    assert found > 3 * precision_at_k(data.Y[test], frequencies, 1)


def test_shapes_of_large_sets():
    wiki, amazon = make_wiki10_31k_like(60, 20), make_amazon_670k_like(300, 100)
    assert (wiki.X.shape, wiki.Y.shape) == ((80, 101_938), (80, 30_938))
    assert wiki.X.nnz / 80 == pytest.approx(673, rel=0.05)
    assert wiki.Y.nnz / 80 == pytest.approx(18.6, rel=0.2)
    assert (amazon.X.shape, amazon.Y.shape) == ((400, 135_909), (400, 670_091))
    assert amazon.X.nnz / 400 == pytest.approx(76, rel=0.05)
    assert amazon.Y.nnz / 400 == pytest.approx(5.5, rel=0.1)
    assert {name: len(rows) for name, rows in amazon.splits.items()} == {"train": 300, "test": 100}


def test_means_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="labels_per_row must be between 1 and n_labels=5"):
        make_label_tree(10, 10, 5, labels_per_row=6, features_per_row=2)

"""Synthetic data with very many labels, which are the leaves of a tree.

Labels near each other in the tree occur together, and the words of a row come from its labels and
their ancestors, as in product catalogues. Time and memory depend on the number of non-zeros alone.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from sketchforest.datasets._rows import csr
from sketchforest.datasets._shared_docs import described
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.generators import check_mean, split_rows

_Array = np.ndarray

_BRANCHES = 8  # per node
# Probabilities that another label of the row, or a word, comes from the node at each height above a
# label. The rest comes from all labels, or all words.
_LABEL_HEIGHTS = (0.6, 0.2, 0.1)  # heights from 1: siblings, cousins, ...
_WORD_HEIGHTS = (0.3, 0.2, 0.15, 0.1)  # heights from 0: the label itself, its parent, ...
_LABEL_OFFSET = 1e-4  # frequency is 1 / (rank + this * n_labels): a long tail
_WORD_SKEW = 3.0  # words of low number are more frequent
_TRIAL_ROWS, _TRIALS = 500, 4  # to find how much more to draw, as some draws repeat
_BLOCK_ROWS = 20_000


@described
def make_label_tree(
    n_samples: int,
    n_features: int,
    n_labels: int,
    labels_per_row: float,
    features_per_row: float,
    random_state: int | None = 0,
) -> Dataset:
    """Generate float32 word weights X and uint8 labels Y, both CSR.

    Examples
    --------
    >>> data = make_label_tree(200, 1000, 500, labels_per_row=4, features_per_row=20)
    >>> data.X.shape, data.Y.shape
    ((200, 1000), (200, 500))
    """
    check_mean("labels_per_row", labels_per_row, "n_labels", n_labels)
    check_mean("features_per_row", features_per_row, "n_features", n_features)
    rng = np.random.default_rng(random_state)
    ladder = np.cumsum(1 / (1.0 + rng.permutation(n_labels) + _LABEL_OFFSET * n_labels))
    words = _Words(n_features, n_of_node=max(8, round(features_per_row / 8)))
    n_labels_drawn = n_words_drawn = 1.0
    for _ in range(_TRIALS):
        Y = _draw_labels(_TRIAL_ROWS, labels_per_row * n_labels_drawn, ladder, rng)
        X = words.draw(Y, features_per_row * n_words_drawn, rng)
        n_labels_drawn *= labels_per_row * _TRIAL_ROWS / Y.nnz
        n_words_drawn *= features_per_row * _TRIAL_ROWS / X.nnz
    blocks = []
    for first in range(0, n_samples, _BLOCK_ROWS):
        size = min(_BLOCK_ROWS, n_samples - first)
        Y = _draw_labels(size, labels_per_row * n_labels_drawn, ladder, rng)
        blocks.append((words.draw(Y, features_per_row * n_words_drawn, rng), Y))
    X, Y = (sparse.vstack(parts, format="csr") for parts in zip(*blocks, strict=True))
    return Dataset("label-tree", X, Y)


@described
def make_wiki10_31k_like(
    n_train: int = 14_146, n_test: int = 6_616, random_state: int | None = 0
) -> Dataset:
    """Generate data shaped like Wiki10-31K: few long rows with many labels each.

    Examples
    --------
    >>> data = make_wiki10_31k_like(30, 10)
    >>> data.X.shape, data.Y.shape
    ((40, 101938), (40, 30938))
    """
    data = make_label_tree(n_train + n_test, 101_938, 30_938, 18.6, 673, random_state)
    return split_rows(data, "wiki10-31k-like", n_train)


@described
def make_amazon_670k_like(
    n_train: int = 490_449, n_test: int = 153_025, random_state: int | None = 0
) -> Dataset:
    """Generate data shaped like Amazon-670K: more labels than rows.

    Examples
    --------
    >>> data = make_amazon_670k_like(30, 10)
    >>> data.X.shape, data.Y.shape
    ((40, 135909), (40, 670091))
    """
    data = make_label_tree(n_train + n_test, 135_909, 670_091, 5.5, 76, random_state)
    return split_rows(data, "amazon-670k-like", n_train)


def _draw_labels(
    n_rows: int, mean: float, ladder: _Array, rng: np.random.Generator
) -> sparse.csr_array:
    """One label per row by its frequency, and others near it in the tree."""
    n_labels = len(ladder)
    n_in_row = 1 + rng.poisson(max(mean - 1, 0), n_rows)
    rows = np.repeat(np.arange(n_rows), n_in_row)
    first = np.searchsorted(ladder, ladder[-1] * rng.random(n_rows))
    heights = 1 + _draw_heights(_LABEL_HEIGHTS, len(rows), rng)
    below = np.minimum(_BRANCHES**heights, n_labels)  # leaves below the common ancestor
    below[heights > len(_LABEL_HEIGHTS)] = n_labels
    beginnings = first[rows] // below * below
    labels = np.minimum(beginnings + (rng.random(len(rows)) * below).astype(np.int64), n_labels - 1)
    labels[np.append(0, np.cumsum(n_in_row)[:-1])] = first
    found = _counted(rows, labels, (n_rows, n_labels))
    return csr(np.ones(found.nnz, np.uint8), found.indices, found.indptr, found.shape)


class _Words(NamedTuple):
    """The words of each node, found by hashing instead of a table."""

    n_words: int
    n_of_node: int

    def draw(self, Y: sparse.csr_array, mean: float, rng: np.random.Generator) -> sparse.csr_array:
        """Draw words of each row from the nodes above its labels, or from anywhere."""
        n_rows = Y.shape[0]
        rows = np.repeat(np.arange(n_rows), 1 + rng.poisson(mean, n_rows))
        n_in_row = np.diff(Y.indptr)
        chosen = Y.indptr[rows] + (rng.random(len(rows)) * n_in_row[rows]).astype(np.int64)
        heights = _draw_heights(_WORD_HEIGHTS, len(rows), rng).astype(np.uint64)
        nodes = Y.indices[chosen].astype(np.uint64) // np.uint64(_BRANCHES) ** heights
        slots = rng.integers(self.n_of_node, size=len(rows)).astype(np.uint64)
        place = _hashed(nodes * np.uint64(64) + heights, slots)
        is_common = heights == len(_WORD_HEIGHTS)
        place[is_common] = rng.random(np.count_nonzero(is_common))
        words = np.minimum((self.n_words * place**_WORD_SKEW).astype(np.int64), self.n_words - 1)
        found = _counted(rows, words, (n_rows, self.n_words))
        found.data = np.log1p(found.data).astype(np.float32)
        return found


def _draw_heights(shares: tuple[float, ...], size: int, rng: np.random.Generator) -> _Array:
    """Random heights from 0 to the number of shares; the last gets what they leave."""
    return np.searchsorted(np.cumsum(shares), rng.random(size), side="right")


def _hashed(node: _Array, slot: _Array) -> _Array:
    """A fixed pseudo-random number in [0, 1) for each pair."""
    mixed = node * np.uint64(0x9E3779B97F4A7C15) + (slot + np.uint64(1)) * np.uint64(
        0xBF58476D1CE4E5B9
    )
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53


def _counted(rows: _Array, columns: _Array, shape: tuple[int, int]) -> sparse.csr_array:
    """Counts of the (row, column) pairs."""
    cells, counts = np.unique(rows * shape[1] + columns, return_counts=True)
    indptr = np.searchsorted(cells, shape[1] * np.arange(shape[0] + 1))
    return csr(counts.astype(np.float32), cells % shape[1], indptr, shape)

"""Seeded multi-label data in the shape of real ones.

A row mixes two topics, and its words and labels are drawn from those topics without knowing of
each other. Labels follow Zipf's law, and a rare label belongs to fewer topics than a frequent
one: that is what makes the tail predictable and the head noisy, as on real tags.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sketchforest.datasets._rows import csr
from sketchforest.datasets.dataset import Dataset

_Array = np.ndarray

# The constants are fitted to the Delicious tags: label and word frequencies by rank, and the
# ranking quality of a forest and of the label frequencies alone.
_TOPIC_SHARES = (0.75, 0.25)  # of a row's tokens: its first and its second topic
_BACKGROUND = 0.05  # of a topic's tokens: drawn from all items, whatever the topic
_RARE_IS_SPECIFIC = 0.8  # 0: rare items live in as many topics as frequent ones
_WORD_COUNT_SPREAD = 1.2  # of log counts: half of the rows are short, a few are very long
_DELICIOUS_TRAIN_SHARE = 12_920 / 16_105

# The fast generator: how many items a topic has for each one in a row, the share of a row's items
# that comes from them, and rows drawn at once, so that its memory stays small.
_POOL_FACTOR = 4
_POOL_SHARE = 0.8
_POOL_BLOCK_ROWS = 10_000
_MOST_ITEMS = np.iinfo(np.int32).max  # indices are drawn and kept in 32 bits


@dataclass(frozen=True)
class _Vocabulary:
    """Items with frequencies proportional to 1 / (rank + offset * n_items) ** exponent."""

    n_items: int
    exponent: float
    offset: float
    generality: float  # how evenly the most frequent item is spread over topics

    def topics(self, n_topics: int, rng: np.random.Generator) -> _Array:
        """(n_topics, n_items) probabilities, rows summing to 1."""
        ranks = 1.0 + rng.permutation(self.n_items)
        popularity = (ranks + self.offset * self.n_items) ** -self.exponent
        popularity /= popularity.sum()
        generality = self.generality * (popularity / popularity.max()) ** _RARE_IS_SPECIFIC
        # A gamma of small shape is nearly 0 in most topics and large in a few; its mean is its
        # shape, so the division keeps the item's popularity.
        weights = rng.gamma(generality, size=(n_topics, self.n_items)) * popularity / generality
        weights /= weights.sum(axis=1, keepdims=True)
        shares: _Array = (1 - _BACKGROUND) * weights + _BACKGROUND * popularity
        return shares


def make_multilabel(
    n_samples: int,
    n_features: int,
    n_labels: int,
    labels_per_row: float,
    features_per_row: float,
    random_state: int | np.random.Generator | None = 0,
    *,
    n_topics: int = 100,
) -> Dataset:
    """X (n_samples, n_features) of binary words and Y (n_samples, n_labels), both uint8 CSR.

    The means of labels and words per row come out a few percent low when they are a large share
    of all labels or words. Every row has at least one of each. More topics, or shorter rows, make
    the labels harder to predict.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
    labels_per_row, features_per_row : float
        Means.
    random_state : int, numpy.random.Generator or None, default=0
    n_topics : int, default=100

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = make_multilabel(1000, 200, 50, labels_per_row=3, features_per_row=10)
    >>> data.X.shape, data.Y.shape
    ((1000, 200), (1000, 50))
    """
    check_mean("labels_per_row", labels_per_row, "n_labels", n_labels)
    check_mean("features_per_row", features_per_row, "n_features", n_features)
    rng = np.random.default_rng(random_state)
    labels = _Vocabulary(n_labels, exponent=1.25, offset=0.015, generality=0.25)
    words = _Vocabulary(n_features, exponent=1.0, offset=0.1, generality=0.1)
    row_topics = _draw_row_topics(n_samples, n_topics, rng)
    label_counts = 1 + rng.poisson(labels_per_row - 1, n_samples)
    word_counts = _skewed_counts(n_samples, features_per_row, rng)
    return Dataset(
        name="multilabel",
        Y=_draw_items(label_counts, row_topics, labels.topics(n_topics, rng), rng),
        X=_draw_items(word_counts, row_topics, words.topics(n_topics, rng), rng),
        feature_names=np.array([f"word{j}" for j in range(n_features)]),
        label_names=np.array([f"tag{j}" for j in range(n_labels)]),
    )


def make_delicious_like(
    n_samples: int = 16_105,
    n_features: int = 500,
    n_labels: int = 983,
    labels_per_row: float = 19.0,
    features_per_row: float = 18.3,
    random_state: int | np.random.Generator | None = 0,
) -> Dataset:
    """A tag-suggestion problem shaped like Delicious, split in the same proportion.

    Parameters
    ----------
    n_samples : int, default=16105
    n_features : int, default=500
    n_labels : int, default=983
    labels_per_row : float, default=19.0
    features_per_row : float, default=18.3
    random_state : int, numpy.random.Generator or None, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = make_delicious_like(n_samples=50)
    >>> data.Y.shape, len(data.splits["train"])
    ((50, 983), 40)
    """
    data = make_multilabel(
        n_samples, n_features, n_labels, labels_per_row, features_per_row, random_state
    )
    # Rows are exchangeable, so the first ones are as good a training sample as any.
    n_train = round(n_samples * _DELICIOUS_TRAIN_SHARE)
    train, test = np.split(np.arange(n_samples, dtype=np.int32), [n_train])
    return replace(data, name="delicious-like", splits={"train": train, "test": test})


def make_sparse_multilabel(
    n_samples: int,
    n_features: int,
    n_labels: int,
    labels_per_row: int = 5,
    features_per_row: int = 50,
    random_state: int | np.random.Generator | None = 0,
    *,
    n_topics: int = 1000,
) -> Dataset:
    """X (n_samples, n_features) and Y (n_samples, n_labels), uint8 CSR, both as large as wanted.

    Time and memory follow the non-zeros, whatever the number of features and labels. A row has
    one topic; most of its words and labels come from the topic's own few, the rest from all.
    Every row has as many of each as asked, or fewer where the topic's run out.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
    labels_per_row, features_per_row : int
        Means.
    random_state : int, numpy.random.Generator or None, default=0
    n_topics : int, default=1000

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = make_sparse_multilabel(100, 5000, 2000)
    >>> int(data.X.nnz), int(data.Y.nnz)
    (5000, 500)
    """
    check_mean("labels_per_row", labels_per_row, "n_labels", n_labels)
    check_mean("features_per_row", features_per_row, "n_features", n_features)
    rng = np.random.default_rng(random_state)
    row_topics = rng.integers(n_topics, size=n_samples)
    return Dataset(
        name="sparse-multilabel",
        X=_draw_from_pools(row_topics, n_topics, n_features, features_per_row, rng),
        Y=_draw_from_pools(row_topics, n_topics, n_labels, labels_per_row, rng),
    )


def check_mean(name: str, mean: float, limit_name: str, limit: int) -> None:
    if limit > _MOST_ITEMS:
        raise ValueError(f"{limit_name} must be at most {_MOST_ITEMS} (2**31 - 1); got {limit}.")
    if not 1 <= mean <= limit:
        raise ValueError(f"{name} must be between 1 and {limit_name}={limit}; got {mean}.")


def _draw_row_topics(n_samples: int, n_topics: int, rng: np.random.Generator) -> _Array:
    popularity = np.arange(1, n_topics + 1) ** -0.5
    size = (n_samples, len(_TOPIC_SHARES))
    return rng.choice(n_topics, size=size, p=popularity / popularity.sum())


def _skewed_counts(n_samples: int, mean: float, rng: np.random.Generator) -> _Array:
    length = rng.lognormal(sigma=_WORD_COUNT_SPREAD, size=n_samples)
    counts: _Array = 1 + np.rint((mean - 1) * length / length.mean()).astype(np.int64)
    return counts


def _draw_items(
    counts: _Array, row_topics: _Array, topics: _Array, rng: np.random.Generator
) -> sparse.csr_array:
    """(n_samples, n_items) indicators: the first ``counts[i]`` distinct items drawn for row i."""
    n_samples, n_items = len(counts), topics.shape[1]
    # No row takes more than half of the items: it would say nothing about its topics.
    counts = np.minimum(counts, max(1, n_items // 2))
    # A row that wants a larger share of the items meets more repeats.
    rows = np.repeat(np.arange(n_samples), 3 * counts + 30 * counts**2 // n_items)
    drawn = rows * n_items + _draw_tokens(rows, row_topics, topics, rng)
    _, first_draws = np.unique(drawn, return_index=True)
    first_draws.sort()
    rows = rows[first_draws]
    place_in_row = np.arange(len(rows)) - np.searchsorted(rows, np.arange(n_samples))[rows]
    kept = np.sort(drawn[first_draws[place_in_row < counts[rows]]])
    indptr = np.searchsorted(kept, n_items * np.arange(n_samples + 1))
    return csr(np.ones(len(kept), np.uint8), kept % n_items, indptr, (n_samples, n_items))


def _draw_tokens(
    rows: _Array, row_topics: _Array, topics: _Array, rng: np.random.Generator
) -> _Array:
    """(n_tokens,) one item for each row named, from one of the row's topics."""
    slots = rng.choice(len(_TOPIC_SHARES), size=len(rows), p=_TOPIC_SHARES)
    topic = row_topics[rows, slots]
    # One ladder for all topics, topic t on (t, t + 1], inverts every distribution at once.
    ladder = np.cumsum(topics, axis=1)
    ladder = ladder / ladder[:, -1:] + np.arange(len(topics))[:, np.newaxis]
    points = topic + rng.random(len(rows))
    items: _Array = np.searchsorted(ladder.ravel(), points) % topics.shape[1]
    return items


def _draw_from_pools(
    row_topics: _Array, n_topics: int, n_items: int, n_draws: int, rng: np.random.Generator
) -> sparse.csr_array:
    """(n_samples, n_items) indicators, ``n_draws`` in each row, mostly from its topic's pool."""
    pools = rng.integers(n_items, size=(n_topics, _POOL_FACTOR * n_draws))
    blocks = np.array_split(row_topics, 1 + len(row_topics) // _POOL_BLOCK_ROWS)
    columns, row_lengths = zip(
        *(_draw_block(pools[topics], n_items, n_draws, rng) for topics in blocks), strict=True
    )
    indices = np.concatenate(columns)
    indptr = np.append(0, np.cumsum(np.concatenate(row_lengths)))
    return csr(np.ones(len(indices), np.uint8), indices, indptr, (len(row_topics), n_items))


def _draw_block(
    pools: _Array, n_items: int, n_draws: int, rng: np.random.Generator
) -> tuple[_Array, _Array]:
    """Sorted distinct items of each row, one row after the other, and how many each has."""
    size = len(pools), 2 * n_draws + 8  # some draws repeat others
    tokens = np.take_along_axis(pools, rng.integers(pools.shape[1], size=size), axis=1)
    is_background = rng.random(size) >= _POOL_SHARE
    tokens[is_background] = rng.integers(n_items, size=np.count_nonzero(is_background))
    tokens.sort(axis=1)
    # A random key for each distinct item; the smallest ones are a random choice among them.
    keys = rng.random(size)
    keys[:, 1:][tokens[:, 1:] == tokens[:, :-1]] = np.inf
    limit = np.partition(keys, n_draws - 1, axis=1)[:, n_draws - 1 : n_draws]
    is_chosen = (keys <= limit) & np.isfinite(keys)
    return tokens[is_chosen].astype(np.int32), np.count_nonzero(is_chosen, axis=1)

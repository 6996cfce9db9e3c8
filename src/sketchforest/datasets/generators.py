"""Synthetic multi-label data shaped like real data.

Each row mixes two topics, from which its words and labels are drawn independently. Labels follow
Zipf's law, and rare labels belong to fewer topics than frequent ones. So the tail is predictable
and the head is noisy, as with real tags.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sketchforest.datasets._rows import csr
from sketchforest.datasets._shared_docs import described
from sketchforest.datasets.dataset import Dataset

_Array = np.ndarray

# Fitted to Delicious: label and word frequencies by rank, and the ranking quality of a forest and
# of the label frequencies alone.
_TOPIC_SHARES = (0.75, 0.25)  # of a row's tokens, from its first and second topic
_BACKGROUND = 0.05  # share of a topic's tokens drawn from all items
_RARE_IS_SPECIFIC = 0.8  # 0: rare items have as many topics as frequent ones
_WORD_COUNT_SPREAD = 1.2  # standard deviation of log counts: a few rows are very long
_DELICIOUS_TRAIN_SHARE = 12_920 / 16_105

# The fast generator: items per topic for each item in a row, the share of a row's items that comes
# from its topic, and rows per block, which bounds its memory.
_POOL_FACTOR = 4
_POOL_SHARE = 0.8
_POOL_BLOCK_ROWS = 10_000
_MOST_ITEMS = np.iinfo(np.int32).max  # indices have 32 bits


@dataclass(frozen=True)
class _Vocabulary:
    """Items with frequencies proportional to 1 / (rank + offset * n_items) ** exponent."""

    n_items: int
    exponent: float
    offset: float
    generality: float  # how evenly the most frequent item spreads over topics

    def topics(self, n_topics: int, rng: np.random.Generator) -> _Array:
        """(n_topics, n_items) probabilities, rows summing to 1."""
        ranks = 1.0 + rng.permutation(self.n_items)
        popularity = (ranks + self.offset * self.n_items) ** -self.exponent
        popularity /= popularity.sum()
        generality = self.generality * (popularity / popularity.max()) ** _RARE_IS_SPECIFIC
        # A gamma of small shape is near 0 in most topics and large in a few. Its mean is its shape,
        # so the division keeps the item's popularity.
        weights = rng.gamma(generality, size=(n_topics, self.n_items)) * popularity / generality
        weights /= weights.sum(axis=1, keepdims=True)
        shares: _Array = (1 - _BACKGROUND) * weights + _BACKGROUND * popularity
        return shares


@described
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
    """Generate binary words X and labels Y, both uint8 CSR.

    Every row has at least one word and one label. The means per row come out a few percent low if
    they are a large share of all labels or words.

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
    popularity = np.arange(1, n_topics + 1) ** -0.5
    size = (n_samples, len(_TOPIC_SHARES))
    row_topics = rng.choice(n_topics, size=size, p=popularity / popularity.sum())
    label_counts = 1 + rng.poisson(labels_per_row - 1, n_samples)
    length = rng.lognormal(sigma=_WORD_COUNT_SPREAD, size=n_samples)
    word_counts = 1 + np.rint((features_per_row - 1) * length / length.mean()).astype(np.int64)
    return Dataset(
        name="multilabel",
        Y=_draw_items(label_counts, row_topics, labels.topics(n_topics, rng), rng),
        X=_draw_items(word_counts, row_topics, words.topics(n_topics, rng), rng),
        feature_names=np.array([f"word{j}" for j in range(n_features)]),
        label_names=np.array([f"tag{j}" for j in range(n_labels)]),
    )


@described
def make_delicious_like(
    n_samples: int = 16_105,
    n_features: int = 500,
    n_labels: int = 983,
    labels_per_row: float = 19.0,
    features_per_row: float = 18.3,
    random_state: int | np.random.Generator | None = 0,
) -> Dataset:
    """Generate tag-suggestion data shaped like Delicious, split in the same proportion.

    Examples
    --------
    >>> data = make_delicious_like(n_samples=50)
    >>> data.Y.shape, len(data.splits["train"])
    ((50, 983), 40)
    """
    data = make_multilabel(
        n_samples, n_features, n_labels, labels_per_row, features_per_row, random_state
    )
    return split_rows(data, "delicious-like", round(n_samples * _DELICIOUS_TRAIN_SHARE))


@described
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
    """Generate binary words X and labels Y of any size, both uint8 CSR.

    Time and memory depend on the number of non-zeros alone. Each row has one topic; most of its
    words and labels come from the topic, the rest from all. Rows have exactly the given numbers of
    labels and features, or fewer if the topic runs out of them.

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


def split_rows(data: Dataset, name: str, n_train: int) -> Dataset:
    """Name the data and train on its first rows, which are exchangeable with the others."""
    train, test = np.split(np.arange(data.X.shape[0], dtype=np.int32), [n_train])
    return replace(data, name=name, splits={"train": train, "test": test})


def check_mean(name: str, mean: float, limit_name: str, limit: int) -> None:
    if limit > _MOST_ITEMS:
        raise ValueError(f"{limit_name} must be at most {_MOST_ITEMS} (2**31 - 1); got {limit}.")
    if not 1 <= mean <= limit:
        raise ValueError(f"{name} must be between 1 and {limit_name}={limit}; got {mean}.")


def _draw_items(
    counts: _Array, row_topics: _Array, topics: _Array, rng: np.random.Generator
) -> sparse.csr_array:
    """(n_samples, n_items) indicators: the first ``counts[i]`` distinct items drawn for row i."""
    n_samples, n_items = len(counts), topics.shape[1]
    # With more than half of the items, a row would not reveal its topics.
    counts = np.minimum(counts, max(1, n_items // 2))
    # The larger the share of the items, the more draws are repeats.
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
    """(n_tokens,): one item for each entry of `rows`, from one of the row's topics."""
    slots = rng.choice(len(_TOPIC_SHARES), size=len(rows), p=_TOPIC_SHARES)
    topic = row_topics[rows, slots]
    # One increasing ladder, with topic t on (t, t + 1], inverts all distributions at once.
    ladder = np.cumsum(topics, axis=1)
    ladder = ladder / ladder[:, -1:] + np.arange(len(topics))[:, np.newaxis]
    points = topic + rng.random(len(rows))
    items: _Array = np.searchsorted(ladder.ravel(), points) % topics.shape[1]
    return items


def _draw_from_pools(
    row_topics: _Array, n_topics: int, n_items: int, n_draws: int, rng: np.random.Generator
) -> sparse.csr_array:
    """(n_samples, n_items) indicators, ``n_draws`` per row, mostly from the pool of its topic."""
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
    """The sorted distinct items of all rows, concatenated, and the number of each row."""
    size = len(pools), 2 * n_draws + 8  # some draws repeat others
    tokens = np.take_along_axis(pools, rng.integers(pools.shape[1], size=size), axis=1)
    is_background = rng.random(size) >= _POOL_SHARE
    tokens[is_background] = rng.integers(n_items, size=np.count_nonzero(is_background))
    tokens.sort(axis=1)
    # Give each distinct item a random key; those with the smallest keys are a random choice.
    keys = rng.random(size)
    keys[:, 1:][tokens[:, 1:] == tokens[:, :-1]] = np.inf
    limit = np.partition(keys, n_draws - 1, axis=1)[:, n_draws - 1 : n_draws]
    is_chosen = (keys <= limit) & np.isfinite(keys)
    return tokens[is_chosen].astype(np.int32), np.count_nonzero(is_chosen, axis=1)

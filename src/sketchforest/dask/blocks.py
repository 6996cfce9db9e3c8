"""Data larger than any one machine: read block by block and shuffled into partitions."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from sketchforest._utils.sparse import checked_if_sparse
from sketchforest.dask.cluster import call, send
from sketchforest.datasets import Columns, Dataset, read, read_table
from sketchforest.datasets.files import ReadOptions
from sketchforest.datasets.table_files import table_format

if TYPE_CHECKING:
    from distributed import Client, Future

Block = tuple[Any, Any]  # rows of X and of Y


def are_files(X: object) -> bool:
    return isinstance(X, list | tuple) and all(isinstance(x, str | os.PathLike) for x in X)


def check_source(X: Any, Y: Any) -> None:
    """Raise unless rows can be read block by block."""
    if are_files(X):
        if not X:
            raise ValueError("X must list at least one file; got an empty list.")
        if Y is not None:
            raise ValueError(
                "Y must be None if X is a list of files; the labels are read from the files."
            )
        return
    if not (hasattr(X, "to_delayed") and hasattr(Y, "to_delayed")):
        raise ValueError(
            "X and Y must be Dask arrays or data frames, or X a list of files; got "
            f"{type(X).__name__} and {type(Y).__name__}. Use sketchforest.dask.fit for data in "
            "memory."
        )
    if count_blocks(X) != count_blocks(Y):
        raise ValueError(
            f"X and Y must be chunked alike; got {count_blocks(X)} and {count_blocks(Y)} chunks of "
            "rows. Use rechunk or repartition."
        )


def count_blocks(X: Any) -> int:
    return len(X) if are_files(X) else len(row_chunks(X))


def submit_blocks(
    client: "Client", X: Any, Y: Any, columns: Columns | None, options: ReadOptions
) -> "list[Future]":
    """Submit one task per file or chunk; each returns a `Block`."""
    if are_files(X):
        # Absolute, since workers may run in other folders.
        paths = [str(Path(path).absolute()) for path in X]
        read_block = send(client, partial(read_training_block, columns=columns, options=options))
        return [call(client, read_block, path) for path in paths]
    chunks_of_X, chunks_of_Y = row_chunks(X), row_chunks(Y)
    computed = client.compute([*chunks_of_X, *chunks_of_Y])
    pairs = zip(computed[: len(chunks_of_X)], computed[len(chunks_of_X) :], strict=True)
    make_block = send(client, as_block)
    return [call(client, make_block, x, y) for x, y in pairs]


def row_chunks(collection: Any) -> list[Any]:
    """Return the delayed chunks of rows, each with all columns."""
    if hasattr(collection, "rechunk") and collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    delayed = collection.to_delayed()
    return list(delayed.ravel() if isinstance(delayed, np.ndarray) else delayed)


def read_training_block(path: str, columns: Columns | None, options: ReadOptions) -> Block:
    """Read the rows of a file, or its training rows if it names a split."""
    dataset = read_file(path, columns, options)
    rows = dataset.splits.get("train")
    return (dataset.X, dataset.Y) if rows is None else (dataset.X[rows], dataset.Y[rows])


def read_file(path: str, columns: Columns | None, options: ReadOptions) -> Dataset:
    if columns is not None or table_format(path) is not None:
        dataset, texts = read_table(path, columns or Columns())
        if texts is not None:
            raise ValueError(
                "columns must not contain text, since each partition would learn its own "
                "vocabulary. Vectorize the text first, for example with HashingVectorizer."
            )
        return dataset
    return read(path, **options)


def as_block(X: Any, Y: Any) -> Block:
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"X and Y must be chunked alike; got a chunk of {X.shape[0]} and one of {Y.shape[0]} "
            "rows. Use rechunk or repartition."
        )
    # Check before indexing: scipy does not validate the indices of sparse matrices.
    return checked_if_sparse("X", X, merge=False), checked_if_sparse("Y", Y, merge=False)


def deal(block: Block, number: int, n_partitions: int, seed: int) -> list[Block]:
    """Deal the rows of a block to partitions at random, in equal shares.

    A task that runs again on another worker deals the same rows.
    """
    rng = np.random.default_rng([seed, number])
    n_rows = block[0].shape[0]
    partition = (rng.permutation(n_rows) + rng.integers(n_partitions)) % n_partitions
    rows = [np.flatnonzero(partition == wanted) for wanted in range(n_partitions)]
    return [(_take(block[0], of), _take(block[1], of)) for of in rows]


def join(pieces: Sequence[Block]) -> Block:
    filled = [piece for piece in pieces if piece[0].shape[0]]
    if not filled:
        raise ValueError(
            "X must have rows for every partition; one partition is empty. Use fewer partitions, "
            "or remove empty files and chunks."
        )
    of_X, of_Y = zip(*filled, strict=True)
    return _stack(of_X), _stack(of_Y)


def _take(values: Any, rows: np.ndarray) -> Any:
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]


def _stack(pieces: Sequence[Any]) -> Any:
    if hasattr(pieces[0], "iloc"):
        import pandas as pd

        return pd.concat(pieces)
    if sparse.issparse(pieces[0]):
        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)

"""Rows that fit on no machine: read block by block, and dealt to partitions at random."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from sketchforest._utils.sparse import checked_if_sparse
from sketchforest.datasets import Columns, Dataset, read, read_table
from sketchforest.datasets.files import ReadOptions
from sketchforest.datasets.table_files import table_format

if TYPE_CHECKING:
    from distributed import Client, Future

Block = tuple[Any, Any]  # rows of X and of Y


def are_files(X: object) -> bool:
    return isinstance(X, list | tuple) and all(isinstance(x, str | os.PathLike) for x in X)


def check_source(X: Any, Y: Any) -> None:
    """Raises unless rows can be read from it block by block."""
    if are_files(X):
        if not X:
            raise ValueError("X must name at least one file; got none.")
        if Y is not None:
            raise ValueError("Y must be left out where X is a list of files, which have both.")
        return
    if not (hasattr(X, "to_delayed") and hasattr(Y, "to_delayed")):
        raise ValueError(
            "X and Y must be arrays or frames of Dask, or X a list of files; got "
            f"{type(X).__name__} and {type(Y).__name__}. Use sketchforest.dask.fit for rows that "
            "fit into memory."
        )
    if count_blocks(X) != count_blocks(Y):
        raise ValueError(
            f"X and Y must have the same chunks of rows; got {count_blocks(X)} and "
            f"{count_blocks(Y)} chunks. Use rechunk or repartition."
        )


def count_blocks(X: Any) -> int:
    return len(X) if are_files(X) else len(row_chunks(X))


def submit_blocks(
    client: "Client", X: Any, Y: Any, columns: Columns | None, options: ReadOptions
) -> "list[Future]":
    """A task for each file or chunk, of which the result is a `Block`."""
    if are_files(X):
        # By a name that does not depend on the folder that a worker happens to be in.
        paths = [str(Path(path).absolute()) for path in X]
        return [
            client.submit(read_training_block, path, columns, options, pure=False) for path in paths
        ]
    parts_of_X, parts_of_Y = row_chunks(X), row_chunks(Y)
    computed = client.compute([*parts_of_X, *parts_of_Y])
    of_X, of_Y = computed[: len(parts_of_X)], computed[len(parts_of_X) :]
    return [client.submit(as_block, x, y, pure=False) for x, y in zip(of_X, of_Y, strict=True)]


def row_chunks(collection: Any) -> list[Any]:
    """Delayed blocks of rows, with all columns each."""
    if hasattr(collection, "rechunk") and collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    delayed = collection.to_delayed()
    return list(delayed.ravel() if isinstance(delayed, np.ndarray) else delayed)


def read_training_block(path: str, columns: Columns | None, options: ReadOptions) -> Block:
    """The rows of a file, or those that it names as training rows."""
    dataset = read_file(path, columns, options)
    rows = dataset.splits.get("train")
    return (dataset.X, dataset.Y) if rows is None else (dataset.X[rows], dataset.Y[rows])


def read_file(path: str, columns: Columns | None, options: ReadOptions) -> Dataset:
    if columns is not None or table_format(path) is not None:
        dataset, texts = read_table(path, columns or Columns())
        if texts is not None:
            raise ValueError(
                "columns must be numbers and labels in partitions, whose words would have other "
                "numbers each; got text. Make features of it first, as by HashingVectorizer."
            )
        return dataset
    return read(path, **options)


def as_block(X: Any, Y: Any) -> Block:
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"X and Y must have the same chunks of rows; got one of {X.shape[0]} and one of "
            f"{Y.shape[0]} rows. Use rechunk or repartition."
        )
    # Before rows are picked by scipy, which trusts the indices.
    return checked_if_sparse("X", X, merge=False), checked_if_sparse("Y", Y, merge=False)


def deal(block: Block, number: int, n_partitions: int, seed: int) -> list[Block]:
    """The rows of a block at random, as many for each partition; the same ones whenever and
    wherever it is asked for."""
    rng = np.random.default_rng([seed, number])
    n_rows = block[0].shape[0]
    partition = (rng.permutation(n_rows) + rng.integers(n_partitions)) % n_partitions
    rows = [np.flatnonzero(partition == wanted) for wanted in range(n_partitions)]
    return [(_take(block[0], of), _take(block[1], of)) for of in rows]


def join(pieces: Sequence[Block]) -> Block:
    filled = [piece for piece in pieces if piece[0].shape[0]]
    if not filled:
        raise ValueError(
            "X must have rows for each partition; got one without any. Use fewer partitions, or "
            "leave out empty files and chunks."
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

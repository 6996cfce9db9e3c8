"""Predictions for data larger than any one machine, computed block by block where the data are."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from scipy import sparse

from sketchforest import load_forest
from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.predicting.partitioned import PartitionedForest
from sketchforest._utils.files import written_whole
from sketchforest.dask.blocks import read_file, row_chunks
from sketchforest.dask.cluster import call, resolve_client, results_as_done, send
from sketchforest.datasets import Columns
from sketchforest.datasets.files import ReadOptions

if TYPE_CHECKING:
    import dask.array as da
    from distributed import Client, Future

AnyModel = TreesEstimator | PartitionedForest
ModelOrPath = AnyModel | str | os.PathLike[str]


def predict(model: ModelOrPath, X: Any) -> "da.Array":
    """Predict a Dask collection lazily, block by block.

    Parameters
    ----------
    model : fitted estimator, str or path
        A path must name a model file or folder that all workers can open. Each worker loads it
        once, and workers on one machine share it in memory.
    X : Dask array or data frame

    Returns
    -------
    Dask array
        What `model.predict` returns, not yet computed.

    Examples
    --------
    >>> import dask.array as da
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import predict
    >>> forest = RandomForestClassifier(10).fit([[0], [1], [2]], [[0, 1], [1, 0], [1, 1]])
    >>> predict(forest, da.arange(100, chunks=25)[:, None]).compute().shape
    (100, 2)
    """
    return _map_blocks(model, X, "predict")[0]


def predict_proba(model: ModelOrPath, X: Any) -> "da.Array":
    """Predict the probabilities of a Dask collection lazily, block by block.

    Parameters
    ----------
    model, X : as for `predict`

    Returns
    -------
    Dask array
        What `model.predict_proba` returns, not yet computed.

    Examples
    --------
    >>> import dask.array as da
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import predict_proba
    >>> forest = RandomForestClassifier(10).fit([[0], [1], [2]], [[0, 1], [1, 0], [1, 1]])
    >>> predict_proba(forest, da.arange(100, chunks=25)[:, None])[:5].compute().shape
    (5, 2)
    """
    return _map_blocks(model, X, "predict_proba")[0]


def predict_topk(model: ModelOrPath, X: Any, k: int = 5) -> "tuple[da.Array, da.Array]":
    """Predict the k most probable labels of a Dask collection lazily, block by block.

    Parameters
    ----------
    model, X : as for `predict`
    k : int, default=5
        Number of labels per row.

    Returns
    -------
    labels, scores : (n_samples, k) Dask arrays
        What `model.predict_topk` returns, not yet computed.

    Examples
    --------
    >>> import dask.array as da
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import predict_topk
    >>> forest = RandomForestClassifier(10).fit([[0], [1], [2]], [[0, 1], [1, 0], [1, 1]])
    >>> labels, scores = predict_topk(forest, da.arange(100, chunks=25)[:, None], k=1)
    >>> labels.chunks
    ((25, 25, 25, 25), (1,))
    """
    labels, scores = _map_blocks(model, X, "predict_topk", k=k)
    return labels, scores


def predict_files(
    model: ModelOrPath,
    files: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    client: "Client | None" = None,
    *,
    k: int = 5,
    columns: Columns | None = None,
    **options: Unpack[ReadOptions],
) -> list[Path]:
    """Predict the k most probable labels of the rows of files, and write them to files.

    The workers read and write the files, so they must be able to open them under the same paths.
    Further keyword arguments are passed to the file reader, such as ``n_features`` for svmlight.

    Parameters
    ----------
    model : as for `predict`
    files : list of str or path
        Files of any format that `sketchforest.datasets.read` knows.
    out : str or path
        Folder to write to. The predictions for ``NAME`` go to ``NAME.npz``, which has the arrays
        ``labels`` and ``scores``.
    client : distributed.Client, optional
        Defaults to the client created last.
    k : int, default=5
        Number of labels per row.
    columns : Columns, optional
        The roles of the columns, for files that are tables.

    Returns
    -------
    list of Path
        The files written, in the order of `files`.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from distributed import Client
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import predict_files
    >>> from sketchforest.datasets import make_multilabel, write
    >>> data = make_multilabel(100, 30, 20, labels_per_row=2, features_per_row=8)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.Y)
    >>> with (
    ...     Client(processes=False, dashboard_address=None) as client,
    ...     tempfile.TemporaryDirectory() as folder,
    ... ):
    ...     file = os.path.join(folder, "rows.npz")
    ...     write(data, file)
    ...     [written] = predict_files(forest, [file], os.path.join(folder, "found"), client, k=3)
    ...     labels = np.load(written)["labels"]
    >>> labels.shape
    (100, 3)
    """
    client = resolve_client(client)
    folder = Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    targets = {str(Path(file).absolute()): folder / f"{Path(file).name}.npz" for file in files}
    predict_file = partial(_predict_file, _source(model), k=k, columns=columns, options=options)

    def submit(paths: Sequence[str]) -> "list[Future]":
        sent = send(client, predict_file)
        return [call(client, sent, path, str(targets[path])) for path in paths]

    for _ in results_as_done(client, list(targets), submit):
        pass
    return list(targets.values())


@dataclass(frozen=True)
class ModelPath:
    """A model file or folder that all workers can open."""

    path: str
    modified: float  # so that a worker notices when the model is replaced


def _source(model: ModelOrPath) -> AnyModel | ModelPath:
    if not isinstance(model, str | os.PathLike):
        return model
    path = Path(model).absolute()
    return ModelPath(str(path), path.stat().st_mtime)


@lru_cache(maxsize=2)
def _load(source: ModelPath) -> AnyModel:
    return load_forest(source.path)


def _map_blocks(model: ModelOrPath, X: Any, method: str, **arguments: int) -> "list[da.Array]":
    """Return the arrays that a method returns, mapped over the blocks of rows."""
    import dask
    import dask.array as da

    if not hasattr(X, "to_delayed"):
        raise ValueError(
            f"X must be a Dask array or data frame; got {type(X).__name__}. For data in memory, "
            f"use model.{method}."
        )
    source = _source(model)
    delayed = dask.delayed(source, traverse=False)
    blocks = [dask.delayed(_predict)(delayed, rows, method, **arguments) for rows in row_chunks(X)]
    lengths = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(blocks)
    return [
        da.concatenate(
            [
                da.from_delayed(block[at], (length, *like.shape[1:]), meta=like)
                for block, length in zip(blocks, lengths, strict=True)
            ],
            allow_unknown_chunksizes=True,
        )
        for at, like in enumerate(_predict(source, None, method, **arguments))
    ]


def _predict(
    source: AnyModel | ModelPath, rows: Any, method: str, **arguments: int
) -> tuple[Any, ...]:
    """Call a method of the model on a block of rows; return empty arrays if there are none."""
    model = _load(source) if isinstance(source, ModelPath) else source
    twin = object.__new__(type(model))  # shares all arrays, unlike a copy
    twin.__dict__.update(model.__dict__)
    if "n_jobs" in model.get_params():
        twin.n_jobs = 1  # each thread of a worker has a block of its own
    if rows is not None and not hasattr(rows, "iloc") and not sparse.issparse(rows):
        rows = np.asarray(rows)
    is_empty = rows is None or rows.shape[0] == 0
    found = getattr(twin, method)(_one_row(model) if is_empty else rows, **arguments)
    found = found if isinstance(found, tuple) else (found,)
    return tuple(each[:0] for each in found) if is_empty else found


def _one_row(model: AnyModel) -> Any:
    """Return a row of zeros with the feature names of the model."""
    zeros = np.zeros((1, model.n_features_in_))
    if not hasattr(model, "feature_names_in_"):
        return zeros
    import pandas as pd

    return pd.DataFrame(zeros, columns=model.feature_names_in_)


def _predict_file(
    source: AnyModel | ModelPath,
    path: str,
    out: str,
    k: int,
    columns: Columns | None,
    options: ReadOptions,
) -> None:
    rows = read_file(path, columns, options).X
    labels, scores = _predict(source, rows, "predict_topk", k=k)
    with written_whole(out) as draft:
        np.savez(draft, labels=labels, scores=scores)

"""Predictions of rows that fit on no machine: block by block, where the blocks are."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from scipy import sparse

from sketchforest import load_forest
from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.predicting.partitioned import PartitionedForest
from sketchforest._files import written_whole
from sketchforest.dask.blocks import read_file, row_chunks
from sketchforest.dask.clients import the_client
from sketchforest.dask.results import results_as_done
from sketchforest.datasets import Columns
from sketchforest.datasets.files import ReadOptions

if TYPE_CHECKING:
    import dask.array as da
    from distributed import Client, Future

AnyModel = TreesEstimator | PartitionedForest


@dataclass(frozen=True)
class ModelPath:
    """A model file or folder that workers can open by the same name."""

    path: str
    changed: float  # when: another model may be put there

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> "ModelPath":
        found = Path(path).absolute()
        return cls(str(found), found.stat().st_mtime)


def predict(model: AnyModel | str | os.PathLike[str], X: Any) -> "da.Array":
    """`model.predict` of rows that fit on no machine: nothing is gathered.

    Parameters
    ----------
    model : a fitted estimator, or str or path
        Or the name of a file or folder that all workers can open: then each loads it once, and
        those of one machine map it together.
    X : array or frame of Dask

    Returns
    -------
    Dask array, of which nothing is computed yet

    Examples
    --------
    >>> import dask.array as da
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import predict
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(100, 30, 20, labels_per_row=2, features_per_row=8)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.Y.toarray())
    >>> X = da.from_array(data.X.toarray(), chunks=(25, -1))
    >>> predict(forest, X).compute().shape
    (100, 20)
    """
    return _mapped(model, X, "predict", {})[0]


def predict_proba(model: AnyModel | str | os.PathLike[str], X: Any) -> "da.Array":
    """`model.predict_proba` of rows that fit on no machine: nothing is gathered.

    Parameters
    ----------
    model : a fitted estimator, or str or path
        Or the name of a file or folder that all workers can open: then each loads it once, and
        those of one machine map it together.
    X : array or frame of Dask

    Returns
    -------
    Dask array, of which nothing is computed yet

    Examples
    --------
    >>> import dask.array as da
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import predict_proba
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(100, 30, 20, labels_per_row=2, features_per_row=8)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.Y.toarray())
    >>> X = da.from_array(data.X.toarray(), chunks=(25, -1))
    >>> predict_proba(forest, X).compute().shape
    (100, 20)
    """
    return _mapped(model, X, "predict_proba", {})[0]


def predict_topk(
    model: AnyModel | str | os.PathLike[str], X: Any, k: int = 5
) -> "tuple[da.Array, da.Array]":
    """`model.predict_topk` of rows that fit on no machine: nothing is gathered.

    Parameters
    ----------
    model : a fitted estimator, or str or path
        Or the name of a file or folder that all workers can open: then each loads it once, and
        those of one machine map it together.
    X : array or frame of Dask
    k : int, default=5

    Returns
    -------
    labels, scores : (n_samples, k) Dask arrays, of which nothing is computed yet

    Examples
    --------
    >>> import dask.array as da
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import predict_topk
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(100, 30, 20, labels_per_row=2, features_per_row=8)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.Y.toarray())
    >>> X = da.from_array(data.X.toarray(), chunks=(25, -1))
    >>> predict_topk(forest, X, k=3)[0].chunks
    ((25, 25, 25, 25), (3,))
    """
    labels, scores = _mapped(model, X, "predict_topk", {"k": k})
    return labels, scores


def predict_files(
    model: AnyModel | str | os.PathLike[str],
    files: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    client: "Client | None" = None,
    *,
    k: int = 5,
    columns: Columns | None = None,
    **options: Unpack[ReadOptions],
) -> list[Path]:
    """The k most probable labels of the rows of files, in files.

    Workers read the ones and write the others, so that they must be able to open both by the same
    name. Other keywords are options of the reader, such as ``n_features`` of svmlight.

    Parameters
    ----------
    model : a fitted estimator, or the name of a file or folder that all workers can open
    files : names of files of any known format
    out : str or path
        The folder to write to: for each file, one of the same name with ``.npz`` behind it, with
        the arrays ``labels`` and ``scores``.
    client : distributed.Client, optional
        The one that was made last, if not given.
    k : int, default=5
    columns : Columns, optional
        What the columns of tables mean.

    Returns
    -------
    The files that were written, in order

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
    ...     [found] = predict_files(forest, [file], os.path.join(folder, "found"), client, k=3)
    ...     labels = np.load(found)["labels"]
    >>> labels.shape
    (100, 3)
    """
    client = the_client(client)
    folder = Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    paths = {str(Path(file).absolute()): folder / f"{Path(file).name}.npz" for file in files}

    def submit(wanted: Sequence[str]) -> "list[Future]":
        source = client.submit(_identity, _source(model), pure=False)
        return [
            client.submit(_predict_file, source, path, paths[path], k, columns, options, pure=False)
            for path in wanted
        ]

    for _ in results_as_done(client, list(paths), submit):
        pass
    return list(paths.values())


def _source(model: AnyModel | str | os.PathLike[str]) -> AnyModel | ModelPath:
    return ModelPath.of(model) if isinstance(model, str | os.PathLike) else model


def _identity(value: object) -> object:
    return value


@lru_cache(maxsize=2)
def _opened(path: ModelPath) -> AnyModel:
    return load_forest(path.path)


def _on_one_thread(source: AnyModel | ModelPath) -> Any:
    """The model, for each thread of a worker has a block of its own; the user's stays as it is."""
    model = _opened(source) if isinstance(source, ModelPath) else source
    twin = object.__new__(type(model))  # shares all: a copy would make the tables anew
    twin.__dict__.update(model.__dict__)
    if "n_jobs" in model.get_params():
        twin.n_jobs = 1
    return twin


def _mapped(
    model: AnyModel | str | os.PathLike[str], X: Any, method: str, arguments: dict[str, int]
) -> "list[da.Array]":
    """The arrays that the method gives, each mapped over the blocks of rows."""
    import dask
    import dask.array as da

    if not hasattr(X, "to_delayed"):
        raise ValueError(
            f"X must be an array or a frame of Dask; got {type(X).__name__}. Use the model's own "
            "methods for rows in memory."
        )
    source = _source(model)
    empty = _run(source, None, method, arguments)
    delayed = dask.delayed(source, traverse=False)
    blocks = [dask.delayed(_run)(delayed, rows, method, arguments) for rows in row_chunks(X)]
    lengths = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(blocks)
    return [
        da.concatenate(
            [
                da.from_delayed(
                    dask.delayed(_item)(block, at), (length, *like.shape[1:]), meta=like
                )
                for block, length in zip(blocks, lengths, strict=True)
            ],
            allow_unknown_chunksizes=True,
        )
        for at, like in enumerate(empty)
    ]


def _run(
    source: AnyModel | ModelPath, rows: Any, method: str, arguments: dict[str, int]
) -> tuple[Any, ...]:
    """What the method gives for the rows of a block; None, and a block that a filter has left
    without rows, have none."""
    model = _on_one_thread(source)
    if rows is not None and not hasattr(rows, "iloc") and not sparse.issparse(rows):
        rows = np.asarray(rows)
    is_empty = rows is None or rows.shape[0] == 0
    found = getattr(model, method)(_one_row(model) if is_empty else rows, **arguments)
    found = found if isinstance(found, tuple) else (found,)
    return tuple(each[:0] for each in found) if is_empty else found


def _one_row(model: AnyModel) -> Any:
    """Of zeros, with the names that the model knows."""
    zeros = np.zeros((1, model.n_features_in_))
    if not hasattr(model, "feature_names_in_"):
        return zeros
    import pandas as pd

    return pd.DataFrame(zeros, columns=model.feature_names_in_)


def _item(found: tuple[Any, ...], at: int) -> Any:
    return found[at]


def _predict_file(
    source: Any,
    path: str,
    out: Path,
    k: int,
    columns: Columns | None,
    options: ReadOptions,
) -> None:
    rows = read_file(path, columns, options).X
    labels, scores = _run(source, rows, "predict_topk", {"k": k})
    with written_whole(out) as draft:
        np.savez(draft, labels=labels, scores=scores)

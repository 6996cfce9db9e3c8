"""Rows that fit on no machine: each worker grows its share of the trees on its share of them."""

import os
import tempfile
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sketchforest import load_forest
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._estimators.predicting.partitioned import PartitionedForest
from sketchforest._progress import stage, watched
from sketchforest._saving.model_folder import check_folder, write_index, write_part
from sketchforest.dask.blocks import Block, check_source, count_blocks, deal, join, submit_blocks
from sketchforest.dask.clients import the_client
from sketchforest.dask.results import results_as_done
from sketchforest.datasets import Columns
from sketchforest.datasets.files import ReadOptions

if TYPE_CHECKING:
    from distributed import Client, Future

# A worker grows one partition at a time, with all its threads: memory for one is enough.
_ONE_PARTITION = threading.Lock()


def fit_partitioned(
    forest: ForestMixin,
    X: Any,
    Y: Any = None,
    client: "Client | None" = None,
    *,
    out: str | os.PathLike[str],
    n_partitions: int | None = None,
    shuffle: bool = True,
    columns: Columns | None = None,
    **options: Unpack[ReadOptions],
) -> PartitionedForest:
    """A forest of which each part of the trees was grown on a part of the rows, as a folder.

    A partition must fit into the memory of a worker, and nothing else must: rows go from worker to
    worker, and parts of the model come here one by one. Other keywords are options of the reader
    of files, such as ``n_features`` and ``n_labels`` of svmlight.

    Parameters
    ----------
    forest : a forest of this library
        With `n_estimators` trees in all partitions together. It stays as it is.
    X, Y : arrays or frames of Dask with the same chunks of rows; or a list of files, without Y
        Files of any known format (npz, svmlight, xc, Parquet, csv, ...), which all workers can
        open by the same name. A classifier needs an indicator matrix Y.
    client : distributed.Client, optional
        The one that was made last, if not given.
    out : str or path
        A new folder for the model, on this machine. `load_forest` opens it.
    n_partitions : int, optional
        As many as there are workers, if not given.
    shuffle : bool, default=True
        Deal the rows to partitions at random first. Each row is read once, and sent once over the
        network; while that lasts, all rows together are in the memory of the workers, or on their
        disks. False: the rows are in random order already, and each file or chunk is a partition.
    columns : Columns, optional
        What the columns of tables mean.

    Returns
    -------
    The forest in the folder: averages over all trees, of all parts.

    Examples
    --------
    >>> import os, tempfile
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import fit_partitioned
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(100, 30, 20, labels_per_row=2, features_per_row=8)
    >>> X, Y = (da.from_array(M.toarray(), chunks=(25, -1)) for M in (data.X, data.Y))
    >>> with (
    ...     Client(processes=False, dashboard_address=None) as client,
    ...     tempfile.TemporaryDirectory() as folder,
    ... ):
    ...     out = os.path.join(folder, "model")
    ...     forest = fit_partitioned(
    ...         RandomForestClassifier(10), X, Y, client, out=out, n_partitions=2
    ...     )
    ...     found = forest.predict_proba(data.X[:5]).shape
    >>> forest.n_estimators_, found
    (10, (5, 20))
    """
    client = the_client(client)
    check_folder(out)
    n_trees = _n_trees(forest)
    check_source(X, Y)
    n_blocks = count_blocks(X)
    if n_partitions is None or not shuffle:
        n_workers = len(client.nthreads()) or 1
        n_partitions = min(n_workers, n_trees) if shuffle else n_blocks
    if not 1 <= n_partitions <= n_trees:
        raise ValueError(
            f"n_partitions must be from 1 to n_estimators={n_trees}, so that each has a tree; got "
            f"{n_partitions}."
        )
    seed = int(check_random_state(forest.get_params()["random_state"]).randint(2**31 - 1))
    shares = [share_of_part(forest, part, n_partitions, seed) for part in range(n_partitions)]

    def submit(parts: Sequence[int]) -> "list[Future]":
        blocks = submit_blocks(client, X, Y, columns, options)
        if shuffle:
            pieces = _dealt(client, blocks, parts, n_partitions, seed)
        else:
            pieces = [[blocks[part]] for part in parts]
        return [
            client.submit(_grow_part, shares[part], of_part, pure=False)
            for part, of_part in zip(parts, pieces, strict=True)
        ]

    with (
        watched(shows_ends=True) if forest.get_params()["verbose"] else nullcontext(),
        stage("growing partitions", n_partitions) as shown,
    ):
        for part, content in results_as_done(client, range(n_partitions), submit):
            write_part(out, part, content)
            shown.advance()
    write_index(out, n_partitions)
    return cast(PartitionedForest, load_forest(out))


def _n_trees(forest: ForestMixin) -> int:
    if not isinstance(forest, ForestMixin):
        raise ValueError(f"forest must be a forest of sketchforest; got {type(forest).__name__}.")
    n_trees = forest.get_params()["n_estimators"]
    if n_trees == "auto":
        raise ValueError("n_estimators must be an int in partitions; got 'auto'. Give a number.")
    return int(n_trees)


def _dealt(
    client: "Client",
    blocks: "Sequence[Future]",
    parts: Sequence[int],
    n_partitions: int,
    seed: int,
) -> "list[list[Future]]":
    """For each of these partitions, its rows of each block."""
    dealt = [
        client.submit(deal, block, number, n_partitions, seed, pure=False)
        for number, block in enumerate(blocks)
    ]
    return [
        [client.submit(itemgetter(part), of_block, pure=False) for of_block in dealt]
        for part in parts
    ]


def share_of_part(forest: ForestMixin, part: int, n_parts: int, seed: int) -> ForestMixin:
    """What a part grows: its share of the trees, by a seed of its own."""
    n_trees = int(forest.get_params()["n_estimators"])
    first, end = (number * n_trees // n_parts for number in (part, part + 1))
    share: ForestMixin = clone(forest).set_params(
        n_estimators=end - first,
        random_state=int(np.random.SeedSequence([seed, part]).generate_state(1)[0]),
        verbose=0,
        warm_start=False,
    )
    return share


def _grow_part(forest: ForestMixin, pieces: Sequence[Block]) -> bytes:
    """On a worker: the model file of one partition."""
    from distributed import get_worker

    X, Y = join(pieces)
    if getattr(Y, "ndim", 2) == 1 and hasattr(forest, "predict_proba"):
        raise ValueError(
            "Y must be an indicator matrix in partitions, of which one may lack a class; got one "
            "class a row. Use sklearn.preprocessing.LabelBinarizer(sparse_output=True)."
        )
    with _ONE_PARTITION, tempfile.TemporaryDirectory() as folder:
        fitted = clone(forest).set_params(n_jobs=get_worker().state.nthreads).fit(X, Y)
        path = Path(folder) / "part.sf"
        fitted.set_params(n_jobs=forest.get_params()["n_jobs"]).save(path)
        return path.read_bytes()

"""A forest on data larger than any one machine: each worker sees some of the rows."""

import os
import tempfile
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sketchforest import load_forest
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._estimators.predicting.partitioned import PartitionedForest
from sketchforest._saving.model_folder import check_folder, write_index, write_part
from sketchforest._utils.progress import stage, watched
from sketchforest.dask.blocks import Block, check_source, count_blocks, deal, join, submit_blocks
from sketchforest.dask.cluster import call, check_n_trees, resolve_client, results_as_done, send
from sketchforest.datasets import Columns
from sketchforest.datasets.files import ReadOptions

if TYPE_CHECKING:
    from distributed import Client, Future

# A worker grows one partition at a time with all its threads, so it needs memory for only one.
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
    """Fit a forest whose parts each see a part of the rows, and save it to a folder.

    Each partition must fit in the memory of one worker. Rows move between workers, and this
    machine receives only the finished parts of the model, one at a time. Further keyword arguments
    are passed to the file reader, for example ``n_features`` and ``n_labels`` for svmlight.

    Parameters
    ----------
    forest : forest estimator
        `n_estimators` is the number of trees in all partitions together. Not modified.
    X, Y : Dask arrays or data frames, chunked alike; or X a list of files and Y None
        Files may have any format that `sketchforest.datasets.read` knows (npz, svmlight, xc,
        Parquet, csv, ...). All workers must be able to open them under the same path. Classifiers
        need Y as an indicator matrix.
    client : distributed.Client, optional
        Defaults to the client created last.
    out : str or path
        New folder for the model, on this machine. `load_forest` opens it.
    n_partitions : int, optional
        Defaults to the number of workers.
    shuffle : bool, default=True
        Shuffle the rows across partitions first. Each row is read once and sent over the network
        once; meanwhile the workers hold the whole data set in memory or spill it to disk. With
        False, each file or chunk is one partition; use it only if the rows are in random order.
    columns : Columns, optional
        The roles of the columns, for files that are tables.

    Returns
    -------
    forest : the fitted forest, averaging over the trees of all parts

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
    client = resolve_client(client)
    check_folder(out)
    n_trees = check_n_trees(forest)
    check_source(X, Y)
    n_blocks = count_blocks(X)
    if n_partitions is None or not shuffle:
        n_workers = len(client.nthreads()) or 1
        n_partitions = min(n_workers, n_trees) if shuffle else n_blocks
    if not 1 <= n_partitions <= n_trees:
        raise ValueError(
            f"n_partitions must be from 1 to n_estimators={n_trees}, so that each partition grows "
            f"at least one tree; got {n_partitions}."
        )
    seed = int(check_random_state(forest.get_params()["random_state"]).randint(2**31 - 1))
    shares = [share_of_part(forest, part, n_partitions, seed) for part in range(n_partitions)]

    def submit(parts: Sequence[int]) -> "list[Future]":
        blocks = submit_blocks(client, X, Y, columns, options)
        if shuffle:
            deal_block = send(client, partial(deal, n_partitions=n_partitions, seed=seed))
            dealt = [call(client, deal_block, block, number) for number, block in enumerate(blocks)]
            pieces = [[client.submit(itemgetter(n), d, pure=False) for d in dealt] for n in parts]
        else:
            pieces = [[blocks[part]] for part in parts]
        return [
            call(client, send(client, partial(_grow_part, shares[part])), of_part)
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


def share_of_part(forest: ForestMixin, part: int, n_parts: int, seed: int) -> ForestMixin:
    """Return the forest to fit on one partition: its share of the trees, with its own seed."""
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
    """Grow one partition on a worker; return its model file."""
    from distributed import get_worker

    X, Y = join(pieces)
    if getattr(Y, "ndim", 2) == 1 and hasattr(forest, "predict_proba"):
        raise ValueError(
            "Y must be an indicator matrix for a partitioned fit, since a partition may lack some "
            "classes; got one class per row. Encode it with "
            "sklearn.preprocessing.LabelBinarizer(sparse_output=True)."
        )
    with _ONE_PARTITION, tempfile.TemporaryDirectory() as folder:
        fitted = clone(forest).set_params(n_jobs=get_worker().state.nthreads).fit(X, Y)
        path = Path(folder) / "part.sf"
        fitted.set_params(n_jobs=forest.get_params()["n_jobs"]).save(path)
        return path.read_bytes()

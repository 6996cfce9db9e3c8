"""One forest on a cluster whose workers can hold all rows."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from sketchforest import _core
from sketchforest._estimators.fitting.checkpoints import checkpointed
from sketchforest._estimators.fitting.growing import grow
from sketchforest._estimators.fitting.preparation import prepare
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._trees.grow import KeptTrees, tree_grower
from sketchforest._trees.model import Tree
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.problem import GrowSettings, TrainingData
from sketchforest._utils.progress import stage, watched
from sketchforest._utils.typing import MatrixLike, WeightsLike
from sketchforest.dask.broadcasting import broadcast
from sketchforest.dask.cluster import (
    call,
    check_n_trees,
    n_threads,
    resolve_client,
    results_as_done,
)

if TYPE_CHECKING:
    from distributed import Client, Future

AnyForest = TypeVar("AnyForest", bound=ForestMixin)
# A task grows a few trees, which are lost together. A task costs the scheduler about 1 ms, so no
# thread gets more than this many tasks unless its trees are too many for them.
MAX_TREES_PER_TASK, TASKS_PER_THREAD = 8, 16


def fit(
    forest: AnyForest,
    X: MatrixLike,
    Y: MatrixLike,
    client: "Client | None" = None,
    *,
    sample_weight: WeightsLike = None,
    shared_dir: str | os.PathLike[str] | None = None,
    checkpoint_dir: str | os.PathLike[str] | None = None,
) -> AnyForest:
    """Fit a forest on all workers of a Dask cluster.

    The result is bit-identical to `forest.fit(X, Y)`. X is encoded on this machine and sent to each
    worker once. If a worker dies, only the trees it was growing are grown again. ``verbose=1``
    shows progress.

    Parameters
    ----------
    forest : forest estimator
        Each thread of a worker grows one tree at a time; `n_jobs` applies to this machine only.
    X, Y, sample_weight : as in `forest.fit`
    client : distributed.Client, optional
        Defaults to the client created last.
    shared_dir : str or path, optional
        Folder that this machine and all workers can open under the same path. The data are passed
        through a file there, and workers on one machine share it in memory. Without it, the
        scheduler and each worker process hold a copy of the data.
    checkpoint_dir : str or path, optional
        As in `forest.fit`; a folder on this machine.

    Returns
    -------
    forest : the fitted estimator

    Examples
    --------
    >>> from distributed import Client
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.dask import fit
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(100, 30, 20, labels_per_row=2, features_per_row=8)
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     forest = fit(RandomForestClassifier(10), data.X, data.Y, client)
    >>> len(forest)
    10
    """
    client = resolve_client(client)
    check_n_trees(forest)
    for name, given in (("X", X), ("Y", Y)):
        if hasattr(given, "__dask_graph__"):
            raise ValueError(
                f"{name} must be in memory on this machine; got a Dask collection. Use "
                "sketchforest.dask.fit_partitioned for data larger than any one machine."
            )
    of_fit = prepare(forest, X, Y, sample_weight)
    if of_fit.changes_nothing:
        return forest
    with checkpointed(checkpoint_dir, of_fit) as (prepared, keep):
        grow_many = partial(grow_on_workers, client, shared_dir)
        return forest._commit(prepared, *grow(prepared, keep, grow_many))


def grow_on_workers(
    client: "Client",
    shared_dir: str | os.PathLike[str] | None,
    data: TrainingData,
    settings: GrowSettings,
    trees: range,
    n_jobs: int | None,
    verbose: int,
    kept: KeptTrees | None,
) -> list[Tree]:
    """Grow the trees as `grow_trees` does, on the workers."""
    found = {} if kept is None else {number: kept.get(number) for number in trees}
    grown = {number: tree for number, tree in found.items() if tree is not None}
    missing = [number for number in trees if number not in grown]
    grow_batch = partial(_grow_batch, tree_grower(data, settings, _core.StopFlag()))
    with (
        watched(shows_ends=True) if verbose else nullcontext(),
        stage("growing trees", len(trees)) as shown,
        broadcast(client, grow_batch, shared_dir) as send_data,
    ):
        shown.advance(len(grown))
        for number, tree in _trees_as_done(client, send_data, missing):
            grown[number] = _with_feature_map(tree, data.feature_map)
            if kept is not None:
                kept.put(number, grown[number])
            shown.advance()
    return [grown[number] for number in trees]


def _trees_as_done(
    client: "Client", send_data: "Callable[[], Future]", missing: Sequence[int]
) -> Iterator[tuple[int, Tree]]:
    n_per_task = len(missing) // (TASKS_PER_THREAD * n_threads(client))
    size = min(max(1, n_per_task), MAX_TREES_PER_TASK)
    batches = [tuple(missing[first : first + size]) for first in range(0, len(missing), size)]

    def submit(wanted: Sequence[tuple[int, ...]]) -> "list[Future]":
        grow_batch = send_data()
        return [call(client, grow_batch, batch) for batch in wanted]

    for batch, grown in results_as_done(client, batches, submit):
        yield from zip(batch, grown, strict=True)


def _grow_batch(grow_tree: Callable[[int], Tree], batch: tuple[int, ...]) -> list[Tree]:
    """Grow trees on a worker; the client has the feature map already."""
    return [_with_feature_map(grow_tree(number), None) for number in batch]


def _with_feature_map(tree: Tree, feature_map: FeatureMap | None) -> Tree:
    if tree.directions is None:
        return tree
    return replace(tree, directions=replace(tree.directions, feature_map=feature_map))  # type: ignore[arg-type]

"""One forest on all rows: its trees, grown on workers."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sketchforest import _core
from sketchforest._estimators.fitting.checkpoints import checkpointed
from sketchforest._estimators.fitting.growing import grow
from sketchforest._estimators.fitting.preparation import prepare
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._progress import stage, watched
from sketchforest._trees.grow import KeptTrees, tree_grower
from sketchforest._trees.model import Tree
from sketchforest._trees.problem import GrowSettings, TrainingData
from sketchforest._typing import MatrixLike, WeightsLike
from sketchforest.dask.clients import n_threads, the_client
from sketchforest.dask.results import results_as_done
from sketchforest.dask.sending import received, shared

if TYPE_CHECKING:
    from distributed import Client, Future

AnyForest = TypeVar("AnyForest", bound=ForestMixin)
# Trees of one task: few, since they are lost together, but so that no thread gets more than so
# many tasks: each costs the scheduler about a millisecond.
MOST_TREES_OF_TASK, TASKS_OF_THREAD = 8, 16


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
    """`forest.fit(X, Y)`, with the same bits, by the threads of all workers of a Dask cluster.

    X is encoded here, and reaches each worker once. A worker that dies costs the trees that it was
    growing. ``verbose=1`` of the forest shows how far it is.

    Parameters
    ----------
    forest : a forest of this library
        Its `n_jobs` is for this machine: each thread of a worker grows a tree.
    X, Y, sample_weight : as in `forest.fit`
    client : distributed.Client, optional
        The one that was made last, if not given.
    shared_dir : str or path, optional
        A folder that this machine and all workers can open by the same name. Then the data go by a
        file there, which workers of one machine map together. Without it they are part of a task:
        they take their size once on the scheduler, and once for each worker.
    checkpoint_dir : str or path, optional
        As in `forest.fit`: on this machine.

    Returns
    -------
    forest, fitted

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
    client = the_client(client)
    _check(forest, X, Y)
    of_fit = prepare(forest, X, Y, sample_weight)
    if of_fit.changes_nothing:
        return forest
    with checkpointed(checkpoint_dir, of_fit) as (prepared, keep):
        grow_many = partial(grow_on_workers, client, shared_dir)
        return forest._commit(prepared, *grow(prepared, keep, grow_many))


def _check(forest: ForestMixin, X: object, Y: object) -> None:
    if not isinstance(forest, ForestMixin):
        raise ValueError(
            f"forest must be a forest of sketchforest; got {type(forest).__name__}. A single tree "
            "is grown on one machine."
        )
    if forest.get_params()["n_estimators"] == "auto":
        raise ValueError(
            "n_estimators must be an int on a cluster; got 'auto', which looks at the trees so far "
            "before it grows more. Fit on one machine, or give a number."
        )
    for name, given in (("X", X), ("Y", Y)):
        if hasattr(given, "__dask_graph__"):
            raise ValueError(
                f"{name} must be in the memory of this machine; got a collection of Dask. Use "
                "sketchforest.dask.fit_partitioned for rows that fit on no machine."
            )


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
    """`grow_trees` somewhere else."""
    found = {} if kept is None else {number: kept.get(number) for number in trees}
    grown = {number: tree for number, tree in found.items() if tree is not None}
    missing = [number for number in trees if number not in grown]
    grower = tree_grower(data, settings, _core.StopFlag())
    with (
        watched(shows_ends=True) if verbose else nullcontext(),
        stage("growing trees", len(trees)) as shown,
        shared(client, grower, shared_dir) as send,
    ):
        shown.advance(len(grown))
        for number, bare in _trees_as_done(client, send, missing):
            grown[number] = tree = _with_feature_map(bare, data)
            if kept is not None:
                kept.put(number, tree)
            shown.advance()
    return [grown[number] for number in trees]


def _trees_as_done(
    client: "Client", send: Callable[[], object], missing: Sequence[int]
) -> Iterator[tuple[int, Tree]]:
    n_trees = len(missing) // (TASKS_OF_THREAD * n_threads(client))
    size = min(max(1, n_trees), MOST_TREES_OF_TASK)
    batches = [tuple(missing[first : first + size]) for first in range(0, len(missing), size)]

    def submit(wanted: Sequence[tuple[int, ...]]) -> "list[Future]":
        source = send()
        return [client.submit(_grow_batch, source, batch, pure=False) for batch in wanted]

    for batch, grown in results_as_done(client, batches, submit):
        yield from zip(batch, grown, strict=True)


def _grow_batch(sent: Any, batch: tuple[int, ...]) -> list[Tree]:
    """On a worker."""
    grow: Callable[[int], Tree] = received(sent)
    return [_without_feature_map(grow(number)) for number in batch]


def _without_feature_map(tree: Tree) -> Tree:
    """Who is given the tree has the map."""
    if tree.directions is None:
        return tree
    return replace(tree, directions=replace(tree.directions, feature_map=None))  # type: ignore[arg-type]


def _with_feature_map(tree: Tree, data: TrainingData) -> Tree:
    if tree.directions is None:
        return tree
    assert data.feature_map is not None
    return replace(tree, directions=replace(tree.directions, feature_map=data.feature_map))

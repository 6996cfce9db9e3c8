"""Growing a forest whose oblique trees are grown on a GPU, beside its other trees on the CPU."""

import operator
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

import numpy as np

from sketchforest import _core
from sketchforest._trees.grow import (
    ForestToGrow,
    KeptTrees,
    draw_tree,
    finished,
    get_or_grow,
    native_params,
    tree_grower,
)
from sketchforest._trees.levels.cuda_kernels import CudaKernels
from sketchforest._trees.levels.grow import BagOutputs, Grown, Room, grow_level_wise
from sketchforest._trees.levels.split import Kernels
from sketchforest._trees.memory import n_threads_that_fit, tree_bytes
from sketchforest._trees.model import Directions, Tree
from sketchforest._trees.oblique_features import ObliqueX
from sketchforest._trees.parallel import StoppedError, run_all, run_blocks
from sketchforest._trees.parts import Part
from sketchforest._trees.problem import GrowSettings, TrainingData
from sketchforest._trees.random import Purpose, key

# Kernels keep a side's sum of outputs in the shared memory of a block.
MOST_OUTPUTS = 6144


def check_device(device: str | None) -> None:
    """Raise unless there is such a device."""
    if device == "cuda":
        kernels_of_gpu()


def kernels_of_gpu() -> Kernels:
    try:
        import cupy
    except ImportError:
        raise ImportError(
            "device='cuda' needs CuPy. Install it with: pip install 'sketchforest[cuda]'"
        ) from None
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(
            f"device must be None or 'cpu' without an NVIDIA GPU and its driver ({error}); got "
            "'cuda'."
        ) from None
    if n_devices == 0:
        raise RuntimeError("device must be None or 'cpu' without an NVIDIA GPU; got 'cuda'.")
    return CudaKernels.on_device()


def grow_trees_on_gpu(
    data: TrainingData,
    settings: GrowSettings,
    trees: range,
    n_jobs: int | None = None,
    verbose: int = 0,
    kept: KeptTrees | None = None,
) -> list[Tree]:
    """What `grow_trees` gives, but for rounding and the order of random numbers: the GPU grows the
    oblique trees, and threads the others."""
    stop = _core.StopFlag()
    oblique = [tree for tree in trees if settings.is_oblique(tree)]
    others = [tree for tree in trees if not settings.is_oblique(tree)]
    n_threads = n_threads_that_fit(n_jobs, tree_bytes(data, settings))
    of_gpu = partial(_grow_oblique, data, settings, n_threads, kept, stop)
    of_each = max(1, n_threads // max(1, len(others)))  # threads
    of_cpu = partial(_grow_one, kept, tree_grower(data, settings, stop, of_each))
    tasks = [partial(of_gpu, oblique)] if oblique else []
    grown = run_all(
        operator.call,
        [*tasks, *(partial(of_cpu, tree) for tree in others)],
        n_jobs=n_threads + 1,  # one more, since the GPU is waited for most of the time
        description="growing trees",
        verbose=verbose,
        on_abort=stop.set,
    )
    by_number = dict(zip([*oblique, *others], chain.from_iterable(grown), strict=True))
    return [by_number[tree] for tree in trees]


def grow_forests_on_gpu(forests: Sequence[ForestToGrow], n_jobs: int | None) -> list[list[Tree]]:
    """The trees of several forests, one forest after the other."""
    return [grow_trees_on_gpu(*forest, n_jobs) for forest in forests]


def _grow_one(kept: KeptTrees | None, grow: Callable[[int], Tree], tree: int) -> list[Tree]:
    return [get_or_grow(kept, grow, tree)]


def _grow_oblique(
    data: TrainingData,
    settings: GrowSettings,
    n_threads: int,
    kept: KeptTrees | None,
    stop: _core.StopFlag,
    trees: list[int],
) -> list[Tree]:
    """As many at a time as there is room for: one does not fill a GPU."""
    found = {tree: None if kept is None else kept.get(tree) for tree in trees}
    missing = [tree for tree, grown in found.items() if grown is None]
    if not missing:
        return [found[tree] for tree in trees]  # type: ignore[misc]
    kernels, X = kernels_of_gpu(), data.oblique_rows
    assert X is not None
    _check(X, settings)
    room = _room(kernels, data, X, settings)
    on_gpu = kernels.upload(np.asarray(X.data))

    def check() -> None:
        if stop.is_set or _core.is_closing():
            raise StoppedError

    n_batches = -(-len(missing) // max(1, room.most_rows // data.n_drawable))
    for batch in np.array_split(missing, n_batches):
        numbers = [int(tree) for tree in batch]
        draw = partial(_draw, data, settings)
        drawn = run_blocks(draw, numbers, n_jobs=n_threads, on_abort=stop.set)
        bags = [bag for bag, _ in drawn]
        grown = grow_level_wise(kernels, on_gpu, X.n_features, bags, room, check)
        for number, tree, (bag, weights) in zip(numbers, grown, drawn, strict=True):
            found[number] = finished(_as_tree(tree, data), bag.rows, weights)
            if kept is not None:
                kept.put(number, found[number])  # type: ignore[arg-type]
        kernels.free_memory()
    return [found[tree] for tree in trees]  # type: ignore[misc]


def _draw(
    data: TrainingData, settings: GrowSettings, tree: int
) -> tuple[BagOutputs, np.ndarray | None]:
    bag, weights = draw_tree(data, settings, None, tree)
    root = Part(None, len(bag.rows), key(settings.seed, tree, Purpose.SPLITS))
    params = native_params(data, settings, bag, root)
    assert isinstance(params, _core.ObliqueParams)
    assert isinstance(bag.outputs, np.ndarray)
    return BagOutputs(bag.rows, bag.weights, bag.outputs, params), weights


def _as_tree(grown: Grown, data: TrainingData) -> Tree:
    assert data.feature_map is not None
    directions = Directions(*grown.directions, data.feature_map)
    return Tree(**vars(grown) | {"directions": directions}, thresholds=None, weights=None)


def _check(X: ObliqueX, settings: GrowSettings) -> None:
    if X.indptr is not None:
        raise ValueError(
            "device must be None or 'cpu' for X of which at most a quarter is not zero, since it "
            "is stored sparse; got 'cuda'."
        )
    if settings.max_leaf_nodes is not None:
        raise ValueError(
            "max_leaf_nodes must be None for device='cuda', which splits all nodes of a level at "
            f"once; got {settings.max_leaf_nodes}. Use max_depth or min_samples_leaf."
        )


def _room(kernels: Kernels, data: TrainingData, X: ObliqueX, settings: GrowSettings) -> Room:
    """What fits into the free memory of the GPU beside X."""
    assert settings.oblique is not None
    m = settings.oblique.n_components or data.labels.shape[1]
    if m > MOST_OUTPUTS:
        raise ValueError(
            f"n_components must be at most {MOST_OUTPUTS} for device='cuda'; got {m} outputs. Use "
            "a projection to fewer."
        )
    room = Room.of(kernels.free_bytes() - X.data.nbytes, -(-m // 8) * 8, X.data.shape[1])
    if room.most_rows < data.n_drawable:
        of_rows = Room.bytes_of(data.n_drawable, -(-m // 8) * 8)
        raise MemoryError(
            f"X of {data.n_rows} rows and {X.n_features} features takes "
            f"{X.data.nbytes / 2**30:.1f} GiB of the GPU, and a tree on {m} outputs "
            f"{of_rows / Room.SHARE / 2**30:.1f} GiB, but only {kernels.free_bytes() / 2**30:.1f} "
            "GiB are free. Use device=None or fewer rows."
        )
    return room

"""Available memory, and the memory that a tree needs while it grows."""

import os
from pathlib import Path

import numpy as np

from sketchforest._trees.model import SparseRows
from sketchforest._trees.parallel import count_threads
from sketchforest._trees.problem import GrowSettings, TrainingData

# Per row of the bag, besides its outputs: indices and weight in each row subset (32 bytes),
# drawing, sorting and partitioning (48), and at most one node (96).
BYTES_PER_ROW = 176
# A row subset copies rows, and is at most a quarter of the one above.
LEVELS = 4 / 3
# Share of the free memory that trees may take, since other programs run, too.
SHARE = 0.8


def memory_size() -> int:
    """Memory of the machine or container in bytes; 0 if unknown."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
    limit = _control_group("memory.max")
    return size if limit is None else min(size, limit)


def check_fits(needed: float, what: str, how_to_fix: str) -> None:
    """Raise if the memory is too small. `what` is the beginning of the error message."""
    memory = memory_size()
    if memory and needed > memory:
        raise MemoryError(
            f"{what} {needed / 2**30:.1f} GiB, but there are only {memory / 2**30:.1f} GiB of "
            f"memory. {how_to_fix}"
        )


def free_memory() -> int | None:
    """Bytes available without swapping; None if unknown."""
    free = _available()
    limit, used = _control_group("memory.max"), _control_group("memory.current")
    if limit is None or used is None:
        return free
    return max(0, limit - used) if free is None else max(0, min(free, limit - used))


def tree_bytes(data: TrainingData, settings: GrowSettings) -> int:
    """About how many bytes a growing tree needs, the most of all tree types in the forest."""
    oblique = settings.oblique
    of_oblique = 0 if oblique is None else _oblique_tree_bytes(data, oblique.n_components)
    return of_oblique if data.X is None else max(of_oblique, _axis_aligned_bytes(data, settings))


def n_threads_that_fit(n_jobs: int | None, bytes_each: int) -> int:
    """The number of threads for n_jobs, or fewer if memory is short, but at least one."""
    wanted = count_threads(n_jobs)
    free = free_memory() if wanted > 1 else None
    return wanted if free is None else max(1, min(wanted, int(SHARE * free) // max(1, bytes_each)))


def _axis_aligned_bytes(data: TrainingData, settings: GrowSettings) -> int:
    n_rows = data.n_drawable if settings.n_draws is None else min(settings.n_draws, data.n_drawable)
    if settings.n_draws is not None and settings.with_replacement:
        n_rows = int((1 - np.exp(-settings.n_draws / data.n_drawable)) * data.n_drawable)
    return int(n_rows * (BYTES_PER_ROW + LEVELS * _output_bytes(data, settings.n_components)))


def _oblique_tree_bytes(data: TrainingData, n_components: int | None) -> int:
    # Outputs are stored twice, once centred; a node copies its rows of sparse X.
    X = data.oblique_rows
    copied = 0 if X is None or X.indptr is None else 8 * len(X.data)
    n_features = 0 if X is None else X.n_features
    per_row = BYTES_PER_ROW + 2 * _output_bytes(data, n_components)
    return int(data.n_drawable * per_row + copied + 64 * n_features)


def _output_bytes(data: TrainingData, n_components: int | None) -> float:
    """Bytes of the outputs of one row."""
    if n_components is not None:
        return 4 * n_components
    if isinstance(data.labels, SparseRows):
        # A cache line and the labels themselves. Counted labels, in subsets of up to 65,536 rows,
        # take two lines; these 8 MB are neglected.
        return 64 + 16 * len(data.labels.indices) / max(1, data.labels.n_rows)
    return 8 * data.labels.shape[1]


def _available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


def _control_group(name: str) -> int | None:
    """A number from the control group of a container; None without a container or limit."""
    try:
        said = Path("/sys/fs/cgroup", name).read_text().strip()
    except OSError:
        return None
    return int(said) if said.isdigit() else None

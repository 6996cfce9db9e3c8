"""How much memory there is, and how much a tree takes while it grows."""

import os
from pathlib import Path

import numpy as np

from sketchforest._trees.model import SparseRows
from sketchforest._trees.parallel import count_threads
from sketchforest._trees.problem import GrowSettings, TrainingData

# Of a row of the bag, besides its outputs: its numbers and weight in each level of the tree (32
# bytes), where it is drawn, sorted and parted (48), and at most one node that parts it from another
# (96).
BYTES_PER_ROW = 176
# Levels of a tree are copies of its rows, each a quarter of the one above or smaller.
LEVELS = 4 / 3
# Of what is free, trees may take so much: other programs are at work, too.
SHARE = 0.8


def memory_size() -> int:
    """Of the machine or the container, in bytes; 0 where it is not known."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
    limit = _control_group("memory.max")
    return size if limit is None else min(size, limit)


def check_fits(needed: float, what: str, way_out: str) -> None:
    """Refuses `what`, a beginning of a sentence, where it takes more bytes than there are."""
    memory = memory_size()
    if memory and needed > memory:
        raise MemoryError(
            f"{what} {needed / 2**30:.1f} GiB of the {memory / 2**30:.1f} GiB that there are. "
            f"{way_out}"
        )


def free_memory() -> int | None:
    """Bytes that can be taken without swapping; None where it is not known."""
    free = _available()
    limit, used = _control_group("memory.max"), _control_group("memory.current")
    if limit is None or used is None:
        return free
    return max(0, limit - used) if free is None else max(0, min(free, limit - used))


def tree_bytes(data: TrainingData, settings: GrowSettings) -> int:
    """About what a tree takes while it grows, beyond what all of them share: at most, of the kinds
    of trees that the forest has."""
    oblique = settings.oblique
    of_oblique = 0 if oblique is None else _oblique_tree_bytes(data, oblique.n_components)
    return of_oblique if data.X is None else max(of_oblique, _axis_aligned_bytes(data, settings))


def n_threads_that_fit(n_jobs: int | None, bytes_each: int) -> int:
    """As many threads as n_jobs asks for, or fewer where memory is short, but one at least."""
    wanted = count_threads(n_jobs)
    free = free_memory() if wanted > 1 else None
    return wanted if free is None else max(1, min(wanted, int(SHARE * free) // max(1, bytes_each)))


def _axis_aligned_bytes(data: TrainingData, settings: GrowSettings) -> int:
    n_rows = data.n_drawable if settings.n_draws is None else min(settings.n_draws, data.n_drawable)
    if settings.n_draws is not None and settings.with_replacement:
        n_rows = int((1 - np.exp(-settings.n_draws / data.n_drawable)) * data.n_drawable)
    return int(n_rows * (BYTES_PER_ROW + LEVELS * _output_bytes(data, settings.n_components)))


def _oblique_tree_bytes(data: TrainingData, n_components: int | None) -> int:
    # Outputs are kept as they are and centred; a node has copies of its rows of sparse X.
    X = data.oblique_rows
    copied = 0 if X is None or X.row_start is None else 8 * len(X.values)
    n_features = 0 if X is None else X.n_features
    per_row = BYTES_PER_ROW + 2 * _output_bytes(data, n_components)
    return int(data.n_drawable * per_row + copied + 64 * n_features)


def _output_bytes(data: TrainingData, n_components: int | None) -> float:
    """Of one row."""
    if n_components is not None:
        return 4 * n_components
    if isinstance(data.labels, SparseRows):
        # A cache line, and the labels themselves. Where labels are counted, in levels of up to
        # 65,536 rows, it is two lines: 8 MB in all, and not in the sum.
        return 64 + 16 * len(data.labels.columns) / max(1, data.labels.n_rows)
    return 8 * data.labels.shape[1]


def _available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


def _control_group(name: str) -> int | None:
    """What a container says of itself; None where there is none, or no limit."""
    try:
        said = Path("/sys/fs/cgroup", name).read_text().strip()
    except OSError:
        return None
    return int(said) if said.isdigit() else None

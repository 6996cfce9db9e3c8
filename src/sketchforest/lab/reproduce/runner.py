"""Cells run one after the other, each with all threads, and kept as they finish."""

import time
from collections.abc import Iterable, Sequence

from rich.console import Console

from sketchforest.lab.progress import RunProgress
from sketchforest.lab.reproduce.problems import Workspace
from sketchforest.lab.reproduce.store import Cell, CellStore, key_of


def run_cells(
    cells: Iterable[Cell], store: CellStore, workspace: Workspace, console: Console
) -> None:
    """Run those that are not in the store yet. An interrupt loses the one that is running."""
    waiting = waiting_cells(cells, store)
    # Cheap ones tell little about dear ones: a run is timed by others of its group and kind.
    with RunProgress([(cell.group, cell.kind) for cell in waiting], console) as progress:
        for cell in waiting:
            progress.start(f"{cell.group}: {cell.kind}")
            start = time.perf_counter()
            result = cell.run(workspace)
            store.add(cell, {**result, "cell_seconds": time.perf_counter() - start})
            progress.finish()


def waiting_cells(cells: Iterable[Cell], store: CellStore) -> list[Cell]:
    """Each once, group by group: a data set is read when its first cell is run."""
    missing = {key_of(cell): cell for cell in cells if store.get(cell) is None}
    order = {group: place for place, group in enumerate(dict.fromkeys(_groups(missing.values())))}
    return sorted(missing.values(), key=lambda cell: order[cell.group])


def total_seconds(cells: Sequence[Cell], store: CellStore) -> float:
    """What the finished cells took, in this run or in earlier ones."""
    results = [store.get(cell) for cell in cells]
    return sum(result["cell_seconds"] for result in results if result is not None)


def _groups(cells: Iterable[Cell]) -> list[str]:
    return [cell.group for cell in cells]

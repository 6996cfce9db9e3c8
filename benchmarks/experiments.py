"""Experiments that run one after the other, each with all threads; results are kept at once."""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from rich.console import Console

from benchmarks.data import Folder
from benchmarks.store import ResultStore
from sketchforest._utils.progress import stage, watched
from sketchforest.datasets import Dataset, load

T = TypeVar("T")


@dataclass
class Workspace:
    """What experiments need to run. Only the most recent data set is kept in memory."""

    data_home: Folder | None = None
    n_jobs: int = 1
    prepare: Callable[[Dataset], Dataset] | None = None  # applied to each data set after loading
    _name: str = field(default="", init=False)
    _data: Dataset | None = field(default=None, init=False)

    def dataset(self, name: str) -> Dataset:
        if self._data is None or self._name != name:
            data = load(name, self.data_home)
            self._data, self._name = self.prepare(data) if self.prepare else data, name
        return self._data


class Experiment(Protocol):
    """One measurement, as `ResultStore` keeps it; a frozen dataclass.

    Experiments of one group share data and run one after the other. Those that also share the kind
    take about equally long.
    """

    @property
    def table(self) -> str: ...

    @property
    def group(self) -> str: ...

    @property
    def kind(self) -> str: ...

    def run(self, workspace: Workspace) -> Any: ...


Lookup = Callable[[Any], Any]  # gives the result of an experiment, or None if it is not known


def run_experiments(
    experiments: Iterable[Experiment], store: ResultStore, workspace: Workspace, console: Console
) -> bool:
    """Run the experiments that have no result yet; return False after Ctrl-C."""
    waiting = waiting_experiments(experiments, store)
    try:
        for experiment in with_progress(waiting, lambda one: (one.group, one.kind)):
            store.add(experiment, experiment.run(workspace))
    except KeyboardInterrupt:
        message = f"Interrupted. Finished results are in {store.folder}; the next run resumes."
        console.print(message, markup=False)
        return False
    return True


def waiting_experiments(
    experiments: Iterable[Experiment], store: ResultStore
) -> Sequence[Experiment]:
    """List experiments without a result, without duplicates, group by group."""
    different = {(one.table, one): one for one in experiments}.values()
    missing = [one for one in different if store.get(one) is None]
    order = {group: place for place, group in enumerate(dict.fromkeys(e.group for e in missing))}
    return sorted(missing, key=lambda one: order[one.group])


def with_progress(items: Sequence[T], key: Callable[[T], tuple[Hashable, ...]]) -> Iterator[T]:
    """Iterate and show the progress; items with the same key take about equally long."""
    waiting = [key(item) for item in items]
    seconds: dict[Hashable, float] = {}
    with watched(), stage("runs", len(items)) as shown:
        for item in items:
            start, run = time.monotonic(), waiting.pop(0)
            shown.name = ": ".join(map(str, run))
            yield item
            seconds[run] = time.monotonic() - start
            shown.advance()
            shown.ends_at = time.monotonic() + seconds_left(waiting, seconds)


def seconds_left(waiting: Sequence[Hashable], seconds: dict[Any, float]) -> float:
    """Estimate the time of waiting runs by the last one with the same key, or by the mean."""
    average = sum(seconds.values()) / len(seconds)
    return sum(seconds.get(key, average) for key in waiting)

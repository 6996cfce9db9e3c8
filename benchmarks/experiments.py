"""Experiments run one after the other, each with all threads, and kept as they finish."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console

from benchmarks.data import Folder
from benchmarks.store import R, R_co, ResultStore, Stored
from sketchforest._progress import RunProgress
from sketchforest.datasets import Dataset, load


@dataclass
class Workspace:
    """What experiments need to run. Only the data set used last is kept in memory."""

    data_home: Folder | None = None
    n_jobs: int = 1
    prepare: Callable[[Dataset], Dataset] | None = None  # what is done to each after it was read
    _name: str = field(default="", init=False)
    _data: Dataset | None = field(default=None, init=False)

    def dataset(self, name: str) -> Dataset:
        if self._data is None or self._name != name:
            data = load(name, self.data_home)
            self._data, self._name = self.prepare(data) if self.prepare else data, name
        return self._data


class Experiment(Stored[R_co], Protocol[R_co]):
    """One measurement: its fields are all that the result depends on."""

    @property
    def group(self) -> str:
        """Experiments of a group share data and are run one after the other."""

    @property
    def kind(self) -> str:
        """Experiments of a group and kind take about as long as each other."""

    def run(self, workspace: Workspace) -> R_co:
        """The result."""


class Lookup(Protocol):
    """Gives the result of an experiment, None if it is not known."""

    def __call__(self, experiment: Experiment[R], /) -> R | None: ...


def run_experiments(
    experiments: Iterable[Experiment],
    store: ResultStore,
    workspace: Workspace,
    console: Console,
) -> bool:
    """Runs those that are not in the store yet; False if Ctrl-C ended it, which loses the one that
    was running."""
    waiting = waiting_experiments(experiments, store)
    try:
        # Cheap ones tell little about dear ones: a run is timed by others of its group and kind.
        with RunProgress([(one.group, one.kind) for one in waiting]) as progress:
            for experiment in waiting:
                progress.start(f"{experiment.group}: {experiment.kind}")
                store.add(experiment, experiment.run(workspace))
                progress.finish()
    except KeyboardInterrupt:
        message = f"Interrupted; what is finished is kept in {store.folder}: the next run goes on."
        console.print(message, markup=False)
        return False
    return True


def waiting_experiments(
    experiments: Iterable[Experiment], store: ResultStore
) -> Sequence[Experiment]:
    """Each once, group by group: a data set is read when its first experiment is run."""
    different = {(one.table, one): one for one in experiments}.values()
    missing = [one for one in different if store.get(one) is None]
    order = {group: place for place, group in enumerate(dict.fromkeys(e.group for e in missing))}
    return sorted(missing, key=lambda one: order[one.group])

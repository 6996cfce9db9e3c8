"""What to reproduce, and with how much effort."""

from dataclasses import dataclass
from functools import cached_property

from benchmarks.reproduce.data import find_set
from benchmarks.reproduce.paper import PaperSet, paper_sets
from sketchforest.datasets import list_datasets

_QUICK_REPEATS, _QUICK_TREES = 2, 20


@dataclass(frozen=True)
class ReproduceSettings:
    """The options of a run.

    Without names, all of the paper's data sets that are available; without a number of repeats, as
    many as in the paper, or as are affordable. `with_all` adds m = d.
    """

    datasets: tuple[str, ...] = ()
    repeats: int | None = None
    quick: bool = False
    n_jobs: int = 1
    data_home: str | None = None
    with_all: bool = False
    seed: int = 0

    @property
    def n_estimators(self) -> int:
        return _QUICK_TREES if self.quick else 100

    def n_repeats(self, usual: int) -> int:
        if self.repeats is not None:
            return self.repeats
        return min(usual, _QUICK_REPEATS) if self.quick else usual

    @cached_property
    def loadable(self) -> set[str]:
        """The paper's data sets that can be loaded."""
        found = set(list_datasets(self.data_home))
        return {paper_set.dataset for paper_set in paper_sets()} & found

    def available(self, name: str) -> PaperSet:
        """Find a data set of the paper, and fail at once if its file is missing."""
        found = find_set(name)
        if found.dataset not in self.loadable:
            raise FileNotFoundError(
                f"Data set {found.dataset!r} was not found: name its folder by --data-home or "
                "SKETCHFOREST_DATA."
            )
        return found

    def chosen(self) -> list[str]:
        """List data sets in the order of the paper."""
        wanted = {self.available(name).dataset for name in self.datasets} or self.loadable
        if not wanted:
            raise FileNotFoundError(
                "None of the paper's data sets was found: name their folder by --data-home or "
                "SKETCHFOREST_DATA."
            )
        return [s.dataset for s in paper_sets() if s.dataset in wanted]

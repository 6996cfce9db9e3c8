"""The studies by name: which cells each needs, and what they show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sketchforest.experiments.reproduce.settings import ReproduceSettings
from sketchforest.experiments.reproduce.store import Cell
from sketchforest.experiments.reproduce.tables import Lookup, table_cells
from sketchforest.report.page import Section
from sketchforest.report.reproduce_tables import table_section


@dataclass(frozen=True)
class Study:
    cells: Callable[[ReproduceSettings], Sequence[Cell]]
    section: Callable[[ReproduceSettings, Lookup], Section]


def _table(forest: str) -> Study:
    return Study(partial(table_cells, forest), partial(table_section, forest))


STUDIES = {
    "table1": _table("random_forest"),
    "table2": _table("extra_trees"),
}


def choose_studies(names: Sequence[str]) -> list[str]:
    """The names, "all" spelt out, each once."""
    known = (*STUDIES, "all")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"what must be among {', '.join(known)}; got {unknown[0]!r}.")
    wanted = set(STUDIES) if "all" in names else set(names)
    return [name for name in STUDIES if name in wanted]

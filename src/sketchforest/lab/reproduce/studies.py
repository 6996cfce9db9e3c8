"""The studies by name: which cells each needs, and what they show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sketchforest.lab.page import Section
from sketchforest.lab.reproduce.curves import figure_cells
from sketchforest.lab.reproduce.figures import figure_section
from sketchforest.lab.reproduce.settings import ReproduceSettings
from sketchforest.lab.reproduce.store import Cell
from sketchforest.lab.reproduce.table_pages import table_section
from sketchforest.lab.reproduce.tables import Lookup, table_cells
from sketchforest.lab.reproduce.theorem import theorem_cells
from sketchforest.lab.reproduce.theory_pages import theorem_section, variance_section
from sketchforest.lab.reproduce.timing import timing_cells
from sketchforest.lab.reproduce.timing_pages import timing_section
from sketchforest.lab.reproduce.variance import variance_cells


@dataclass(frozen=True)
class Study:
    cells: Callable[[ReproduceSettings], Sequence[Cell]]
    section: Callable[[ReproduceSettings, Lookup], Section]


def _table(forest: str) -> Study:
    return Study(partial(table_cells, forest), partial(table_section, forest))


def _figure(name: str) -> Study:
    return Study(partial(figure_cells, name), partial(figure_section, name))


STUDIES = {
    "table1": _table("random_forest"),
    "table2": _table("extra_trees"),
    "figure1": _figure("figure1"),
    "figure2": _figure("figure2"),
    "figure3": _figure("figure3"),
    "figure4": _figure("figure4"),
    "timing": Study(timing_cells, timing_section),
    "variance": Study(variance_cells, variance_section),
    "theorem": Study(theorem_cells, theorem_section),
}


def choose_studies(names: Sequence[str]) -> list[str]:
    """The names, "all" spelt out, each once."""
    known = (*STUDIES, "all")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"what must be among {', '.join(known)}; got {unknown[0]!r}.")
    wanted = set(STUDIES) if "all" in names else set(names)
    return [name for name in STUDIES if name in wanted]

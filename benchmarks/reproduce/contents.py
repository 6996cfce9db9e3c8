"""What can be reproduced, by name: which experiments it needs, and its section of the report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.experiments import Experiment, Lookup
from benchmarks.reproduce.figures import figure_experiments
from benchmarks.reproduce.figures_page import figure_section
from benchmarks.reproduce.page import Section
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.tables import table_experiments
from benchmarks.reproduce.tables_page import table_section
from benchmarks.reproduce.theorem import theorem_experiments
from benchmarks.reproduce.theorem_page import theorem_section
from benchmarks.reproduce.timing import timing_experiments
from benchmarks.reproduce.timing_page import timing_section
from benchmarks.reproduce.variance import variance_experiments
from benchmarks.reproduce.variance_page import variance_section


@dataclass(frozen=True)
class Reproducible:
    """A table or figure of the paper, or one of its sections."""

    experiments: Callable[[ReproduceSettings], Sequence[Experiment]]
    section: Callable[[ReproduceSettings, Lookup], Section]


def _table(forest: str) -> Reproducible:
    return Reproducible(partial(table_experiments, forest), partial(table_section, forest))


def _figure(name: str) -> Reproducible:
    return Reproducible(partial(figure_experiments, name), partial(figure_section, name))


CONTENTS = {
    "table1": _table("random_forest"),
    "table2": _table("extra_trees"),
    "figure1": _figure("figure1"),
    "figure2": _figure("figure2"),
    "figure3": _figure("figure3"),
    "figure4": _figure("figure4"),
    "timing": Reproducible(timing_experiments, timing_section),
    "variance": Reproducible(variance_experiments, variance_section),
    "theorem": Reproducible(theorem_experiments, theorem_section),
}


def choose_contents(names: Sequence[str]) -> list[str]:
    """The names, "all" spelt out, each once."""
    known = (*CONTENTS, "all")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"what must be among {', '.join(known)}; got {unknown[0]!r}.")
    wanted = set(CONTENTS) if "all" in names else set(names)
    return [name for name in CONTENTS if name in wanted]

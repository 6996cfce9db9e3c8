"""Run the experiments of the paper, then write tables, pictures and pages."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import pandas as pd
from joblib import effective_n_jobs
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.experiments import Experiment, Lookup, run_experiments
from benchmarks.machine import Machine, this_machine
from benchmarks.reproduce.data import paper_workspace
from benchmarks.reproduce.figures import figure_experiments
from benchmarks.reproduce.figures_page import figure_section
from benchmarks.reproduce.page import SUMMARY, Entry, Section, render_page
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.tables import table_experiments
from benchmarks.reproduce.tables_page import NAMES, agreement, table_section
from benchmarks.reproduce.theorem import theorem_experiments, theorem_section
from benchmarks.reproduce.timing import timing_experiments, timing_section
from benchmarks.reproduce.variance import variance_experiments
from benchmarks.reproduce.variance_page import variance_section
from benchmarks.store import ResultStore

Experiments = Callable[[ReproduceSettings], Sequence[Experiment]]
MakeSection = Callable[[ReproduceSettings, Lookup], Section]

_FIGURES = ("figure1", "figure2", "figure3", "figure4")
# What can be reproduced, by name: its experiments, and its section of the report.
CONTENTS: dict[str, tuple[Experiments, MakeSection]] = {
    **{n: (partial(table_experiments, f), partial(table_section, f)) for f, n in NAMES.items()},
    **{n: (partial(figure_experiments, n), partial(figure_section, n)) for n in _FIGURES},
    "timing": (timing_experiments, timing_section),
    "variance": (variance_experiments, variance_section),
    "theorem": (theorem_experiments, theorem_section),
}
_TITLE = "Random forests with random projections of the output space, reproduced"


@dataclass(frozen=True)
class ReproduceResult:
    """The sections of the report, and whether all planned experiments finished."""

    sections: list[Section]
    settings: ReproduceSettings
    machine: Machine
    is_complete: bool

    def as_json(self) -> str:
        rows = {section.name: section.rows.to_json(orient="records") for section in self.sections}
        return json.dumps(
            {
                "machine": asdict(self.machine),
                "settings": asdict(self.settings),
                "is_complete": self.is_complete,
                "sections": {name: json.loads(text) for name, text in rows.items()},
                "findings": [
                    {"section": section.name, "text": finding.text, "holds": finding.holds}
                    for section in self.sections
                    for finding in section.findings
                ],
            },
            indent=2,
        )


def run_reproduce(
    names: Sequence[str],
    settings: ReproduceSettings,
    out: str | os.PathLike[str],
    console: Console | None = None,
) -> ReproduceResult:
    """Run what is not in `out` yet; print tables, and write CSV files, pictures and pages."""
    console = console or Console()
    experiments = {name: CONTENTS[name][0](settings) for name in _choose(names)}
    folder = Path(out)
    store = ResultStore(folder / "runs")
    store.folder.mkdir(parents=True, exist_ok=True)
    workspace = paper_workspace(settings.data_home, effective_n_jobs(settings.n_jobs))
    every = [one for some in experiments.values() for one in some]
    is_complete = run_experiments(every, store, workspace, console)
    sections = [_section(name, settings, store) for name in experiments]
    times = {name: _total_seconds(some, store) for name, some in experiments.items()}
    result = ReproduceResult(sections, settings, this_machine(), is_complete)
    _write(result, times, folder, console)
    return result


def _choose(names: Sequence[str]) -> list[str]:
    known = (*CONTENTS, "all")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"what must be among {', '.join(known)}; got {unknown[0]!r}.")
    return [name for name in CONTENTS if name in names or "all" in names]


def _section(name: str, settings: ReproduceSettings, store: ResultStore) -> Section:
    section = CONTENTS[name][1](settings, store.get)
    if settings.quick:  # fewer trees and repeats than the paper's prove nothing
        findings = [replace(finding, holds=None) for finding in section.findings]
        section = replace(section, findings=findings)
    return section


def _total_seconds(experiments: Sequence[Experiment], store: ResultStore) -> float:
    """Add up the time of finished experiments, in this run and earlier ones."""
    results = [store.get(experiment) for experiment in experiments]
    return sum(result.run_seconds for result in results if result is not None)


def _write(
    result: ReproduceResult, times: dict[str, float], folder: Path, console: Console
) -> None:
    for section in result.sections:
        section.rows.to_csv(folder / f"{section.name}.csv", index=False)
        for picture in section.pictures:
            (folder / f"{section.name}-{picture.name}.png").write_bytes(picture.png)
            (folder / f"{section.name}-{picture.name}.svg").write_bytes(picture.svg)
        _write_page(result, [section], times, folder / f"{section.name}.html")
        console.print()
        console.print(_terminal_table(section))
        for number, note in enumerate(section.notes, 1):
            console.print(f"{number}. {note}", markup=False, highlight=False, style="dim")
    summary = _summary(result.sections)
    page = folder / f"{result.sections[0].name}.html"
    if len(result.sections) > 1:
        page = folder / "index.html"
        _write_page(result, [summary, *result.sections], times, page)
    console.print()
    for finding in summary.findings:
        sign = {True: "yes", False: "no", None: "?"}[finding.holds]
        console.print(f"{sign:>3}  {finding.text}", markup=False, highlight=False)
    console.print(f"Written to {folder}; {page.name} explains the marks.", markup=False)


def _summary(sections: Sequence[Section]) -> Section:
    """Collect the findings of all sections, and those of both tables together."""
    findings = [finding for section in sections for finding in section.findings]
    tables = [section for section in sections if section.name in NAMES.values()]
    if len(tables) == len(NAMES):
        is_full = all(table.findings[0].holds is not None for table in tables)
        rows = pd.concat([table.rows for table in tables])
        findings.insert(0, agreement("Both tables", rows, is_full))
    return Section(SUMMARY, "In short", findings=findings)


def _write_page(
    result: ReproduceResult, sections: Sequence[Section], times: dict[str, float], path: Path
) -> None:
    n_jobs = effective_n_jobs(result.settings.n_jobs)
    spent = ", ".join(f"{s.name} {_duration(times[s.name])}" for s in sections if s.name in times)
    lead = [
        "Every table and figure of Joly, Geurts and Wehenkel (ECML/PKDD 2014), computed by "
        "sketchforest, next to the paper's figures.",
        f"{result.machine.describe(n_jobs)}; seed {result.settings.seed}. Time spent: {spent}.",
    ]
    if result.settings.quick:
        lead.append("This was a quick run with few trees and repeats: findings are not judged.")
    if not result.is_complete:
        lead.append("This run was interrupted: numbers are missing or from fewer repeats.")
    path.write_text(render_page(_TITLE, lead, sections), encoding="utf-8")


def _duration(seconds: float) -> str:
    """Format a time: "45 s", "3 min" or "2 h 5 min"."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _terminal_table(section: Section) -> Table:
    """Show the first grid of a section, with second lines dim."""
    grid = section.grids[0]
    table = Table(
        title=section.title,
        box=box.SIMPLE_HEAD,
        show_edge=False,  # these three keep the paper's tables within 80 columns
        pad_edge=False,
        collapse_padding=True,
    )
    rows = [[_two_lines(entry) for entry in row] for row in grid.rows]
    for place, header in enumerate(grid.headers):
        # Headers may be folded, numbers may not.
        lines = [line for row in rows for line in row[place].plain.split("\n")]
        width = max(map(len, lines), default=1)
        table.add_column(header, justify="right" if place else "left", min_width=width)
    for row in rows:
        table.add_row(*row)
    return table


def _two_lines(entry: Entry) -> Text:
    style = {"worse": "underline", "better": "bold"}.get(entry.style.split(" ")[0], "")
    text = Text(_narrow(entry.text), style=style)
    return Text.assemble(text, "\n", (_narrow(entry.detail), "dim")) if entry.detail else text


def _narrow(text: str) -> str:
    return text.replace(" ± ", "±").replace(" *", "*").replace(" rows, ", ", ")

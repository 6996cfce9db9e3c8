"""`python -m benchmarks reproduce`: run experiments, then write tables, pictures and pages."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from joblib import effective_n_jobs
from rich.console import Console

from benchmarks.experiments import Experiment, run_experiments
from benchmarks.machine import Machine, this_machine
from benchmarks.reproduce.contents import CONTENTS, choose_contents
from benchmarks.reproduce.data import paper_workspace
from benchmarks.reproduce.page import SUMMARY, Finding, Section, render_page
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.tables_findings import share_finding
from benchmarks.reproduce.terminal import terminal_table
from benchmarks.store import ResultStore, write_csv
from sketchforest._utils.units import duration

_TITLE = "Random forests with random projections of the output space, reproduced"


@dataclass(frozen=True)
class ReproduceResult:
    """The sections of the report, and whether all of their experiments were run."""

    sections: list[Section]
    settings: ReproduceSettings
    machine: Machine
    is_complete: bool

    def as_json(self) -> str:
        return json.dumps(
            {
                "machine": asdict(self.machine),
                "settings": asdict(self.settings),
                "is_complete": self.is_complete,
                "sections": {section.name: list(section.rows) for section in self.sections},
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
    """Run what is not in ``out`` yet; print tables, and write CSV files, pictures and pages."""
    console = console or Console()
    experiments = {name: CONTENTS[name].experiments(settings) for name in choose_contents(names)}
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


def _section(name: str, settings: ReproduceSettings, store: ResultStore) -> Section:
    section = CONTENTS[name].section(settings, store.get)
    if settings.quick:  # fewer trees and repeats than the paper has prove nothing
        findings = [replace(finding, holds=None) for finding in section.findings]
        section = replace(section, findings=findings)
    return section


def _total_seconds(experiments: Sequence[Experiment], store: ResultStore) -> float:
    """What the finished ones took, in this run or in earlier ones."""
    results = [store.get(experiment) for experiment in experiments]
    return sum(result.run_seconds for result in results if result is not None)


def _write(
    result: ReproduceResult, times: dict[str, float], folder: Path, console: Console
) -> None:
    for section in result.sections:
        write_csv(section.rows, folder / f"{section.name}.csv")
        for picture in section.pictures:
            (folder / f"{section.name}-{picture.name}.png").write_bytes(picture.png)
            (folder / f"{section.name}-{picture.name}.svg").write_bytes(picture.svg)
        _write_page(result, [section], times, folder / f"{section.name}.html")
        console.print()
        console.print(terminal_table(section))
        for number, note in enumerate(section.notes, 1):
            console.print(f"{number}. {note}", markup=False, highlight=False, style="dim")
    page = folder / f"{result.sections[0].name}.html"
    if len(result.sections) > 1:
        sections = [_summary(result.sections), *result.sections]
        page = folder / "index.html"
        _write_page(result, sections, times, page)
    _print_findings(result.sections, console)
    console.print(f"Written to {folder}; {page.name} says what the marks mean.", markup=False)


def _summary(sections: Sequence[Section]) -> Section:
    """What all sections found."""
    findings = [finding for section in sections for finding in section.findings]
    return Section(SUMMARY, "In short", findings=[*_overall(sections), *findings])


def _overall(sections: Sequence[Section]) -> list[Finding]:
    """Both tables together."""
    tables = [section for section in sections if section.name in ("table1", "table2")]
    if len(tables) < 2:
        return []
    rows = [row for table in tables for row in table.rows]
    gaps = [row["mark"] for row in rows if row["is_comparable"] and row["gap_in_sd"] is not None]
    is_full = all(table.findings[0].holds is not None for table in tables)
    return [share_finding("Both tables", gaps.count("**"), len(gaps), is_full)]


def _print_findings(sections: Sequence[Section], console: Console) -> None:
    console.print()
    for finding in _summary(sections).findings:
        sign = {True: "yes", False: "no", None: "?"}[finding.holds]
        console.print(f"{sign:>3}  {finding.text}", markup=False, highlight=False)


def _write_page(
    result: ReproduceResult, sections: Sequence[Section], times: dict[str, float], path: Path
) -> None:
    page = render_page(_TITLE, _lead(result, sections, times), sections)
    path.write_text(page, encoding="utf-8")


def _lead(
    result: ReproduceResult, sections: Sequence[Section], times: dict[str, float]
) -> list[str]:
    n_jobs = effective_n_jobs(result.settings.n_jobs)
    spent = ", ".join(f"{s.name} {duration(times[s.name])}" for s in sections if s.name in times)
    lines = [
        "Every table and figure of Joly, Geurts and Wehenkel (ECML/PKDD 2014), computed by "
        "sketchforest, with the paper's own figures beside.",
        f"{result.machine.describe(n_jobs)}; seed {result.settings.seed}. Time spent: {spent}.",
    ]
    if result.settings.quick:
        lines.append("This was a quick run, of few trees and repeats: its findings are not judged.")
    if not result.is_complete:
        lines.append("This run was interrupted: some figures are of fewer repeats, or missing.")
    return lines

"""Results of a search: a table, a CSV file and two plots."""

import csv
import os
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sketchforest._utils.display import tidy
from sketchforest._utils.pictures import save_figure
from sketchforest._utils.units import UNKNOWN, seconds
from sketchforest.cli.tables import make_table
from sketchforest.tuning import Trial, TuningResult
from sketchforest.tuning.result import as_rows

_TABLE_ROWS = 12
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#222222", "#e69f00", "#56b4e9")


def show_tuning(result: TuningResult, score: float | None, console: Console) -> None:
    console.print(tuning_table(result))
    console.print(
        f"Grew {result.n_trees_grown} trees in {seconds(result.seconds)}. {result.advice}"
    )
    if score is not None:
        console.print(f"{result.metric} on the test rows: {score:.4f}")


def tuning_table(result: TuningResult) -> Table:
    """List the winner in full, and other settings by how they differ from it."""
    winner = result.winner
    rows = [
        (
            trial.setting.difference_from(winner.setting) if at else str(trial.setting),
            str(trial.n_trees),
            f"{trial.expected:.4f} ± {trial.expected_se:.4f}",
            f"{trial.behind:.4f} ± {trial.behind_se:.4f}" if at else UNKNOWN,
            seconds(trial.fit_seconds),
        )
        for at, trial in enumerate([winner, *(t for t in result.trials if t is not winner)])
    ]
    numbers = ("trees", "expected", "behind", "fit")
    table = make_table(
        ("setting", *numbers),
        rows[:_TABLE_ROWS],
        right=numbers,
        title=f"{len(result.trials)} settings, {result.metric} of {result.n_estimators} trees",
    )
    table.collapse_padding = True
    for column in table.columns[1:]:
        column.no_wrap = True
    table.rows[0].style = "bold"
    return table


def as_json(result: TuningResult, score: float | None) -> dict[str, object]:
    return {
        "winner": result.winner.as_row(),
        "advice": result.advice,
        "metric": result.metric,
        "test_score": score,
        "seconds": result.seconds,
        "n_trees_grown": result.n_trees_grown,
        "front": as_rows(result.front),
        "trials": as_rows(result.trials),
    }


def write_tuning(result: TuningResult, folder: Path, console: Console) -> None:
    """Write the model, all trials, and plots if matplotlib is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    result.forest.save(folder / "model.sf")
    rows = as_rows(result.trials)
    with (folder / "trials.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    written = "model.sf, trials.csv"
    if find_spec("matplotlib") is not None:
        from matplotlib.figure import Figure

        cost = Figure(figsize=(8.5, 4.5), layout="constrained")
        result.plot(cost.subplots())
        save_figure(cost, folder / "cost.png")
        save_components_figure(result, folder / "components.png")
        written += ", cost.png, components.png and both as .svg"
    console.print(f"Wrote to {folder}: {written}")


def save_components_figure(result: TuningResult, path: str | os.PathLike[str]) -> None:
    """Plot the expected score against the outputs, with one line per setting of the rest."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 4.5), layout="constrained")
    axes = figure.subplots()
    order = {
        s.outputs: (s.projection is None, s.n_components or 0, str(s.projection))
        for s in (trial.setting for trial in result.trials)
    }
    ticks = sorted(order, key=order.__getitem__)
    groups: dict[str, list[Trial]] = {}
    for trial in result.trials:
        words = trial.setting.words()
        del words["outputs"]
        groups.setdefault(", ".join(words.values()), []).append(trial)
    for place, (label, group) in enumerate(sorted(groups.items())):
        best = {t.setting.outputs: t for t in sorted(group, key=lambda t: t.expected)}
        known = [words for words in ticks if words in best]
        axes.errorbar(
            [ticks.index(words) for words in known],
            [best[words].expected for words in known],
            [best[words].expected_se for words in known],
            fmt="o-" if place < len(_COLORS) else "s--",
            color=_COLORS[place % len(_COLORS)],
            elinewidth=0.8,
            label=label,
        )
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_xlabel("outputs used to search for splits")
    axes.set_ylabel(f"expected {result.metric} (out-of-bag)")
    tidy(axes)
    figure.legend(fontsize="x-small", edgecolor="none", loc="outside right upper")
    save_figure(figure, path)

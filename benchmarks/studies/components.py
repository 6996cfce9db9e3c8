"""Which n_components should be the default: m against the forest on the original outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.data import TrainTestSplit
from benchmarks.experiments import Workspace
from benchmarks.studies.method_experiment import (
    FitResult,
    MethodExperiment,
    Study,
    Table,
    find_datasets,
    fit_and_score,
    markdown_table,
    mean_and_sd,
    split_counts,
    values_by_method,
)
from sketchforest import ExtraTreesClassifier, RandomForestClassifier
from sketchforest.datasets import load
from sketchforest.projection import resolve_n_components

KINDS = {"rf": RandomForestClassifier, "et": ExtraTreesClassifier}
COMPONENTS: tuple[int | str, ...] = (1, "log", 4, 8, 16, 32, 64, 128)
PLAIN = "plain"
# Of the sets, on which a default must be no more than one sd below the plain forest.
ENOUGH = 0.9


@dataclass(frozen=True)
class ComponentsSummary:
    """One value of n_components over all sets."""

    n_components: str
    share_ok: dict[str, float]  # by kind of forest
    relative_seconds: float  # geometric mean over sets and kinds, to the plain forest

    @property
    def is_good(self) -> bool:
        return min(self.share_ok.values()) >= ENOUGH


def run_components(
    datasets: Sequence[str],
    out: Path,
    *,
    n_splits: int = 5,
    n_estimators: int = 100,
    n_jobs: int = 2,
    data_home: str | None = None,
    console: Console | None = None,
) -> bool:
    """Measures, and writes components-T-trees.csv and components.md into ``out``."""
    study = Study(
        "components", out, n_estimators, partial(components_page, n_estimators=n_estimators)
    )
    experiments = [
        MethodExperiment(
            name,
            split,
            f"{kind}-{m}",
            study.table,
            FitResult,
            partial(_measure, kind, m, n_estimators, n_jobs, split),
        )
        for name in find_datasets(datasets, data_home)
        for components in [(PLAIN, *_distinct(load(name, data_home).Y.shape[1]))]
        for split in range(n_splits)
        for kind in KINDS
        for m in components
    ]
    return study.run(experiments, Workspace(data_home, n_jobs), console)


def _distinct(n_labels: int) -> list[int | str]:
    """What projects at all: m of d or more keeps the original outputs, as the default does."""
    return [m for m in COMPONENTS if (resolve_n_components(m, n_labels) or n_labels) < n_labels]


def _measure(
    kind: str, m: int | str, n_estimators: int, n_jobs: int, seed: int, data: TrainTestSplit
) -> FitResult:
    outputs = {"projection": None} if m == PLAIN else {"n_components": m}
    forest = KINDS[kind](n_estimators, n_jobs=n_jobs, random_state=seed, **outputs)
    return fit_and_score(forest, data)


def components_page(results: Sequence[Mapping[str, str]], n_estimators: int) -> str:
    """The table of means, and which default it speaks for."""
    scores, seconds = values_by_method(results, "lrap"), values_by_method(results, "seconds")
    names = list(dict.fromkeys(dataset for dataset, _ in scores))
    n_splits = split_counts(map(len, scores.values()))
    lines = [
        "# How many components",
        "",
        f"Forests of {n_estimators} trees, each tree on a gaussian projection of the labels to m "
        f"components of its own. LRAP on test rows, means over {n_splits} random splits of each "
        "set; sd is the standard deviation over these splits. `log` is ln d, of d labels. *In "
        "italics*: more than one sd below the forest on the original outputs. `=`: the set has no "
        "more than m labels, so that nothing is projected. Made by `sketchforest bench "
        "components`.",
        "",
    ]
    for kind, title in (("rf", "Random forest"), ("et", "Extra-trees")):
        rows = [_row(kind, name, scores) for name in names if (name, f"{kind}-{PLAIN}") in scores]
        header = ["data set", "original outputs", *(f"m={m}" for m in COMPONENTS)]
        lines += [f"## {title}: LRAP, mean over splits (± sd)", "", markdown_table(header, rows)]
    summaries = [_summarise(m, names, scores, seconds) for m in COMPONENTS]
    header = ["n_components", "sets, random forest", "sets, extra-trees", "fit time"]
    table = [
        [s.n_components, f"{s.share_ok['rf']:.0%}", f"{s.share_ok['et']:.0%}", _times(s)]
        for s in summaries
    ]
    lines += [
        "## No more than one sd below the original outputs",
        "",
        "On what share of the sets that holds, and the time of a fit beside that of the forest on "
        "the original outputs: the geometric mean over sets and both kinds of forest.",
        "",
        markdown_table(header, table),
    ]
    good = [summary for summary in summaries if summary.is_good]
    best = min(good, key=lambda summary: summary.relative_seconds, default=None)
    lines.append(
        f"The cheapest that holds on {ENOUGH:.0%} of the sets: n_components={best.n_components}.\n"
        if best
        else f"None holds on {ENOUGH:.0%} of the sets.\n"
    )
    return "\n".join(lines)


def _times(summary: ComponentsSummary) -> str:
    return f"{summary.relative_seconds:.2f} of the original's"


def _row(kind: str, name: str, scores: Table) -> list[str]:
    plain, sd = mean_and_sd(scores[name, f"{kind}-{PLAIN}"])
    cells = []
    for m in COMPONENTS:
        values = scores.get((name, f"{kind}-{m}"))
        mean = plain if values is None else float(np.mean(values))
        text = "=" if values is None else f"{mean:.4f}"
        cells.append(f"*{text}*" if mean < plain - sd else text)
    return [name, f"{plain:.4f} ± {sd:.4f}", *cells]


def _summarise(
    m: int | str,
    names: Sequence[str],
    scores: Table,
    seconds: Table,
) -> ComponentsSummary:
    share_ok, ratios = {}, []
    for kind in KINDS:
        are_ok = []
        for name in names:
            if (name, f"{kind}-{PLAIN}") not in scores:
                continue
            plain, sd = mean_and_sd(scores[name, f"{kind}-{PLAIN}"])
            # Where m is d or more, the forest keeps the original outputs.
            values = scores.get((name, f"{kind}-{m}"), [plain])
            are_ok.append(float(np.mean(values)) >= plain - sd)
            time = seconds.get((name, f"{kind}-{m}"), seconds[name, f"{kind}-{PLAIN}"])
            ratios.append(np.mean(time) / np.mean(seconds[name, f"{kind}-{PLAIN}"]))
        share_ok[kind] = float(np.mean(are_ok)) if are_ok else 0.0
    return ComponentsSummary(
        str(m), share_ok, float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0
    )

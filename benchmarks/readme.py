"""Tables and pages made from the results that are stored in docs.

`python -m benchmarks readme` writes them again, and a test checks that they are up to date.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.bench.front import draw_front
from benchmarks.reproduce.page import Section
from benchmarks.reproduce.tables_page import NAMES, section_of_rows
from benchmarks.studies.accuracy_page import (
    FLAGSHIP,
    accuracy_page,
    better_and_worse,
    defaults_on_common_splits,
    save_picture,
)
from benchmarks.studies.components import components_page
from benchmarks.studies.projections import projections_page
from benchmarks.studies.study import by_method, differences, markdown_table
from benchmarks.studies.thresholds import thresholds_page
from benchmarks.studies.tuning import tuning_page
from sketchforest._utils.pictures import picture_bytes
from sketchforest._utils.units import ratio, seconds, size

# Titles of the benchmark's data sets, in the order of the table.
_BENCHMARKS = {
    "delicious": "Delicious: 12,920 rows, 500 words, 983 tags",
    "bibtex": "Bibtex: 4,880 rows, 1,836 words, 159 tags",
    "mediamill": "Mediamill: 30,993 rows, 120 dense features, 101 labels",
    "imdb": "imdb: 80,613 rows, 1,001 words, 28 genres",
}
_NAMES = {
    "sklearn-rf": "scikit-learn random forest",
    "sklearn-et": "scikit-learn extra-trees",
    "napkinxc": "napkinXC (PLT)",
    "omikuji": "omikuji (Parabel)",
    "rf": "**random forest**, original outputs",
    "sketch": "**sketch forest**",
}
_KINDS = {"rf": "random forest", "et": "extra-trees"}


def leads(docs: Path) -> str:
    """Count the data sets on which the flagship leads."""
    results = pd.read_csv(docs / "accuracy-100-trees.csv")
    others = [name for name in defaults_on_common_splits(results, "lrap") if name != FLAGSHIP]
    ahead = [f"- against {other}: ahead on {_ahead_of(results, other)}" for other in others]
    return "\n".join(ahead)


def _ahead_of(results: pd.DataFrame, other: str) -> str:
    found = differences(by_method(results, "lrap"), FLAGSHIP, other)
    better, worse = better_and_worse(found)
    return f"{better} of {(found['count'] > 1).sum()} data sets, behind on {worse}"


def benchmark_table(docs: Path) -> str:
    """Compare time, memory and size of each method with scikit-learn's forest."""
    rows = []
    for name, title in _BENCHMARKS.items():
        rows.append([f"**{title}**", *5 * [""]])
        measured = pd.read_csv(docs / "benchmark" / f"{name}.csv").itertuples()
        rows += [_costs(row) for row in measured if "-z" not in row.method]
    header = ["100 trees", "fit", "faster", "peak memory", "pickled", "LRAP"]
    return markdown_table(header, rows).rstrip()


def _costs(row: Any) -> list[str]:
    star = "*" * row.is_scaled
    kind, _, m = row.method.partition("-m")
    return [
        _NAMES.get(row.method) or f"**{_KINDS[kind]}**, m = {m}",
        seconds(row.fit_seconds) + star,
        "" if row.method.startswith("sklearn") else ratio(row.fit_ratio),
        size(row.peak_bytes) + star,
        size(row.model_bytes) + star,
        "–" if np.isnan(row.lrap) else f"{row.lrap:.3f}",
    ]


def paper_agreement(docs: Path) -> str:
    """Count scores far from the paper's, in standard deviations and in standard errors."""
    tables = [pd.read_csv(docs / "paper" / f"table{number}.csv") for number in (1, 2)]
    rows = pd.concat(tables)
    rows = rows[rows["is_comparable"] & rows["gap_in_sd"].notna()]
    n_far = (rows["gap_in_sd"] > 2).sum()
    # Both means are over the same number of splits: we use the paper's.
    error = np.hypot(rows["lrap_sd"], rows["paper_sd"]) / np.sqrt(rows["n_splits"])
    apart = rows[(rows["lrap"] - rows["paper"]).abs() > 2 * error]
    n_extra = (apart["forest"] == "extra_trees").sum()
    return (
        f"We reproduced the [paper](docs/theory.md): {n_far} of {len(rows)} comparable scores "
        "differ from the paper's by more than\ntwice the larger standard deviation over splits. "
        f"Means over ten splits vary less: {len(apart)} scores differ by\nmore than two standard "
        f"errors of the difference, {n_extra} of them for extra-trees."
    )


def paper_table(docs: Path, forest: str) -> Section:
    """Make the section of a table of the paper from its CSV file."""
    rows = pd.read_csv(docs / "paper" / f"{NAMES[forest]}.csv")
    marks = ["mark", "against_original", "paper_against_original"]
    return section_of_rows(forest, rows.fillna(dict.fromkeys(marks, "")), n_estimators=100)


def machine(docs: Path) -> str:
    """Describe the machine of the benchmark."""
    with (docs / "benchmark" / "machine.json").open(encoding="utf-8") as file:
        about = json.load(file)
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    memory = size(about["memory_bytes"])
    return f"{about['cpu']}, {about['cores']} cores, {memory}; Python {about['python']}, {packages}"


def with_tables(readme: str, docs: Path) -> str:
    """Replace what stands between <!-- NAME --> and <!-- / -->."""
    made = {
        "accuracy": leads(docs),
        "machine": machine(docs),
        "paper": paper_agreement(docs),
    }

    def renewed(found: re.Match[str]) -> str:
        return f"<!-- {found[1]} -->\n{made[found[1]]}\n<!-- / -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- / -->", renewed, readme, flags=re.DOTALL)


def study_pages(docs: Path) -> dict[Path, str]:
    """Make the page of each study from its results."""

    def results(name: str) -> pd.DataFrame:
        return pd.read_csv(docs / f"{name}-100-trees.csv")

    study = docs / "study"
    predicted = pd.read_csv(study / "predicted.csv")
    return {
        docs / "accuracy.md": accuracy_page(results("accuracy"), 100),
        study / "components.md": components_page(results("study/components"), 100),
        study / "projections.md": projections_page(results("study/projections"), 100),
        study / "thresholds.md": thresholds_page(results("study/thresholds")),
        study / "tuning.md": tuning_page(results("study/tuning"), predicted, 100),
    }


def renew(root: Path) -> None:
    """Write the tables of the README, the pages of the studies and the picture of accuracy."""
    docs, readme = root / "docs", root / "README.md"
    made = {readme: with_tables(readme.read_text(encoding="utf-8"), docs), **study_pages(docs)}
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    save_picture(pd.read_csv(docs / "accuracy-100-trees.csv"), docs / "accuracy.svg")
    figure = Figure(layout="constrained")
    draw_front(pd.read_csv(docs / "benchmark" / "delicious.csv"), figure)
    (docs / "comparison.svg").write_bytes(picture_bytes(figure, "svg"))

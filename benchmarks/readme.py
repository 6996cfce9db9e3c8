"""The tables of README and comparison, made from the measurements in docs.

`python -m benchmarks readme` writes those of README anew; a test holds it to that.
"""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.studies.accuracy_page import (
    FLAGSHIP,
    METHODS,
    defaults_on_common_splits,
    n_common_splits,
)
from benchmarks.studies.method_experiment import (
    Table,
    better_and_worse,
    differences,
    markdown_table,
    values_by_method,
)
from sketchforest._units import ratio, seconds, size

_SHOWN = ("delicious", "bibtex", "mediamill", "stackex_cooking", "yahoo_arts", "YeastBP", "scene")
# Each data set of the benchmark, as it is called, in the order of the table.
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
}
_KINDS = {"rf": "random forest", "et": "extra-trees"}


def accuracy_table(docs: Path) -> str:
    """LRAP on some of the sets, the best in bold, and on how many of all the flagship leads."""
    all_scores = values_by_method(_rows(docs / "accuracy-100-trees.csv"), "lrap")
    scores = defaults_on_common_splits(all_scores)
    methods = [m for m in METHODS if any(m == known for _, known in scores)]
    rows = []
    for name in _SHOWN:
        means = [float(np.mean(scores[name, m])) if (name, m) in scores else -1 for m in methods]
        cells = [f"{mean:.3f}" if mean >= 0 else "–" for mean in means]
        cells[int(np.argmax(means))] = f"**{cells[int(np.argmax(means))]}**"
        rows.append([name, *cells, n_common_splits(scores, name)])
    n_sets = len({name for name, _ in scores})
    ahead = ",\n".join(_ahead_of(all_scores, other) for other in methods if other != FLAGSHIP)
    return (
        markdown_table(["LRAP, defaults", *methods, "splits"], rows)
        + f"\nMeans over random splits, the same for all methods in a row. Of {n_sets} data sets, "
        f"the {FLAGSHIP}\nis better by more than one standard deviation of the difference than "
        f"{ahead}.\nA set with one split has no standard deviation, and is not counted."
    )


def _ahead_of(scores: Table, other: str) -> str:
    found = differences(scores, FLAGSHIP, other).values()
    better, worse = better_and_worse(found)
    return f"{other} on {better} of {sum(len(v) > 1 for v in found)} (worse on {worse})"


def other_libraries(docs: Path) -> str:
    """On how many sets another library takes less time to fit than the random forest."""
    seconds = values_by_method(_rows(docs / "accuracy-100-trees.csv"), "fit_seconds")
    counts = []
    for other in ("napkinXC", "omikuji"):
        gains = [np.mean(found) for found in differences(seconds, "random forest", other).values()]
        counts.append(f"{other} does on {sum(gain > 0 for gain in gains)} of {len(gains)} sets")
    return (
        "Linear label trees may fit in less time than the random forest: in processor seconds,\n"
        f"{' and '.join(counts)} ([docs/accuracy.md](docs/accuracy.md))."
    )


def benchmark_table(docs: Path, names: Sequence[str] = tuple(_BENCHMARKS)) -> str:
    """Time, memory and size of each method beside scikit-learn's forest."""
    rows = []
    for name in names:
        rows.append([f"**{_BENCHMARKS[name]}**", *5 * [""]])
        measured = _rows(docs / "benchmark" / f"{name}.csv")
        rows += [_costs(row) for row in measured if "-z" not in row["method"]]
    header = ["100 trees", "fit", "faster", "peak memory", "pickled", "LRAP"]
    return markdown_table(header, rows).rstrip()


def _costs(row: Mapping[str, str]) -> list[str]:
    star = "*" if row["is_scaled"] == "True" else ""
    kind, _, m = row["method"].partition("-m")
    name = _NAMES.get(row["method"]) or f"**{_KINDS[kind]}**, m = {m}"
    return [
        name,
        seconds(float(row["fit_seconds"])) + star,
        "" if row["method"].startswith("sklearn") else ratio(float(row["fit_ratio"])),
        size(float(row["peak_bytes"])) + star,
        size(float(row["model_bytes"])) + star,
        f"{float(row['lrap']):.3f}" if row["lrap"] else "–",
    ]


def paper_agreement(docs: Path) -> str:
    """How many of the paper's scores ours are far from: by the spread of splits, and by what means
    over them vary."""
    rows = [row for name in ("table1", "table2") for row in _rows(docs / "paper" / f"{name}.csv")]
    comparable = [row for row in rows if row["is_comparable"] == "True" and row["gap_in_sd"]]
    n_far = sum(float(row["gap_in_sd"]) > 2 for row in comparable)
    apart = [row for row in comparable if _standard_errors_apart(row) > 2]
    n_extra = sum(row["forest"] == "extra_trees" for row in apart)
    return (
        f"The [paper](docs/theory.md) is reproduced: {n_far} of {len(comparable)} comparable "
        "scores differ by more than twice the\nlarger standard deviation over splits. Means of "
        "ten splits vary less than splits do: by the standard\nerror of the difference, "
        f"{len(apart)} are more than two apart, {n_extra} of them of extra-trees."
    )


def _standard_errors_apart(row: Mapping[str, str]) -> float:
    """Both means are over the same number of splits: we took the paper's."""
    spread = np.hypot(float(row["lrap_sd"]), float(row["paper_sd"]))
    error = spread / np.sqrt(int(row["n_splits"]))
    return abs(float(row["lrap"]) - float(row["paper"])) / error if error else 0.0


def machine(docs: Path) -> str:
    """What the benchmark ran on, in a sentence."""
    with (docs / "benchmark" / "machine.json").open(encoding="utf-8") as file:
        about = json.load(file)
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    memory = size(about["memory_bytes"])
    return f"{about['cpu']}, {about['cores']} cores, {memory}; Python {about['python']}, {packages}"


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def with_tables(readme: str, docs: Path) -> str:
    """The text with what stands between <!-- NAME --> and <!-- / --> made anew."""
    made = {
        "accuracy": accuracy_table(docs),
        "benchmark": benchmark_table(docs, ("delicious", "mediamill")),
        "machine": machine(docs),
        "others": other_libraries(docs),
        "paper": paper_agreement(docs),
    }

    def renewed(found: re.Match[str]) -> str:
        return f"<!-- {found[1]} -->\n{made[found[1]]}\n<!-- / -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- / -->", renewed, readme, flags=re.DOTALL)


def renew(root: Path) -> None:
    """Write the tables of the README anew."""
    path = root / "README.md"
    path.write_text(with_tables(path.read_text(encoding="utf-8"), root / "docs"), encoding="utf-8")

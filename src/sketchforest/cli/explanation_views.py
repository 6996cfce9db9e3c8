"""Explanations of a row, for the terminal and as JSON."""

from typing import Any

from rich.console import Console

from sketchforest._utils.display import listed, shortened
from sketchforest._utils.units import UNKNOWN
from sketchforest._workflows.explanation_json import label_json, rows_json
from sketchforest.cli.tables import SHOWN, escaped, make_table
from sketchforest.explain import Explanation

TEXT_WIDTH = 60


def as_json(found: Explanation, row: int, has_labels: bool = True) -> dict[str, Any]:
    """Return the explanation as JSON. Training rows have labels, or outputs of a regressor."""
    rows = rows_json(found, SHOWN)
    if not has_labels:
        names = list(map(str, found.label_names))
        for at, each in enumerate(rows):
            del each["labels"]
            each["outputs"] = dict(zip(names, found.votes[at].tolist(), strict=True))
    labels = [label_json(found, at, SHOWN) for at in range(len(found.label_names))]
    return {"row": row, "labels": labels, "training_rows": rows}


def show_explanation(content: dict[str, Any], console: Console) -> None:
    for label in content["labels"]:
        name, score, base = escaped(label["label"]), label["score"], label["base"]
        console.print(f"{name}: {score:.3f} (baseline {base:.3f})", soft_wrap=True)
        features = [
            (
                line["feature"],
                UNKNOWN if line["value"] is None else f"{line['value']:.4g}",
                f"{line['adds']:+.4f}",
            )
            for line in label["features"]
        ]
        columns = ("feature", "value", "contribution")
        console.print(make_table(columns, features, right=columns[1:]), "")
    console.print("Training rows with the largest weights (counted from 0):")
    training_rows = content["training_rows"]
    outputs = list(training_rows[0].get("outputs", ())) if training_rows else []
    texts = ["text"] if any("text" in row for row in training_rows) else []
    rows = []
    for row in training_rows:
        truth = [shortened(listed(row["labels"]), TEXT_WIDTH)] if not outputs else []
        truth += [f"{value:.4g}" for value in row.get("outputs", {}).values()]
        truth += [shortened(row[name], TEXT_WIDTH) for name in texts]
        rows.append([row["id"], f"{row['weight']:.4f}", *truth])
    columns = ("row", "weight", *(map(escaped, outputs) if outputs else ["labels"]), *texts)
    console.print(make_table(columns, rows, right=columns[: 2 + len(outputs)]))

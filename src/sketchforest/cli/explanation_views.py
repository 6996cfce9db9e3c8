"""Explanations of a row, for the terminal and as JSON."""

from typing import Any

from rich.console import Console

from sketchforest._utils.display import listed, shortened
from sketchforest._utils.units import UNKNOWN
from sketchforest.cli.tables import SHOWN, escaped, make_table, number_or_none
from sketchforest.explain import Explanation

TEXT_WIDTH = 60


def as_json(found: Explanation, row: int, has_labels: bool = True) -> dict[str, Any]:
    """Return the explanation as JSON.

    The contributions of the features add up to the score; the last lines sum up several features
    and have no value. Training rows have labels, or outputs in case of a regressor.
    """
    texts = found.row_texts
    return {
        "row": row,
        "labels": [
            {
                "label": str(name),
                "score": float(found.scores[k]),
                "base": float(found.base[k]),
                "features": [
                    {
                        "feature": line.feature,
                        "value": None if line.value is None else number_or_none(line.value),
                        "adds": line.adds,
                    }
                    for line in found.lines(k, SHOWN)
                ],
            }
            for k, name in enumerate(found.label_names)
        ],
        "training_rows": [
            {
                "row": int(found.rows[at]),
                "id": found.row_names[at],
                "weight": float(found.weights[at]),
                **_truth(found, at, has_labels),
                **({} if texts is None else {"text": texts[at]}),
            }
            for at in range(min(SHOWN, len(found.rows)))
        ],
    }


def _truth(found: Explanation, at: int, has_labels: bool) -> dict[str, Any]:
    if has_labels:
        return {"labels": found.row_labels[at]}
    names = map(str, found.label_names)
    return {"outputs": dict(zip(names, found.votes[at].tolist(), strict=True))}


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
    rows = [
        [
            row["id"],
            f"{row['weight']:.4f}",
            *(
                [f"{value:.4g}" for value in row["outputs"].values()]
                if outputs
                else [shortened(listed(row["labels"]), TEXT_WIDTH)]
            ),
            *(shortened(row[name], TEXT_WIDTH) for name in texts),
        ]
        for row in training_rows
    ]
    columns = ("row", "weight", *(map(escaped, outputs) if outputs else ["labels"]), *texts)
    console.print(make_table(columns, rows, right=columns[: 2 + len(outputs)]))

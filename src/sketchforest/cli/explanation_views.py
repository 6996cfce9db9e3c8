"""What counts for the labels of a row, for the terminal and as JSON."""

from typing import Any

import numpy as np
from rich.console import Console

from sketchforest._typing import Matrix
from sketchforest._units import UNKNOWN
from sketchforest._workflows import Model
from sketchforest._workflows.models import label_names, shown_features
from sketchforest.cli.tables import SHOWN, as_it_is, number_or_none, plain_table
from sketchforest.explain import Explanation


def as_json(found: Explanation, model: Model, x: Matrix, row: int) -> dict[str, Any]:
    names, labels = shown_features(model), label_names(model)
    return {
        "row": row,
        "labels": [
            {
                "label": str(labels[label]),
                "score": float(found.scores[k]),
                "base": float(found.base[k]),
                "features": [
                    {
                        "feature": str(names[found.features[at]]),
                        "value": number_or_none(x[0, found.features[at]]),
                        "adds": float(found.contributions[at, k]),
                    }
                    for at in _largest(found.contributions[:, k])
                ],
            }
            for k, label in enumerate(found.labels.tolist())
        ],
        "training_rows": [
            {
                "row": int(found.rows[at]),
                "weight": float(found.weights[at]),
                "labels": [
                    str(labels[found.labels[k]]) for k in np.flatnonzero(found.has_label[at])
                ],
            }
            for at in range(min(SHOWN, len(found.rows)))
        ],
    }


def _largest(contributions: np.ndarray) -> list[int]:
    order = np.argsort(-np.abs(contributions), kind="stable")[:SHOWN]
    return [int(at) for at in order if contributions[at] != 0]


def show_explanation(content: dict[str, Any], console: Console) -> None:
    for label in content["labels"]:
        console.print(
            f"{as_it_is(label['label'])}: {label['score']:.3f}, of which {label['base']:.3f} "
            "before any feature is asked for:",
            soft_wrap=True,
        )
        table = plain_table("feature", "value", "adds", right=("value", "adds"))
        for feature in label["features"]:
            table.add_row(
                as_it_is(feature["feature"]),
                UNKNOWN if feature["value"] is None else f"{feature['value']:.4g}",
                f"{feature['adds']:+.4f}",
            )
        console.print(table, "")
    console.print("The training rows that count, numbered from 0:")
    table = plain_table("row", "weight", "has", right=("row", "weight"))
    for row in content["training_rows"]:
        table.add_row(str(row["row"]), f"{row['weight']:.4f}", as_it_is(", ".join(row["labels"])))
    console.print(table)

"""What counts for the labels of a row, for the terminal and as JSON."""

from typing import Any

from rich.console import Console

from sketchforest._display import listed, shortened
from sketchforest._units import UNKNOWN
from sketchforest.cli.tables import SHOWN, as_it_is, number_or_none, plain_table
from sketchforest.explain import Explanation

TEXT_WIDTH = 60


def as_json(found: Explanation, row: int) -> dict[str, Any]:
    """Features that add up to the score, the last lines for several together, without a value."""
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
                "labels": found.row_labels[at],
                **({} if texts is None else {"text": texts[at]}),
            }
            for at in range(min(SHOWN, len(found.rows)))
        ],
    }


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
    has_texts = any("text" in row for row in content["training_rows"])
    columns = ("row", "weight", "labels", *(("text",) if has_texts else ()))
    table = plain_table(*columns, right=("row", "weight"))
    for row in content["training_rows"]:
        labels = shortened(listed(row["labels"]), TEXT_WIDTH)
        text = [shortened(row["text"], TEXT_WIDTH)] if has_texts else []
        weight = f"{row['weight']:.4f}"
        table.add_row(as_it_is(row["id"]), weight, *map(as_it_is, (labels, *text)))
    console.print(table)

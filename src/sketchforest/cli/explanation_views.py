"""What counts for the labels of a row, for the terminal and as JSON."""

from typing import Any

from rich.console import Console

from sketchforest._utils.display import listed, shortened
from sketchforest._utils.units import UNKNOWN
from sketchforest.cli.tables import SHOWN, as_it_is, number_or_none, plain_table
from sketchforest.explain import Explanation

TEXT_WIDTH = 60


def as_json(found: Explanation, row: int, has_labels: bool = True) -> dict[str, Any]:
    """Features that add up to the score, the last lines for several together, without a value.
    Training rows have labels, or the outputs that are explained."""
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
    rows = content["training_rows"]
    has_texts = any("text" in row for row in rows)
    outputs = [as_it_is(name) for name in rows[0].get("outputs", ())] if rows else []
    texts = ("text",) if has_texts else ()
    table = plain_table(
        *("row", "weight", *(outputs or ("labels",)), *texts), right=("row", "weight", *outputs)
    )
    for row in rows:
        cells = [row["id"], f"{row['weight']:.4f}"]
        if outputs:
            cells += [f"{value:.4g}" for value in row["outputs"].values()]
        else:
            cells.append(shortened(listed(row["labels"]), TEXT_WIDTH))
        cells += [shortened(row["text"], TEXT_WIDTH)] if has_texts else []
        table.add_row(*map(as_it_is, cells))
    console.print(table)

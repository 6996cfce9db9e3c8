"""Explanations as JSON, for the command line and the service."""

from typing import Any

import numpy as np

from sketchforest._utils.display import shortened
from sketchforest.explain import Explanation


def label_json(found: Explanation, at: int, n_features: int) -> dict[str, Any]:
    """Return the explanation of one label; the last lines sum up several features."""
    return {
        "label": str(found.label_names[at]),
        "score": float(found.scores[at]),
        "base": float(found.base[at]),
        "features": [
            {
                "feature": line.feature,
                "value": None if line.value is None or np.isnan(line.value) else float(line.value),
                "adds": line.adds,
            }
            for line in found.lines(at, n_features)
        ],
    }


def rows_json(found: Explanation, n_rows: int, max_text: int | None = None) -> list[dict[str, Any]]:
    """Return the training rows with the largest weights."""
    rows = []
    for at in range(min(n_rows, len(found.rows))):
        row = {"row": int(found.rows[at]), "id": found.row_names[at]}
        row |= {"weight": float(found.weights[at]), "labels": found.row_labels[at]}
        if found.row_texts is not None:
            text = found.row_texts[at]
            row["text"] = text if max_text is None else shortened(text, max_text)
        rows.append(row)
    return rows

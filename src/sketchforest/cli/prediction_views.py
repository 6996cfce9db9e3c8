"""Predictions as text: CSV, JSON Lines or sparse, one line per row."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._utils.typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.model_input import Rows
from sketchforest._workflows.models import (
    RankedLabels,
    as_lists,
    best_labels,
    is_classifier,
    label_names,
)
from sketchforest.datasets.columns import join_tags

OUTPUT_FORMATS = ("csv", "jsonl", "sparse")
_FOUND = ("labels", "scores")


def predicted_lines(
    model: Model, blocks: Iterator[Rows], output: str, top: int | None, separator: str
) -> Iterator[str]:
    """Yield the text of each block of rows, after a header for CSV.

    Kept columns come before the predictions.
    """
    if output not in OUTPUT_FORMATS:
        raise ValueError(f"output must be one of {', '.join(OUTPUT_FORMATS)}; got {output!r}.")
    names = label_names(model.fitted_).tolist()
    columns = _FOUND if is_classifier(model) else tuple(names)
    if top is not None and not is_classifier(model):
        raise ValueError(f"top does not apply to regressors; got {top}.")

    def lines(rows: Rows) -> str:
        X, kept = rows
        if output == "sparse" and kept:
            raise ValueError("keep requires csv or jsonl output; got output='sparse'.")
        if not is_classifier(model):
            return _outputs(model.predict(X), output, kept)
        found = best_labels(model, X, top)
        if output == "csv":
            return _csv_text(_csv_rows(found, names, separator, kept))
        return _jsonl(found, names, kept) if output == "jsonl" else _sparse(found)

    first = next(blocks, None)
    # Predict first, so that an error comes before any output.
    beginning = "" if first is None else lines(first)
    if output == "csv":
        yield _csv_text([[*(first.kept if first else ()), *columns]])
    yield beginning
    yield from map(lines, blocks)


def _csv_rows(
    found: RankedLabels, names: list[str], separator: str, kept: Mapping[str, Sequence[Any]]
) -> Iterator[list[Any]]:
    for row, (labels, scores) in enumerate(found):
        yield [
            *(_cell(cells[row], separator) for cells in kept.values()),
            join_tags([names[label] for label in labels], separator),
            join_tags([f"{score:.6g}" for score in scores], separator),
        ]


def _cell(value: Any, separator: str) -> Any:
    return join_tags(list(map(str, value)), separator) if isinstance(value, list) else value


def _jsonl(found: RankedLabels, names: list[str], kept: Mapping[str, Sequence[Any]]) -> str:
    lines = []
    for row, (labels, scores) in enumerate(found):
        content = {name: cells[row] for name, cells in kept.items()} | {
            "labels": [names[label] for label in labels],
            "scores": [float(f"{score:.6g}") for score in scores],
        }
        lines.append(_json_line(content))
    return "".join(lines)


def _json_line(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, default=str) + "\n"


def _sparse(found: RankedLabels) -> str:
    return "".join(
        " ".join([f"{label}:{score:.6g}" for label, score in zip(labels, scores, strict=True)])
        + "\n"
        for labels, scores in found
    )


def _outputs(predicted: Matrix, output: str, kept: Mapping[str, Sequence[Any]]) -> str:
    """Return the outputs of a regressor as text."""
    if output == "sparse":
        rows = sparse.csr_array(predicted.reshape(predicted.shape[0], -1))
        return _sparse(as_lists(rows.indices, rows.data, rows.indptr))
    dense = predicted if isinstance(predicted, np.ndarray) else predicted.toarray()
    rows_of_numbers = dense.reshape(len(dense), -1).tolist()
    if output == "jsonl":
        return "".join(
            _json_line({name: cells[row] for name, cells in kept.items()} | {"outputs": numbers})
            for row, numbers in enumerate(rows_of_numbers)
        )
    return _csv_text(
        [*(cells[row] for cells in kept.values()), *(f"{number:.8g}" for number in numbers)]
        for row, numbers in enumerate(rows_of_numbers)
    )


def _csv_text(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()

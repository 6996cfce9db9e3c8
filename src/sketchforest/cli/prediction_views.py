"""Predictions as lines of text: CSV, JSON or sparse, a line for each row."""

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
    """The text of each block of rows, and a header before the first one of CSV; kept columns come
    before what is predicted."""
    if output not in OUTPUT_FORMATS:
        raise ValueError(f"output must be one of {', '.join(OUTPUT_FORMATS)}; got {output!r}.")
    names = label_names(model.fitted_).tolist()
    columns = _FOUND if is_classifier(model) else tuple(names)
    if top is not None and not is_classifier(model):
        raise ValueError(f"top is for models of labels; got {top} and a regressor. Leave it out.")

    def lines(rows: Rows) -> str:
        X, kept = rows
        if output == "sparse" and kept:
            raise ValueError("keep is for csv and jsonl; got it with output='sparse'.")
        if not is_classifier(model):
            return _outputs(model.predict(X), output, kept)
        found = best_labels(model, X, top)
        if output == "csv":
            return _csv_text(_csv_rows(found, names, separator, kept))
        return _jsonl(found, names, kept) if output == "jsonl" else _sparse(found)

    first = next(blocks, None)
    # A model or a row that cannot be predicted is told before anything is printed.
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
    """Those of a regressor."""
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

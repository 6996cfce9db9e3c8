"""Predictions as lines of text: CSV, JSON or sparse, a line for each row."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from scipy import sparse

from sketchforest._typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.models import (
    RankedLabels,
    as_lists,
    best_labels,
    is_classifier,
    label_names,
)

OUTPUT_FORMATS = ("csv", "jsonl", "sparse")


def predicted_lines(
    model: Model, blocks: Iterator[Matrix], output: str, top: int | None, separator: str
) -> Iterator[str]:
    """The text of each block of rows, and a header before the first one of CSV."""
    if output not in OUTPUT_FORMATS:
        raise ValueError(f"output must be one of {', '.join(OUTPUT_FORMATS)}; got {output!r}.")
    names = label_names(model).tolist()
    if is_classifier(model):
        if output == "csv":
            yield "labels,scores\n"
        writers = {"csv": _csv, "jsonl": _jsonl, "sparse": _sparse}
        writer: Callable[[RankedLabels, list[str], str], str] = writers[output]
        for X in blocks:
            yield writer(best_labels(model, X, top), names, separator)
        return
    if top is not None:
        raise ValueError(f"top is for models of labels; got {top} and a regressor. Leave it out.")
    if output == "csv":
        yield _csv_text([names])
    for X in blocks:
        yield _outputs(model.predict(X), output)


def _csv(found: RankedLabels, names: list[str], separator: str) -> str:
    return _csv_text(
        (
            separator.join([names[label] for label in labels]),
            separator.join([f"{score:.6g}" for score in scores]),
        )
        for labels, scores in found
    )


def _jsonl(found: RankedLabels, names: list[str], separator: str) -> str:
    lines = []
    for labels, scores in found:
        content = {
            "labels": [names[label] for label in labels],
            "scores": [float(f"{score:.6g}") for score in scores],
        }
        lines.append(json.dumps(content, ensure_ascii=False) + "\n")
    return "".join(lines)


def _sparse(found: RankedLabels, names: list[str], separator: str) -> str:
    return "".join(
        " ".join([f"{label}:{score:.6g}" for label, score in zip(labels, scores, strict=True)])
        + "\n"
        for labels, scores in found
    )


def _outputs(predicted: Matrix, output: str) -> str:
    if output == "sparse":
        rows = sparse.csr_array(predicted.reshape(predicted.shape[0], -1))
        return _sparse(as_lists(rows.indices, rows.data, rows.indptr), [], "")
    dense = predicted if isinstance(predicted, np.ndarray) else predicted.toarray()
    rows_of_numbers = dense.reshape(len(dense), -1).tolist()
    if output == "jsonl":
        return "".join(json.dumps({"outputs": row}) + "\n" for row in rows_of_numbers)
    return _csv_text([f"{number:.8g}" for number in row] for row in rows_of_numbers)


def _csv_text(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()

"""Predictions as lines of text: CSV, JSON or sparse, a line for each row."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._workflows.model_input import label_names

OUTPUT_FORMATS = ("csv", "jsonl", "sparse")


def predicted_lines(
    model: Any, blocks: Iterator[Any], output: str, top: int | None, separator: str
) -> Iterator[str]:
    """The text of each block of rows, and a header before the first one of CSV."""
    if output not in OUTPUT_FORMATS:
        raise ValueError(f"output must be one of {', '.join(OUTPUT_FORMATS)}; got {output!r}.")
    if hasattr(model, "predict_topk"):
        if output == "csv":
            yield "labels,scores\n"
        writer: Callable[..., str] = {"csv": _csv, "jsonl": _jsonl, "sparse": _sparse}[output]
        names = label_names(model).tolist()
        for X in blocks:
            yield writer(best_labels(model, X, top), names, separator)
        return
    if top is not None:
        raise ValueError(f"top is for models of labels; got {top} and a regressor. Leave it out.")
    names = label_names(model).tolist()
    if output == "csv":
        yield _csv_line(names)
    for X in blocks:
        yield _outputs(model.predict(X), output)


def best_labels(model: Any, X: Any, top: int | None) -> list[tuple[list[int], list[float]]]:
    """Labels and scores of each row, best first: the `top` best, or those that are predicted."""
    X = model._check_new(X)
    if top is None and model._classes is None:
        return _by_score(model._likely_labels(X))
    labels, scores = model.predict_topk(X, min(top or 1, model._labels.shape[1]))
    if model._classes is not None:
        labels = np.searchsorted(model._classes, labels)
    counts = np.count_nonzero(scores > 0, axis=1).tolist()
    found = zip(labels.tolist(), scores.tolist(), counts, strict=True)
    return [(row[:n], values[:n]) for row, values, n in found]


def _by_score(likely: sparse.csr_array) -> list[tuple[list[int], list[float]]]:
    rows = np.repeat(np.arange(likely.shape[0]), np.diff(likely.indptr))
    order = np.lexsort((likely.indices, -likely.data, rows))
    columns, values = likely.indices[order].tolist(), likely.data[order].tolist()
    return [(columns[a:b], values[a:b]) for a, b in pairwise(likely.indptr.tolist())]


def _csv(found: list, names: list[str], separator: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for labels, scores in found:
        named = separator.join([names[label] for label in labels])
        writer.writerow((named, separator.join([f"{score:.6g}" for score in scores])))
    return text.getvalue()


def _jsonl(found: list, names: list[str], separator: str) -> str:
    lines = []
    for labels, scores in found:
        content = {
            "labels": [names[label] for label in labels],
            "scores": [float(f"{score:.6g}") for score in scores],
        }
        lines.append(json.dumps(content, ensure_ascii=False) + "\n")
    return "".join(lines)


def _sparse(found: list, names: list[str], separator: str) -> str:
    return "".join(
        " ".join([f"{label}:{score:.6g}" for label, score in zip(labels, scores, strict=True)])
        + "\n"
        for labels, scores in found
    )


def _outputs(predicted: Any, output: str) -> str:
    if output == "sparse":
        rows = sparse.csr_array(predicted.reshape(predicted.shape[0], -1))
        return _sparse(_by_place(rows), [], "")
    dense = predicted.toarray() if sparse.issparse(predicted) else predicted
    rows_of_numbers = dense.reshape(len(dense), -1).tolist()
    if output == "jsonl":
        return "".join(json.dumps({"outputs": row}) + "\n" for row in rows_of_numbers)
    return "".join(_csv_line([f"{number:.8g}" for number in row]) for row in rows_of_numbers)


def _by_place(rows: sparse.csr_array) -> list[tuple[list[int], list[float]]]:
    columns, values = rows.indices.tolist(), rows.data.tolist()
    return [(columns[a:b], values[a:b]) for a, b in pairwise(rows.indptr.tolist())]


def _csv_line(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()

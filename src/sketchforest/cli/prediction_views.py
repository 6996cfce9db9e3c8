"""Predictions as text: CSV, JSON Lines or sparse, one line per row."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._estimators.inspection.names import label_names
from sketchforest._estimators.predicting.ranked import as_lists, ranked_labels
from sketchforest._features import Model
from sketchforest._utils.typing import Matrix
from sketchforest._workflows.model_input import Rows
from sketchforest.datasets.columns import join_tags
from sketchforest.evaluation import is_classifier

OUTPUT_FORMATS = ("csv", "jsonl", "sparse")


def predicted_lines(
    model: Model, blocks: Iterator[Rows], output: str, top: int | None, separator: str
) -> Iterator[str]:
    """Yield the text of each block of rows, after a header for CSV.

    Kept columns come before the predictions.
    """
    if output not in OUTPUT_FORMATS:
        raise ValueError(f"output must be one of {', '.join(OUTPUT_FORMATS)}; got {output!r}.")
    if top is not None and not is_classifier(model):
        raise ValueError(f"top does not apply to regressors; got {top}.")
    names = label_names(model.fitted_).tolist()

    def predicted(X: Matrix) -> list[dict[str, list[Any]]]:
        if not is_classifier(model):
            return [{"outputs": numbers} for numbers in _dense(model.predict(X)).tolist()]
        return [
            {"labels": [names[at] for at in found], "scores": [float(f"{s:.6g}") for s in scores]}
            for found, scores in ranked_labels(model, X, top)
        ]

    def lines(rows: Rows) -> str:
        if output == "sparse":
            return _sparse(model, rows, top)
        found = predicted(rows.X)
        cells = [{n: cells[row] for n, cells in rows.kept.items()} for row in range(len(found))]
        both = zip(cells, found, strict=True)
        if output == "jsonl":
            texts = (json.dumps(a | b, ensure_ascii=False, default=str) for a, b in both)
            return "".join(f"{text}\n" for text in texts)
        if not is_classifier(model):
            return _csv_text([*a.values(), *(f"{v:.8g}" for v in b["outputs"])] for a, b in both)
        return _csv_text(
            [_joined(cell, separator) for cell in (*a.values(), *b.values())] for a, b in both
        )

    first = next(blocks, None)
    # Predict first, so that an error comes before any output.
    beginning = "" if first is None else lines(first)
    if output == "csv":
        columns = ("labels", "scores") if is_classifier(model) else names
        yield _csv_text([[*(first.kept if first else ()), *columns]])
    yield beginning
    yield from map(lines, blocks)


def _joined(cell: Any, separator: str) -> Any:
    if not isinstance(cell, list):
        return cell
    return join_tags([f"{v:.6g}" if isinstance(v, float) else str(v) for v in cell], separator)


def _dense(outputs: Matrix) -> np.ndarray:
    found = outputs if isinstance(outputs, np.ndarray) else outputs.toarray()
    return found.reshape(len(found), -1)


def _sparse(model: Model, rows: Rows, top: int | None) -> str:
    if rows.kept:
        raise ValueError("keep requires csv or jsonl output; got output='sparse'.")
    if is_classifier(model):
        found = ranked_labels(model, rows.X, top)
    else:
        outputs = sparse.csr_array(_dense(model.predict(rows.X)))
        found = as_lists(outputs.indices, outputs.data, outputs.indptr)
    lines = (
        " ".join(f"{label}:{score:.6g}" for label, score in zip(*row, strict=True)) for row in found
    )
    return "".join(f"{line}\n" for line in lines)


def _csv_text(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()

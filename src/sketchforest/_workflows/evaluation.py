"""Evaluate a model on a file with known labels."""

from dataclasses import replace

from sketchforest._features import Model
from sketchforest._workflows.model_input import read_labelled, training_format
from sketchforest._workflows.models import notes_of, was_trained_on
from sketchforest.datasets._text import AnyPath
from sketchforest.datasets.columns import Columns
from sketchforest.evaluation import Evaluation, evaluate


def evaluate_file(
    model: Model, path: AnyPath, format: str | None, columns: Columns, encoding: str = "utf-8"
) -> Evaluation:
    rows = read_labelled(path, training_format(path, format), model, columns, encoding)
    n_trained_on = notes_of(model).get("rows", 0) if was_trained_on(model, path) else 0
    found = evaluate(model, rows.X, rows.Y)
    return replace(found, n_unknown=len(rows.unknown), n_trained_on=n_trained_on)

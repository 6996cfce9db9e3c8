"""Evaluate a model on a file with known labels."""

from dataclasses import replace

from sketchforest._estimators.predicting.training_rows import find_training_rows
from sketchforest._evaluation.fitted import evaluate_rows
from sketchforest._features import Model
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.model_input import read_labeled
from sketchforest._workflows.models import training_rows_of_file
from sketchforest.evaluation import Evaluation


def evaluate_file(model: Model, file: DataFile, include_training_rows: bool = False) -> Evaluation:
    rows = read_labeled(file, model)
    trained = training_rows_of_file(model, file.path, rows.Y.shape[0])
    if trained is None:
        trained = find_training_rows(model, rows.X)
    found = evaluate_rows(model, rows.X, rows.Y, trained, include_training_rows, rows.texts)
    return replace(found, n_unknown=len(rows.unknown))

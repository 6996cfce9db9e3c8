"""The weights of training rows in predictions, and predictions of training rows out-of-bag."""

import numpy as np
from scipy import sparse

from sketchforest._estimators.predicting.decisions import HasFittedModel, averages_as_given
from sketchforest._trees.blended import BlendedPredictor
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.predict import ForestPredictor, Kept
from sketchforest._utils.row_hashes import match_rows, row_hashes
from sketchforest._utils.typing import Matrix, MatrixLike


def weights_of_rows(fitted: Fitted, checked: Matrix, n_jobs: int | None) -> sparse.csr_array:
    """`leaf_weights` of validated rows."""
    predictor = ForestPredictor.of_training_rows(fitted.forest)
    return predictor.average_sparse(checked, n_jobs, Kept(np.float64))


def find_training_rows(model: HasFittedModel, X: MatrixLike) -> np.ndarray:
    """(n_rows,) number of the training row with the values of each row of X, or -1.

    Where rows repeat, new rows have the values of training rows, too. So no row counts as a
    training row unless more rows match than of new data.
    """
    fitted = model.fitted_
    known = fitted.row_hashes
    checked = model._check_new(X, fitted)
    if known is None or not checked.shape[0]:
        return np.full(checked.shape[0], -1)
    found = match_rows(known, row_hashes(checked))
    # As Good and Turing: the share of new rows with known values is that of the training rows
    # whose values are not unique.
    counts = np.unique(known, return_counts=True)[1]
    repeated = 1 - np.count_nonzero(counts == 1) / len(known)
    error = np.sqrt(repeated * (1 - repeated) * (1 / len(found) + 1 / len(known)))
    if np.mean(found >= 0) <= repeated + 3 * error:
        found[:] = -1
    return found


def out_of_bag_rows(
    model: HasFittedModel, training_rows: np.ndarray
) -> tuple[np.ndarray, sparse.csr_array]:
    """The rows that some tree left out, and which trees (n_rows, n_trees) were grown on each.

    `training_rows` are the numbers of the rows among those of the training.
    """
    forest = model.fitted_.predictor
    rows, in_bag = np.array([], int), None
    if isinstance(forest, ForestPredictor | BlendedPredictor):
        in_bag = forest.forest.in_bag()[training_rows]
        rows = np.flatnonzero(np.diff(in_bag.indptr) < forest.forest.n_trees)
    if in_bag is None or not len(rows):
        raise ValueError(
            "include_training_rows must be True for rows that all trees were grown on, which have "
            "no out-of-bag predictions; got False. Or use rows that the model was not "
            "trained on."
        )
    return rows, in_bag[rows]


def averages_without(model: HasFittedModel, X: MatrixLike, in_bag: sparse.csr_array) -> Matrix:
    """Averages over the trees that were not grown on each row: CSR of labels or classes, or numbers
    in the form of Y.

    They are of trees alone: a linear part saw all rows, and the file does not keep them.
    """
    fitted, n_jobs = model.fitted_, model._n_jobs
    checked, predictor = model._check_new(X, fitted), fitted.calibrated_predictor
    if fitted.blend is not None:
        predictor = fitted.forest_predictor
    if fitted.targets.is_classification:
        return predictor.average_sparse(checked, n_jobs, Kept(np.float32), in_bag)
    return averages_as_given(predictor, fitted.targets, checked, n_jobs, in_bag)

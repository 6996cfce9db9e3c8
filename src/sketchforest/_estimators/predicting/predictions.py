"""Averages over the leaves in the form that users know: dense, or as Y was given."""

import numpy as np
from scipy import sparse

from sketchforest._estimators.predicting.thresholds import Decision
from sketchforest._trees.predict import Kept, Predictor, check_fits_memory, first_largest
from sketchforest._trees.targets import Targets
from sketchforest._typing import Matrix
from sketchforest.metrics import top_k
from sketchforest.ontology import Ontology


def averages_as_given(
    predictor: Predictor,
    targets: Targets,
    X: Matrix,
    n_jobs: int | None,
    exclude: sparse.csr_array | None = None,
) -> Matrix:
    """Probabilities of labels or classes, or means of outputs: sparse, a matrix or a vector, as Y
    was. Trees that `exclude` (n_samples, n_trees) marks for a row are left out."""
    if targets.is_sparse:
        dtype = np.float32 if targets.is_classification else np.float64
        return as_given(predictor.average_sparse(X, n_jobs, Kept(dtype), exclude), targets)
    averages = dense_averages(predictor, targets, X, n_jobs, exclude)
    return averages.ravel() if targets.is_vector else averages


def as_given(found: sparse.csr_array, targets: Targets) -> sparse.csr_array | sparse.csr_matrix:
    """In the container that Y had: a product with `*` means something else for each of them."""
    return sparse.csr_matrix(found) if targets.is_spmatrix else found


def decisions(averages: Matrix, decision: Decision, targets: Targets) -> Matrix:
    """(n_samples, n_labels) indicators of the labels that are predicted, dense or sparse as the
    averages are."""
    scores = sparse.csr_array(averages)
    if decision.k is not None:
        labels, best = top_k(scores, decision.k)
        rows = np.repeat(np.arange(len(labels)), decision.k)
        entries = ((best > 0).ravel(), (rows, labels.ravel()))
        chosen = sparse.csr_array(entries, shape=averages.shape)
    else:
        columns, above = scores.indices, decision.above
        is_above = scores.data > (above[columns] if isinstance(above, np.ndarray) else above)
        if decision.at_least_one:
            is_above[first_largest(scores)] = True
        chosen = sparse.csr_array((is_above, columns, scores.indptr), shape=scores.shape)
    chosen = chosen.astype(targets.dtype)
    chosen.eliminate_zeros()
    return as_given(chosen, targets) if targets.is_sparse else chosen.toarray()


def dense_averages(
    predictor: Predictor,
    targets: Targets,
    X: Matrix,
    n_jobs: int | None,
    exclude: sparse.csr_array | None = None,
) -> np.ndarray:
    """The same as a matrix, unless that is larger than the memory."""
    shape = X.shape[0], targets.labels.shape[1]
    if not targets.is_classification:
        check_fits_memory(shape, np.float64, "Predict fewer rows at a time.")
        return predictor.average(X, n_jobs, np.float64, exclude)
    dtype = np.float64 if targets.has_classes else np.float32
    check_fits_memory(shape, dtype, "Use predict_sparse or predict_topk.")
    averages = predictor.average(X, n_jobs, dtype, exclude)
    return np.minimum(averages, 1, out=averages)  # rounding may exceed it; log_loss then refuses


def check_ontology(ontology: object, targets: Targets) -> None:
    """Refuses what is none, or one of other labels."""
    if ontology is None:
        return
    if not isinstance(ontology, Ontology):
        raise TypeError(f"ontology must be an Ontology or None; got {ontology!r}.")
    n_labels = targets.labels.shape[1]
    if targets.has_classes or ontology.n_labels != n_labels:
        raise ValueError(
            "ontology must have the labels of the model, many of which a row may have; got "
            f"{ontology!r} for {n_labels} labels or classes."
        )

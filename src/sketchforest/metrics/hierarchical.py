"""Metrics that compare labels with their ancestors, so that a near miss counts in part."""

import numpy as np
from scipy import sparse

from sketchforest._utils.sparse import checked_if_sparse
from sketchforest._utils.typing import MatrixLike
from sketchforest.metrics._shared_docs import described
from sketchforest.ontology import Ontology


@described
def hierarchical_precision(Y_true: MatrixLike, Y_pred: MatrixLike, ontology: Ontology) -> float:
    """Share of predicted labels that are true, both including ancestors.

    Returns
    -------
    float
        In [0, 1], higher is better; 0 if nothing is predicted. Micro-averaged.

    Examples
    --------
    >>> from sketchforest.ontology import Ontology
    >>> tree = Ontology.from_paths(["animal", "animal/cat", "animal/dog"])
    >>> hierarchical_precision([[1, 0, 1]], [[0, 1, 0]], tree)  # a cat for a dog: both are animals
    0.5
    """
    n_hits, n_predicted, _ = _counts(Y_true, Y_pred, ontology)
    return n_hits / n_predicted if n_predicted else 0.0


@described
def hierarchical_recall(Y_true: MatrixLike, Y_pred: MatrixLike, ontology: Ontology) -> float:
    """Share of true labels that are predicted, both including ancestors.

    Returns
    -------
    float
        In [0, 1], higher is better; 0 if nothing is true. Micro-averaged.

    Examples
    --------
    >>> from sketchforest.ontology import Ontology
    >>> tree = Ontology.from_paths(["animal", "animal/cat", "animal/cat/siamese"])
    >>> round(hierarchical_recall([[1, 1, 1]], [[1, 0, 0]], tree), 3)
    0.333
    """
    n_hits, _, n_true = _counts(Y_true, Y_pred, ontology)
    return n_hits / n_true if n_true else 0.0


@described
def hierarchical_f1(Y_true: MatrixLike, Y_pred: MatrixLike, ontology: Ontology) -> float:
    """Harmonic mean of hierarchical precision and recall.

    Returns
    -------
    float
        In [0, 1], higher is better; 0 if nothing is true or predicted.

    Examples
    --------
    >>> from sketchforest.ontology import Ontology
    >>> tree = Ontology.from_paths(["animal", "animal/cat", "animal/cat/siamese"])
    >>> hierarchical_f1([[1, 1, 1]], [[1, 0, 0]], tree)
    0.5
    """
    n_hits, n_predicted, n_true = _counts(Y_true, Y_pred, ontology)
    return 2 * n_hits / (n_predicted + n_true) if n_predicted + n_true else 0.0


def _counts(
    Y_true: MatrixLike, Y_pred: MatrixLike, ontology: Ontology
) -> tuple[float, float, float]:
    """Numbers of hits, predicted and true labels, ancestors included."""
    if np.shape(Y_true) != np.shape(Y_pred):
        raise ValueError(
            f"Y_pred must have the shape of Y_true, {np.shape(Y_true)}; got {np.shape(Y_pred)}."
        )
    true, predicted = (
        sparse.csr_array(ontology.ancestor_closure(checked_if_sparse(name, Y)) != 0, dtype=np.int64)
        for name, Y in (("Y_true", Y_true), ("Y_pred", Y_pred))
    )
    return float(true.multiply(predicted).sum()), float(predicted.sum()), float(true.sum())

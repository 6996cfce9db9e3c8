"""Metrics of decisions that count what labels imply: a near miss is half a hit."""

import numpy as np
from scipy import sparse

from sketchforest._utils.sparse import checked_if_sparse
from sketchforest._utils.typing import MatrixLike
from sketchforest.ontology import Ontology


def hierarchical_precision(Y_true: MatrixLike, Y_pred: MatrixLike, ontology: Ontology) -> float:
    """Share of true ones among predicted labels, both with all labels above them.

    Parameters
    ----------
    Y_true, Y_pred : (n_samples, n_labels) arrays or scipy sparse matrices of zeros and ones
    ontology : Ontology

    Returns
    -------
    float
        In [0, 1], greater is better; 0 where nothing is predicted. All decisions count alike.

    Examples
    --------
    >>> from sketchforest.ontology import Ontology
    >>> tree = Ontology.from_paths(["animal", "animal/cat", "animal/dog"])
    >>> hierarchical_precision([[1, 0, 1]], [[0, 1, 0]], tree)  # a cat for a dog: both are animals
    0.5
    """
    n_hits, n_predicted, _ = _counts(Y_true, Y_pred, ontology)
    return n_hits / n_predicted if n_predicted else 0.0


def hierarchical_recall(Y_true: MatrixLike, Y_pred: MatrixLike, ontology: Ontology) -> float:
    """Share of predicted ones among true labels, both with all labels above them.

    Parameters
    ----------
    Y_true, Y_pred : (n_samples, n_labels) arrays or scipy sparse matrices of zeros and ones
    ontology : Ontology

    Returns
    -------
    float
        In [0, 1], greater is better; 0 where nothing is true. All decisions count alike.

    Examples
    --------
    >>> from sketchforest.ontology import Ontology
    >>> tree = Ontology.from_paths(["animal", "animal/cat", "animal/cat/siamese"])
    >>> round(hierarchical_recall([[1, 1, 1]], [[1, 0, 0]], tree), 3)
    0.333
    """
    n_hits, _, n_true = _counts(Y_true, Y_pred, ontology)
    return n_hits / n_true if n_true else 0.0


def hierarchical_f1(Y_true: MatrixLike, Y_pred: MatrixLike, ontology: Ontology) -> float:
    """Harmonic mean of hierarchical precision and recall.

    Parameters
    ----------
    Y_true, Y_pred : (n_samples, n_labels) arrays or scipy sparse matrices of zeros and ones
    ontology : Ontology

    Returns
    -------
    float
        In [0, 1], greater is better; 0 where nothing is true and nothing predicted.

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
    """Hits, predicted and true labels over all rows, with those above them."""
    if np.shape(Y_true) != np.shape(Y_pred):
        raise ValueError(
            f"Y_pred must have the shape of Y_true={np.shape(Y_true)}; got {np.shape(Y_pred)}."
        )
    true, predicted = (
        sparse.csr_array(ontology.ancestor_closure(checked_if_sparse(name, Y)) != 0, dtype=np.int64)
        for name, Y in (("Y_true", Y_true), ("Y_pred", Y_pred))
    )
    return float(true.multiply(predicted).sum()), float(predicted.sum()), float(true.sum())

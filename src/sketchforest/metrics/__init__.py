"""Metrics for multi-label scores. Sparse input is never densified.

True labels and scores have shape (n_samples, n_labels), as an array or any scipy sparse container.
A label missing from a sparse row of scores has score 0, so dense and sparse scores give exactly the
same value. A true label stored twice counts once.

``lrap``, ``coverage_error`` and ``label_ranking_loss`` rank a label by how many labels score at
least as high, so ties count against it. The ``_at_k`` metrics break ties by the lower label number.
``log_loss`` is for scores that are probabilities.

Rows without true labels are dropped from ``lrap`` (or count as 1 on request) and from ``psp_at_k``;
they count as 0 in all other metrics.
"""

from sketchforest.metrics._r2 import r2
from sketchforest.metrics.hierarchical import (
    hierarchical_f1,
    hierarchical_precision,
    hierarchical_recall,
)
from sketchforest.metrics.meanings import Metric
from sketchforest.metrics.names import (
    get_metric,
    greater_is_better,
    is_ranking,
    row_values,
)
from sketchforest.metrics.probabilities import log_loss
from sketchforest.metrics.ranking import (
    coverage_error,
    label_ranking_loss,
    lrap,
    ndcg_at_k,
    precision_at_k,
    propensities,
    psp_at_k,
    top_k,
)
from sketchforest.metrics.scorers import (
    PropensityScorer,
    RankingScorer,
    coverage_error_scorer,
    label_ranking_loss_scorer,
    lrap_scorer,
    ndcg_at_k_scorer,
    precision_at_k_scorer,
    psp_at_k_scorer,
)

__all__ = [
    "Metric",
    "PropensityScorer",
    "RankingScorer",
    "coverage_error",
    "coverage_error_scorer",
    "get_metric",
    "greater_is_better",
    "hierarchical_f1",
    "hierarchical_precision",
    "hierarchical_recall",
    "is_ranking",
    "label_ranking_loss",
    "label_ranking_loss_scorer",
    "log_loss",
    "lrap",
    "lrap_scorer",
    "ndcg_at_k",
    "ndcg_at_k_scorer",
    "precision_at_k",
    "precision_at_k_scorer",
    "propensities",
    "psp_at_k",
    "psp_at_k_scorer",
    "r2",
    "row_values",
    "top_k",
]

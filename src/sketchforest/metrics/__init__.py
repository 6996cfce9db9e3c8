"""Ranking metrics for multi-label scores, dense or sparse, never densified.

Truth is an (n_samples, n_labels) indicator and scores are (n_samples, n_labels) numbers, each an
array or any scipy sparse container. A label absent from a sparse row of scores has score 0, so
both forms of the same data give exactly the same value. A true label stored twice is true once.

``lrap``, ``coverage_error`` and ``label_ranking_loss`` rank a label by how many labels score at
least as much, so ties count against it. The ``_at_k`` metrics break ties by the lower label.

Rows without true labels are left out of ``lrap`` (or count as 1, if asked), count as 0 in
``precision_at_k`` and ``ndcg_at_k``, and add nothing to ``psp_at_k``, ``coverage_error`` and
``label_ranking_loss``, the last two of which still divide by the number of all rows.
"""

from sketchforest.metrics._r2 import r2
from sketchforest.metrics.hierarchical import (
    hierarchical_f1,
    hierarchical_precision,
    hierarchical_recall,
)
from sketchforest.metrics.names import (
    Metric,
    get_metric,
    greater_is_better,
    is_ranking,
    row_values,
)
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

__all__ = [
    "Metric",
    "coverage_error",
    "get_metric",
    "greater_is_better",
    "hierarchical_f1",
    "hierarchical_precision",
    "hierarchical_recall",
    "is_ranking",
    "label_ranking_loss",
    "lrap",
    "ndcg_at_k",
    "precision_at_k",
    "propensities",
    "psp_at_k",
    "r2",
    "row_values",
    "top_k",
]

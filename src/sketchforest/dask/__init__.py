"""Forests on a cluster, by Dask (extra ``dask``).

`fit` grows the trees of a forest on workers that all see the same rows, with the bits of a fit on
one machine. `fit_partitioned` is for rows that fit on no machine: each worker sees some of them.
"""

from sketchforest.dask.partitioned import fit_partitioned
from sketchforest.dask.prediction import predict, predict_files, predict_proba, predict_topk
from sketchforest.dask.replicated import fit

__all__ = [
    "fit",
    "fit_partitioned",
    "predict",
    "predict_files",
    "predict_proba",
    "predict_topk",
]

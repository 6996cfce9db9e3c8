"""Forests on a Dask cluster (extra ``dask``).

`fit` grows one forest when every worker can hold all rows; the result is bit-identical to a fit on
one machine. `fit_partitioned` is for data larger than any one machine: each worker sees only some
of the rows.
"""

from sketchforest.dask.partitioned import fit_partitioned
from sketchforest.dask.prediction import predict, predict_files, predict_proba, predict_topk
from sketchforest.dask.replicated import fit

__all__ = ["fit", "fit_partitioned", "predict", "predict_files", "predict_proba", "predict_topk"]

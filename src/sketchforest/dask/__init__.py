"""Forests on a cluster, by Dask (extra ``dask``).

`fit` grows the trees of a forest on workers that all see the same rows, with the bits of a fit on
one machine.
"""

from sketchforest.dask.whole import fit

__all__ = ["fit"]

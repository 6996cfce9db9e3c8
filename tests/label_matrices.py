"""Label matrices in several forms, and the random projections."""

import tracemalloc

import numpy as np
from scipy import sparse

RANDOM = ["gaussian", "rademacher", "achlioptas", "sparse", "hadamard", "subsample"]


def dense(A):
    return A.toarray() if sparse.issparse(A) else A


def labels(n_samples, n_labels, density=0.1, seed=0):
    rng = np.random.default_rng(seed)
    size = n_samples * n_labels
    entries = rng.choice(size, round(density * size), replace=False)
    ones = np.ones(entries.size)
    return sparse.csr_array((ones, divmod(entries, n_labels)), shape=(n_samples, n_labels))


def with_wide_indices(Y):
    Y = Y.copy()
    Y.indices, Y.indptr = Y.indices.astype(np.int64), Y.indptr.astype(np.int64)
    return Y


def peak_bytes(action):
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

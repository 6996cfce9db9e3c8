"""Multi-label data: files by name, readers, seeded generators."""

from sketchforest.datasets.catalogue import list_datasets, load
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.generators import (
    make_delicious_like,
    make_multilabel,
    make_sparse_multilabel,
)
from sketchforest.datasets.npz import load_npz

__all__ = [
    "Dataset",
    "list_datasets",
    "load",
    "load_npz",
    "make_delicious_like",
    "make_multilabel",
    "make_sparse_multilabel",
]

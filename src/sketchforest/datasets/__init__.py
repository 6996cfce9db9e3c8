"""Multi-label data: files by name, readers, seeded generators."""

from .catalogue import list_datasets, load
from .dataset import Dataset
from .generators import make_delicious_like, make_multilabel
from .npz import load_npz

__all__ = [
    "Dataset",
    "list_datasets",
    "load",
    "load_npz",
    "make_delicious_like",
    "make_multilabel",
]

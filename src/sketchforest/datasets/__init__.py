"""Multi-label data: files by name, readers, writers, seeded generators."""

from sketchforest.datasets.arff import read_arff, read_ontology, write_arff
from sketchforest.datasets.catalogue import DatasetInfo, catalogue, describe, list_datasets, load
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.files import FORMATS, read, write
from sketchforest.datasets.generators import (
    make_delicious_like,
    make_multilabel,
    make_sparse_multilabel,
)
from sketchforest.datasets.label_trees import (
    make_amazon_670k_like,
    make_label_tree,
    make_wiki10_31k_like,
)
from sketchforest.datasets.npz import load_npz, write_npz
from sketchforest.datasets.svmlight import read_svmlight, write_svmlight
from sketchforest.datasets.table import read_table, write_table
from sketchforest.datasets.xc import read_xc, write_xc

__all__ = [
    "FORMATS",
    "Columns",
    "Dataset",
    "DatasetInfo",
    "catalogue",
    "describe",
    "list_datasets",
    "load",
    "load_npz",
    "make_amazon_670k_like",
    "make_delicious_like",
    "make_label_tree",
    "make_multilabel",
    "make_sparse_multilabel",
    "make_wiki10_31k_like",
    "read",
    "read_arff",
    "read_ontology",
    "read_svmlight",
    "read_table",
    "read_xc",
    "write",
    "write_arff",
    "write_npz",
    "write_svmlight",
    "write_table",
    "write_xc",
]

"""Writer of sparse MEKA ARFF."""

import re

import numpy as np
from scipy import sparse

from sketchforest.datasets._rows import FLOAT32_MAX
from sketchforest.datasets._text import AnyPath, text_writer
from sketchforest.datasets._writing import column_names, pair_text, refuse_infinity
from sketchforest.datasets.dataset import Dataset

_PLAIN = re.compile(r"[^\s,{}%'\"\\?][^\s,{}'\"\\]*")


def write_arff(dataset: Dataset, path: AnyPath) -> None:
    """Writes sparse MEKA ARFF, labels first (``-C n``); splits have no place there.

    Features that have no names are called ``feature0``, ..., and labels ``label0``, ...

    Parameters
    ----------
    dataset : Dataset
    path : str or path

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, read_arff, write_arff
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.arff")
    ...     write_arff(data, path)
    ...     read_arff(path)
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    refuse_infinity(dataset, FLOAT32_MAX)
    n_labels = dataset.Y.shape[1]
    binary = dataset.X.dtype == np.uint8 and bool(np.all(dataset.X.data == 1))
    rows = sparse.hstack([dataset.Y.astype(dataset.X.dtype), dataset.X], format="csr")
    with text_writer(path) as file:
        file.write(f"@relation {_quoted(f'{dataset.name}: -C {n_labels}')}\n\n")
        for name in column_names(dataset.label_names, n_labels, "label"):
            file.write(f"@attribute {_quoted(name)} {{0,1}}\n")
        kind = "{0,1}" if binary else "numeric"
        for name in column_names(dataset.feature_names, dataset.X.shape[1], "feature"):
            file.write(f"@attribute {_quoted(name)} {kind}\n")
        file.write("\n@data\n")
        for pairs in pair_text(sparse.csr_array(rows), between=" ", after=","):
            file.write(f"{{{pairs}}}\n")


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    if "\n" in text or "\r" in text:
        raise ValueError(f"A name in an ARFF file must be on one line; got {text!r}.")
    return "'" + re.sub(r"(['\\])", r"\\\1", text) + "'"

"""The data set that readers and generators return."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest.ontology import Ontology


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multi-label problem: X (n_samples, n_features), Y (n_samples, n_labels), both CSR.

    ``feature_names`` and ``label_names`` are None if unknown. ``splits`` maps "train" and "test" to
    row indices, and is empty if the source has no split. ``ontology`` is the hierarchy of the
    labels, if there is one.

    Examples
    --------
    >>> from sketchforest.datasets import make_delicious_like
    >>> data = make_delicious_like(n_samples=100)
    >>> data
    Dataset('delicious-like', n_samples=100, n_features=500, n_labels=983)
    >>> data.Y[data.splits["train"]].shape
    (80, 983)
    """

    name: str
    X: sparse.csr_array
    Y: sparse.csr_array
    feature_names: npt.NDArray[np.str_] | None = None
    label_names: npt.NDArray[np.str_] | None = None
    splits: dict[str, npt.NDArray[np.integer]] = field(default_factory=dict)
    ontology: Ontology | None = None

    def __repr__(self) -> str:
        (n_samples, n_features), n_labels = self.X.shape, self.Y.shape[1]
        return f"Dataset({self.name!r}, {n_samples=}, {n_features=}, {n_labels=})"

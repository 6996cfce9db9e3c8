"""Warm starts: adding trees to those of an earlier fit on the same data."""

import hashlib
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.predicting.decisions import f1_kind
from sketchforest._trees.encoding import canonical, is_worth_sparse
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.parallel import run_blocks
from sketchforest._trees.targets import Targets
from sketchforest._utils.typing import Matrix
from sketchforest._utils.warning import warn

BLOCK_ROWS = 1024


def changes_nothing(params: Parameters, earlier: Fitted) -> bool:
    """Whether there are no trees to add, and no score or threshold is missing.

    As in scikit-learn, the fit then only warns and does not look at the data.
    """
    lacks_score = bool(params.oob_score) and "oob_score_" not in earlier.out_of_bag
    lacks_thresholds = f1_kind(params.threshold) is not None and earlier.f1_thresholds is None
    has_all_trees = params.n_estimators == earlier.forest.n_trees
    return has_all_trees and not lacks_score and not lacks_thresholds


def warn_of_no_new_trees() -> None:
    warn("Warm-start fitting without increasing n_estimators does not fit new trees.")


def check_warm_start(
    params: Parameters, targets: Targets, row_fingerprint: str | None, earlier: Fitted
) -> None:
    """Raise unless rows, labels, weights and criterion are those of the earlier fit."""
    (n_rows, n_labels), shape = earlier.targets.labels.shape, targets.labels.shape
    if shape != (n_rows, n_labels):
        raise ValueError(
            "With warm_start=True, X and Y must be those of the first fit, with "
            f"{n_rows} rows and {n_labels} outputs or classes; got {shape[0]} and {shape[1]}. Use "
            "warm_start=False to fit from scratch."
        )
    if earlier.fingerprint is None:
        raise ValueError(
            "warm_start must be False for a model file from an older version, which cannot "
            "recognize its training rows; got True. Fit from scratch."
        )
    # Leaves refer to rows by number: with other labels, or rows in another order, old trees change.
    is_other = [] if row_fingerprint == earlier.fingerprint else ["X or sample_weight"]
    is_other += [] if targets.equals(earlier.targets) else ["Y"]
    if is_other:
        raise ValueError(
            "With warm_start=True, X, Y and sample_weight must be those of the first fit, in the "
            f"same order; got a different {' and a different '.join(is_other)}. Use "
            "warm_start=False to fit from scratch."
        )
    if targets.criterion != earlier.targets.criterion:
        raise ValueError(
            "With warm_start=True, criterion must be that of the first fit, which decides "
            f"what leaves predict; got {params.criterion!r}. Use warm_start=False to fit "
            "from scratch."
        )
    if params.n_estimators == "auto":
        return
    n_trees = earlier.forest.n_trees
    if params.n_estimators < n_trees:
        raise ValueError(
            f"With warm_start=True, n_estimators must be at least the {n_trees} trees already "
            f"grown; got {params.n_estimators}. Use warm_start=False to fit from scratch."
        )
    if params.n_estimators == n_trees:
        warn_of_no_new_trees()


def fingerprint(X: Matrix, sample_weight: np.ndarray | None, n_jobs: int | None = 1) -> str:
    """A hash of the rows and their weights that does not depend on storage, order or dtype of X.

    It is stored with the trees, whose leaves refer to rows by number. It protects no secret.
    """
    found = hashlib.sha1(usedforsecurity=False)
    found.update(repr(X.shape).encode())
    for digest in run_blocks(_digest, list(_blocks_of(X)), n_jobs=n_jobs):
        found.update(digest)
    if sample_weight is not None:
        found.update(np.ascontiguousarray(sample_weight).data)
    return found.hexdigest()


def _digest(block: Matrix) -> bytes:
    values = block if isinstance(block, np.ndarray) else block.toarray()
    # Adding zero copies to double precision in row order, and turns minus zero into zero.
    copied = np.add(values, 0.0, dtype=np.float64, order="C")
    return hashlib.sha1(copied.data, usedforsecurity=False).digest()


def _blocks_of(X: Matrix) -> Iterator[Matrix]:
    """The values of X in blocks, as the encoding of X would store them when they are dense."""
    if is_worth_sparse(X):
        rows = sparse.csr_array(X) if isinstance(X, np.ndarray) else canonical(X.tocsr())
        for values in (rows.indptr, rows.indices, rows.data):
            for first in range(0, len(values), BLOCK_ROWS**2):
                yield values[first : first + BLOCK_ROWS**2]
        return
    rows = X if isinstance(X, np.ndarray) else X.tocsr()
    for first in range(0, X.shape[0], BLOCK_ROWS):
        yield rows[first : first + BLOCK_ROWS]

"""The scores of all training rows and outputs, which boosting improves tree by tree."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, softmax

from sketchforest import _core
from sketchforest._trees.encoding import starts_of
from sketchforest._trees.memory import check_fits
from sketchforest._trees.model import SparseRows
from sketchforest._trees.outputs import padded_width
from sketchforest._trees.parallel import count_threads
from sketchforest._trees.targets import Targets
from sketchforest._utils.typing import Matrix

LossName = Literal["squared_error", "cross_entropy", "softmax"]

BEFORE_GRADIENTS = 2  # of a sketched row: its weight, and a one that counts it
BLOCK_ROWS = 4096


@dataclass(frozen=True)
class Output:
    """From sums of leaf values to predictions: ``link(baseline + scale * sum)``."""

    loss: LossName
    baseline: np.ndarray  # (n_outputs,)
    scale: np.ndarray  # (n_outputs,) 1 unless outputs are real
    groups: np.ndarray  # where each column of classes begins

    def predictions(self, sums: np.ndarray) -> np.ndarray:
        return self.link(self.scores(sums))

    def scores(self, sums: np.ndarray) -> np.ndarray:
        return self.baseline + self.scale * sums

    def link(self, scores: np.ndarray) -> np.ndarray:
        if self.loss == "squared_error":
            return scores
        if self.loss == "cross_entropy":
            return np.asarray(expit(scores))
        columns = np.split(scores, self.groups[1:-1], axis=1)
        return np.concatenate([softmax(column, axis=1) for column in columns], axis=1)


def initial_output(targets: Targets, rows: np.ndarray, weights: np.ndarray | None) -> Output:
    """The constant predictions that minimize the loss of some rows, and the scale of outputs: real
    ones are learned in units of their standard deviation, so that none outweighs the others."""
    w = np.ones(len(rows)) if weights is None else weights[rows]
    Y = targets.labels if isinstance(targets.labels, np.ndarray) else targets.labels.to_csr()
    Y, total = Y[rows], w.sum()
    mean = np.asarray(w @ Y, np.float64) / total
    if not targets.is_classification:
        if isinstance(Y, np.ndarray):
            variance = w @ (Y - mean) ** 2 / total
        else:
            variance = np.asarray(w @ Y.multiply(Y)).ravel() / total - mean**2
        spread = np.sqrt(np.maximum(variance, 0))
        is_constant = spread <= 1e-7 * np.abs(mean)
        return output_of(targets, mean, np.where(is_constant, 1.0, spread))
    # A label that all rows have, or none, might occur once in as many rows again.
    least = 0.5 / (len(rows) + 1)
    if targets.has_classes:
        return output_of(targets, np.log(np.maximum(mean, least)), np.ones_like(mean))
    share = np.clip(mean, least, 1 - least)
    return output_of(targets, np.log(share / (1 - share)), np.ones_like(mean))


def output_of(targets: Targets, baseline: np.ndarray, scale: np.ndarray) -> Output:
    """With the loss that goes with the targets."""
    if targets.has_classes:
        return Output("softmax", baseline, scale, starts_of(targets.classes_per_output))
    loss: LossName = "cross_entropy" if targets.is_classification else "squared_error"
    return Output(loss, baseline, scale, starts_of([len(baseline)]))


def check_scores_fit(shape: tuple[int, int]) -> None:
    """Raise if the scores do not fit in memory."""
    what = f"The scores of {shape[0]} rows and {shape[1]} outputs take"
    way_out = "Use a forest, which keeps no scores, or fewer rows or outputs."
    check_fits(4.0 * shape[0] * shape[1], what, way_out)


class Scores:
    """A float32 score for each row and output, changed in place.

    With squared error the residual is kept, prediction minus truth.
    """

    def __init__(
        self, targets: Targets, output: Output, weights: np.ndarray | None, n_jobs: int | None
    ):
        self._weights, self._n_threads = weights, count_threads(n_jobs)
        self._native = _native_scores(targets, output, weights)
        self.n_outputs = n_outputs = len(output.baseline)
        self._n_losses = len(output.groups) - 1 if output.loss == "softmax" else n_outputs

    def sketch(self, rows: np.ndarray, P: Matrix | None) -> np.ndarray:
        """(n_rows, padded width) weights, ones and gradients times P, of these rows alone."""
        return self._native.sketch(rows, None if P is None else _padded(P), self._n_threads)

    def leaf_sums(self, rows: np.ndarray, leaf_start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n_leaves, n_outputs) sums of gradients and of second derivatives over the rows of each
        leaf."""
        return self._native.leaf_sums(rows, leaf_start, False, self._n_threads)

    def squared_norms(self, rows: np.ndarray) -> np.ndarray:
        """(n_outputs,) sums of squared gradients."""
        whole = np.array([0, len(rows)], np.int64)
        return self._native.leaf_sums(rows, whole, True, self._n_threads)[1][0]

    def add(self, leaf_of: np.ndarray, values: np.ndarray) -> None:
        """Add to each row the values of its leaf."""
        self._native.add(leaf_of, values, self._n_threads)

    def mean_loss(self, rows: np.ndarray) -> float:
        """The mean over rows and outputs, or over columns of classes."""
        total = len(rows) if self._weights is None else self._weights[rows].sum()
        return self._native.loss(rows, self._n_threads) / (total * self._n_losses)


def _native_scores(targets: Targets, output: Output, weights: np.ndarray | None) -> _core.Scores:
    labels, shape = targets.labels, targets.labels.shape
    start = output.baseline / output.scale if output.loss == "squared_error" else output.baseline
    values = np.empty(shape, np.float32)
    values[:] = start
    if output.loss != "squared_error":
        assert isinstance(labels, SparseRows)
        return _core.Scores(
            values,
            _core.Loss[output.loss],
            weights=weights,
            row_start=labels.indptr,
            columns=labels.indices,
            groups=output.groups,
        )
    for first in range(0, shape[0], BLOCK_ROWS):
        block = slice(first, first + BLOCK_ROWS)
        truth = (
            labels[block] if isinstance(labels, np.ndarray) else labels.to_csr()[block].toarray()
        )
        values[block] = (output.baseline - truth) / output.scale
    return _core.Scores(values, _core.Loss.squared_error, weights=weights)


def _padded(P: Matrix) -> np.ndarray:
    dense = P if isinstance(P, np.ndarray) else P.toarray()
    width = max(4, padded_width(BEFORE_GRADIENTS + dense.shape[1]))
    padded = np.zeros((len(dense), width), np.float32)
    padded[:, BEFORE_GRADIENTS : BEFORE_GRADIENTS + dense.shape[1]] = dense
    return padded

"""How kinds of trees, a linear model and the correlations of labels are blended.

Everything is chosen from averages of products of scores of rows that the parts of the model did not
see. The few trees that score a row are noisier than the whole forest. But the noise of two halves
of them is independent: averages of products of one half with the other are those of a forest
without noise, to which the noise of the whole forest is added.
"""

from collections.abc import Sequence

import numpy as np
from scipy import linalg, optimize, sparse

from sketchforest._selection.held_out import HeldOut, Part
from sketchforest._trees.parallel import run_blocks
from sketchforest._utils.blas import one_blas_thread

# The weight of the linear model that is expected before anything is measured.
USUAL_WEIGHT = 0.2
# Corrections are a ridge regression with this penalty, in rows.
PENALTY = 30.0
# A label is corrected by so many others, by which most is corrected.
MOST_CORRECTIONS = 128
# Of more labels, products of scores take longer than the forest.
MOST_CORRECTED = 1024
# Scores that are multiplied at a time: those of all parts fit into the cache.
BLOCK_SCORES = 1 << 17
# Trees of one kind have at least this share of the vote of others, and whole multiples of it: the
# core then adds up votes without rounding.
VOTE = 1 / 32
# Standard deviations of the best weights from the expected ones, over data sets: of labels, and of
# classes or numbers. Those of labels differ little from set to set.
OF_LABELS, OF_OTHERS, OF_SUM = 0.1, 0.5, 0.3


def choose_weights(
    found: HeldOut, shares: Sequence[float], *, are_labels: bool, n_jobs: int | None = None
) -> np.ndarray:
    """The weight of each part, from 0.

    They minimize the squared error, and are shrunk by their standard errors to expected ones: kinds
    of trees by their shares of the forest, and beside them a linear model of the usual weight. The
    sum is not fixed: the order of labels does not depend on it. Of classes and numbers, parts are
    compared by how they differ from the mean, to which they may be shrunk.
    """
    deviation = OF_LABELS if are_labels else OF_OTHERS
    expected = np.array(shares)
    if len(found.parts) > len(shares):
        expected = np.append((1 - USUAL_WEIGHT) * expected, USUAL_WEIGHT)
    products, with_truth = _products(found, is_centred=not are_labels, n_jobs=n_jobs)
    n_parts, total, slope = len(expected), products.sum(axis=0), with_truth.sum(axis=0)
    of_rows = with_truth - products @ _least_squares(total, slope)
    # Not even a perfect prediction is known better than scores are rounded.
    least = 1e-6 * np.square(np.trace(products, axis1=1, axis2=2)).sum() + 1e-300
    n_free = max(1, len(of_rows) - n_parts)
    noise = len(of_rows) / n_free * of_rows.T @ of_rows + least * np.eye(n_parts)
    known = linalg.solve(noise, total, assume_a="pos").T
    prior = deviation**-2.0 * np.eye(n_parts) + OF_SUM**-2.0
    return _least_squares(known @ total + prior, known @ slope + prior @ expected)


def _products(
    found: HeldOut, *, is_centred: bool, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Of the scores of each row, summed over outputs: (n_rows, n_parts, n_parts) of parts, and
    (n_rows, n_parts) with the truth. The mean output may be subtracted before."""
    n_rows, n_outputs = found.truth.shape
    mean = np.zeros(1, np.float32)
    if is_centred:
        mean = (found.row_weight @ found.truth / found.row_weight.sum()).astype(np.float32)

    def products_of(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        truth, weight = _dense(found.truth[rows]) - mean, found.row_weight[rows]
        halves = [[half[rows] - mean for half in part.halves] for part in found.parts]
        scores = [(one + other) / 2 for one, other in halves]
        products = np.array([[_row_sums(one, other) for other in scores] for one in scores])
        for i, (one, other) in enumerate(halves):
            # A product of a half with itself has noise that the whole part does not have.
            noise = _row_sums(one - other, one - other) / 4
            products[i, i] -= (1 - found.parts[i].noise) * noise
        with_truth = np.array([_row_sums(score, truth) for score in scores])
        return (weight * products).transpose(2, 0, 1), (weight * with_truth).T

    size = max(1, BLOCK_SCORES // n_outputs)
    blocks = [slice(first, first + size) for first in range(0, n_rows, size)]
    products, with_truth = zip(*run_blocks(products_of, blocks, n_jobs=n_jobs), strict=True)
    return np.concatenate(products), np.concatenate(with_truth)


def _dense(truth: np.ndarray | sparse.csr_array) -> np.ndarray:
    return truth if isinstance(truth, np.ndarray) else truth.toarray()


def _row_sums(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", one, other, dtype=np.float64)


def _least_squares(products: np.ndarray, with_target: np.ndarray) -> np.ndarray:
    """The x of at least 0 that minimizes x @ products @ x / 2 - with_target @ x."""
    values, vectors = linalg.eigh((products + products.T) / 2)
    roots = np.sqrt(np.maximum(values, 1e-12 * values[-1] + 1e-300))
    return optimize.nnls(roots[:, None] * vectors.T, vectors.T @ with_target / roots)[0]


def tree_weights(
    is_oblique: np.ndarray, shares: dict[bool, float], weights: dict[bool, float]
) -> np.ndarray | None:
    """(n_trees,) weights of trees, for kinds that have these shares of the trees and these weights
    together; None if all are equal."""
    votes = {kind: weights[kind] / share for kind, share in shares.items()}
    largest = max(votes.values())
    if largest <= 0:
        return None
    found = np.ones(len(is_oblique))
    for kind, vote in votes.items():
        found[is_oblique == kind] = max(1, round(vote / largest / VOTE)) * VOTE
    return None if (found == 1).all() else found


@one_blas_thread()
def corrections(found: HeldOut, part: Part, n_jobs: int | None = None) -> sparse.csr_array:
    """Row l: what the score of each label, times a factor, adds to the score of label l.

    Scores that are too low or too high as a whole would be corrected the more, the more rows a
    label has. So only what the truth differs from a common multiple of them is corrected.
    """
    (one, other), weight = part.halves, found.row_weight.astype(np.float32)
    n_rows, n_labels = one.shape
    truth = sparse.csr_array(found.truth, dtype=np.float32)
    truth = sparse.csr_array(sparse.diags_array(weight) @ truth).T

    def products_of(block: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scores = (one[:, block] + other[:, block]) / 2
        squares = np.einsum("i,ij,ij->j", weight, scores, scores, dtype=np.float64)
        products = (weight[:, None] * one[:, block]).T @ other
        return products.astype(np.float64), (truth @ scores).T, squares

    blocks = _label_blocks(n_labels)
    found_products = zip(*run_blocks(products_of, blocks, n_jobs=n_jobs), strict=True)
    products, with_truth, squares = map(np.concatenate, found_products)
    products = (products + products.T) / 2
    own = np.diagonal(products).copy()
    products[np.diag_indices(n_labels)] += part.noise * (squares - own)
    total, agreeing = np.trace(products), np.trace(with_truth, dtype=np.float64)
    if total <= 0 or agreeing <= 0:  # no label occurs
        return sparse.csr_array((n_labels, n_labels), dtype=np.float32)
    added = with_truth * (total / agreeing) - products
    products[np.diag_indices(n_labels)] += PENALTY * found.row_weight.mean()
    factor = linalg.cho_factor(products, overwrite_a=True, check_finite=False)
    size_of_scores = np.sqrt(np.maximum(own, 0))

    def factors_of(block: slice) -> sparse.csr_array:
        factors = linalg.cho_solve(factor, added[:, block], check_finite=False).T
        # The more labels there are for each row, the less of what is found holds for other rows.
        factors *= n_rows / (n_rows + 2 * n_labels)
        if n_labels > MOST_CORRECTIONS:
            size = np.abs(factors) * size_of_scores
            least = np.partition(size, -MOST_CORRECTIONS, axis=1)[:, -MOST_CORRECTIONS]
            factors[size < least[:, None]] = 0
        return sparse.csr_array(factors.astype(np.float32))

    of_blocks = run_blocks(factors_of, blocks, n_jobs=n_jobs)
    return sparse.csr_array(sparse.vstack(of_blocks, format="csr"))


def _label_blocks(n_labels: int) -> list[slice]:
    return [slice(first, first + 64) for first in range(0, n_labels, 64)]

"""From scores to probabilities, by one increasing curve for all labels.

A curve that only increases keeps the order of labels, and a score of zero stays zero, so that
sparse predictions stay sparse.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

from sketchforest._trees.predict import Floating, Kept, Predictor, TreesOfRows
from sketchforest._utils.typing import Matrix

# The sigmoid is one of log-odds, which scores nearer to 0 and 1 than this do not have.
EPS = 1e-3
N_KNOTS = 256
N_STEPS = 25  # of Newton's method, far more than it takes
NO_CHANGE = 1e-9


@dataclass(frozen=True, eq=False)
class Calibration:
    """A piecewise linear curve through (0, 0)."""

    scores: np.ndarray  # strictly ascending from 0 to 1
    probabilities: np.ndarray  # of these, strictly ascending from 0, at most 1

    @classmethod
    def through(cls, scores: np.ndarray, probabilities: np.ndarray) -> "Calibration":
        """A curve through points inside the unit square, which ends halfway between the last one
        and 1."""
        if not len(scores):
            return cls(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
        end = (1 + probabilities[-1]) / 2
        return cls(np.append(0, np.append(scores, 1)), np.append(0, np.append(probabilities, end)))

    def apply(self, scores: np.ndarray) -> np.ndarray:
        found = np.interp(scores, self.scores, self.probabilities)
        return found.astype(scores.dtype, copy=False)

    def inverse(self, probabilities: np.ndarray | np.floating) -> np.ndarray | np.floating:
        """The scores of probabilities; 1 for those above the curve."""
        found = np.interp(probabilities, self.probabilities, self.scores)
        return np.where(probabilities >= self.probabilities[-1], 1.0, found).astype(np.float32)[()]

    def apply_sparse(self, scores: sparse.csr_array) -> sparse.csr_array:
        data = self.apply(scores.data)
        return sparse.csr_array((data, scores.indices, scores.indptr), shape=scores.shape)


def fit_sigmoid(scores: np.ndarray, is_true: np.ndarray) -> Calibration:
    """Logistic regression of labels on the log-odds of scores.

    A prior with a standard deviation of 1 pulls slope and intercept towards the identity.
    """
    u, identity = _log_odds(scores), np.array([1.0, 0.0])
    design = np.column_stack([u, np.ones_like(u)])
    signs = np.where(is_true, -1.0, 1.0)

    def loss(at: np.ndarray) -> float:
        errors = np.logaddexp(0, signs * (design @ at)).sum()
        return float(errors + ((at - identity) ** 2).sum() / 2)

    found = identity
    for _ in range(N_STEPS):
        p = expit(design @ found)
        gradient = design.T @ (p - is_true) + (found - identity)
        hessian = (design * (p * (1 - p))[:, None]).T @ design + np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        before = loss(found)
        while loss(found - step) > before and np.abs(step).max() >= NO_CHANGE:
            step = step / 2  # a whole one may go too far
        found = found - step
        if np.abs(step).max() < NO_CHANGE:
            break
    if found[0] <= 0:  # higher scores are no more often true
        found = identity
    u = np.linspace(_log_odds(EPS), _log_odds(1 - EPS), N_KNOTS)
    return _strictly_ascending(expit(u), expit(found[0] * u + found[1]))


def fit_isotonic(scores: np.ndarray, is_true: np.ndarray) -> Calibration:
    """Isotonic regression, with straight lines between the centers of its steps."""
    values, where, counts = np.unique(scores, return_inverse=True, return_counts=True)
    hits = np.bincount(where, is_true, len(values))
    steps = isotonic_regression(hits / counts, sample_weight=counts.astype(float))
    step = np.cumsum(np.append(False, np.diff(steps) > 0))
    sizes = np.bincount(step, counts)
    centers, means = (np.bincount(step, counts * v) / sizes for v in (values, steps))
    return _strictly_ascending(centers, means)


def _strictly_ascending(scores: np.ndarray, probabilities: np.ndarray) -> Calibration:
    """A curve through ascending points: those inside the unit square, without repeated ones."""
    is_inside = (scores > 0) & (scores < 1) & (probabilities > 0) & (probabilities < 1)
    scores, probabilities = scores[is_inside], probabilities[is_inside]
    differs = np.append(True, (np.diff(scores) > 0) & (np.diff(probabilities) > 0))[: len(scores)]
    return Calibration.through(scores[differs], probabilities[differs])


FITS: dict[str, Callable[[np.ndarray, np.ndarray], Calibration]] = {
    "sigmoid": fit_sigmoid,
    "isotonic": fit_isotonic,
}


def calibrate(method: str, truth: sparse.csr_array, scores: sparse.csr_array) -> Calibration:
    """The curve of a method, by the (row, label) pairs that have a score."""
    of_scores, of_truth = (
        np.repeat(np.arange(M.shape[0]), np.diff(M.indptr)) * M.shape[1] + M.indices
        for M in (scores, truth)
    )
    return FITS[method](scores.data.astype(np.float64), np.isin(of_scores, of_truth))


@dataclass(frozen=True, eq=False)
class CalibratedPredictor:
    """A predictor whose averages are probabilities."""

    predictor: Predictor
    calibration: Calibration

    def average(
        self, X: Matrix, n_jobs: int | None, dtype: Floating, exclude: TreesOfRows = None
    ) -> np.ndarray:
        return self.calibration.apply(self.predictor.average(X, n_jobs, dtype, exclude))

    def average_sparse(
        self, X: Matrix, n_jobs: int | None, kept: Kept, exclude: TreesOfRows = None
    ) -> sparse.csr_array:
        if kept.above is not None:
            kept = kept._replace(above=self.calibration.inverse(kept.above))
        return self.calibration.apply_sparse(
            self.predictor.average_sparse(X, n_jobs, kept, exclude)
        )

    def largest(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        return self.predictor.largest(X, n_jobs)

    def best(self, X: Matrix, n_jobs: int | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        labels, scores = self.predictor.best(X, n_jobs, k)
        return labels, self.calibration.apply(scores)


def _log_odds(scores: np.ndarray | float) -> np.ndarray:
    clipped = np.clip(scores, EPS, 1 - EPS)
    found: np.ndarray = np.log(clipped / (1 - clipped))
    return found

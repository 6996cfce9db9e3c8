"""A forest of several parts, whose trees were grown on other rows each: averages over all trees."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.names import label_names
from sketchforest._estimators.parameters import check_k
from sketchforest._estimators.predictions import as_given, decisions
from sketchforest._estimators.thresholds import Decision, decide
from sketchforest._trees.fitted import F1Thresholds, Targets
from sketchforest._trees.predict import check_fits_memory
from sketchforest._typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics import r2, top_k

# Rows whose averages are added up at once; sparse ones of very many labels have thousands each.
BLOCK_ROWS = 1024


class ForestOfParts(BaseEstimator):
    """What parts predict together: each counts by its number of trees.

    Attributes
    ----------
    parts : list of fitted forests
    """

    def __init__(self, parts: Sequence[TreesEstimator], n_jobs: int | None = None) -> None:
        self.parts = parts
        self.n_jobs = n_jobs

    @property
    def n_estimators_(self) -> int:
        """Number of trees, of all parts."""
        return int(self._tree_counts.sum())

    @property
    def n_features_in_(self) -> int:
        return self.parts[0].n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        return self.parts[0].feature_names_in_

    @property
    def n_outputs_(self) -> int:
        return self.parts[0].n_outputs_

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features,) mean over all trees, as in each part."""
        importances = np.array([part.feature_importances_ for part in self.parts])
        return np.average(importances, axis=0, weights=self._tree_counts)

    @property
    def _targets(self) -> Targets:
        return self.parts[0]._targets

    @property
    def _tree_counts(self) -> np.ndarray:
        return np.array([part._forest.n_trees for part in self.parts])

    def _check_new(self, X: MatrixLike) -> Matrix:
        checked = self.parts[0]._check_new(X)
        return checked if isinstance(checked, np.ndarray) else checked.tocsr()

    def _dense(self, X: Matrix, dtype: type[np.floating]) -> np.ndarray:
        out = np.empty((X.shape[0], self._targets.labels.shape[1]), dtype)
        check_fits_memory(out.shape, dtype, "Use predict_sparse or predict_topk, or fewer rows.")
        for rows in _blocks(X.shape[0]):
            out[rows] = sum(
                share * part._predictor.average(X[rows], self.n_jobs, np.float64)
                for part, share in self._shares()
            )
        return out

    def _sparse(
        self, X: Matrix, dtype: type[np.floating] = np.float32
    ) -> Iterator[sparse.csr_array]:
        """Averages that are not zero, block by block; as floats, which have forgotten the rounding
        of sums, labels that are tied stay so."""
        for rows in _blocks(X.shape[0]):
            averages = [
                share * part._predictor.average_sparse(X[rows], self.n_jobs, np.float64)
                for part, share in self._shares()
            ]
            total = sum(averages[1:], start=averages[0])
            total.sort_indices()
            yield total.astype(dtype)

    def _shares(self) -> list[tuple[TreesEstimator, float]]:
        """Parts, each with its share of the trees."""
        return list(zip(self.parts, self._tree_counts / self.n_estimators_, strict=True))


class ClassifierOfParts(ClassifierMixin, ForestOfParts):
    """Predicts labels, by their probabilities."""

    @property
    def classes_(self) -> np.ndarray:
        found: np.ndarray = self.parts[0].classes_
        return found

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """(n_samples, n_labels) float32 probability of each label."""
        averages = self._dense(self._check_new(X), np.float32)
        return np.minimum(averages, 1, out=averages)

    def predict_sparse(self, X: MatrixLike, k: int | None = None) -> sparse.csr_array:
        """(n_samples, n_labels) CSR, float32, of the probabilities above zero, or of the k largest
        in each row."""
        checked = self._check_new(X)
        k = None if k is None else check_k(k, self._targets.labels.shape[1])
        blocks = [block if k is None else _best(block, k) for block in self._sparse(checked)]
        return sparse.vstack(blocks, format="csr")

    def predict_topk(self, X: MatrixLike, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """The k most probable labels and their probabilities, both (n_samples, k), best first: of
        the averages over all trees, and not of the best of each part."""
        checked = self._check_new(X)
        k = check_k(k, self._targets.labels.shape[1])
        found = [top_k(block, k) for block in self._sparse(checked)]
        labels, scores = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return labels.astype(np.int32), scores

    def predict(self, X: MatrixLike) -> np.ndarray | sparse.csr_array:
        """(n_samples, n_labels) indicators, sparse if fitted on sparse Y. Where parts chose a
        threshold, it is the mean of theirs."""
        checked, decision = self._check_new(X), self._decision()
        found = [decisions(block, decision, self._targets) for block in self._sparse(checked)]
        if self._targets.is_sparse:
            return as_given(sparse.vstack(found, format="csr"), self._targets)
        return np.concatenate(found)

    def suggest(self, rows: MatrixLike, k: int = 5) -> list[list[tuple[str, float]]]:
        """Names and probabilities of the k most probable labels of each row, best first; fewer
        where fewer are possible."""
        names = label_names(self.parts[0]).tolist()
        labels, scores = self.predict_topk(rows, min(k, len(names)))
        return [
            [(names[at], score) for at, score in zip(found, values, strict=True) if score > 0]
            for found, values in zip(labels.tolist(), scores.tolist(), strict=True)
        ]

    def _decision(self) -> Decision:
        states = [vars(part) for part in self.parts]
        chosen = [state["_f1_thresholds"] for state in states if "_f1_thresholds" in state]
        mean = None
        if len(chosen) == len(states):
            for_all, for_each, at_least_one = (
                np.average(np.array(values), axis=0, weights=self._tree_counts)
                for values in zip(*chosen, strict=True)
            )
            mean = F1Thresholds(
                np.float32(for_all), for_each.astype(np.float32), bool(at_least_one >= 0.5)
            )
        threshold = getattr(self.parts[0], "threshold", 0.5)
        return decide(threshold, mean, self._targets.labels.shape[1])


class RegressorOfParts(RegressorMixin, ForestOfParts):
    """Predicts means of outputs."""

    def predict(self, X: MatrixLike) -> np.ndarray | sparse.csr_array:
        """(n_samples,) or (n_samples, n_outputs) means, sparse if fitted on sparse Y."""
        checked = self._check_new(X)
        if self._targets.is_sparse:
            found = sparse.vstack(list(self._sparse(checked, np.float64)), format="csr")
            return as_given(found, self._targets)
        averages = self._dense(checked, np.float64)
        return averages.ravel() if self._targets.is_vector else averages

    def score(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> float:
        """Coefficient of determination R2 of `predict(X)`, the mean over the outputs."""
        return r2(y, self.predict(X), sample_weight)


def of_parts(parts: Sequence[TreesEstimator]) -> ForestOfParts:
    """One forest of fitted ones, which have the same features and outputs."""
    first = parts[0]
    for part in parts:
        ours = part.n_features_in_, part._targets.labels.shape[1]
        theirs = first.n_features_in_, first._targets.labels.shape[1]
        if type(part) is not type(first) or ours != theirs:
            raise ValueError(
                "Parts of a forest must have the same features and outputs; got parts of "
                f"{theirs[0]} and {ours[0]} features, and of {theirs[1]} and {ours[1]} outputs."
            )
    kind = ClassifierOfParts if first._targets.is_classification else RegressorOfParts
    return kind(parts)


def _blocks(n_rows: int) -> list[slice]:
    firsts = range(0, max(n_rows, 1), BLOCK_ROWS)
    return [slice(first, min(first + BLOCK_ROWS, n_rows)) for first in firsts]


def _best(scores: sparse.csr_array, k: int) -> sparse.csr_array:
    labels, best = top_k(scores, k)
    rows = np.repeat(np.arange(len(labels)), k)
    entries = (best.ravel(), (rows, labels.ravel()))
    found = sparse.csr_array(entries, shape=scores.shape)
    found.eliminate_zeros()
    return found

"""Multi-label, multi-class and binary classification."""

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from sketchforest._estimators.constructors import Threshold
from sketchforest._estimators.inspection.names import label_names
from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.parameters import check_k, check_parameters
from sketchforest._estimators.predicting.decisions import (
    DEFAULT,
    Decision,
    HasFittedModel,
    as_given,
    check_ontology,
    decide,
    dense_averages,
    f1_kind,
)
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.predict import Kept
from sketchforest._utils.sparse import checked_if_sparse
from sketchforest._utils.typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics import top_k
from sketchforest.ontology import Ontology


@described_methods
class PredictsLabels(ClassifierMixin, HasFittedModel):
    """Predictions of labels or classes from the averages of a fitted model."""

    threshold: Threshold = DEFAULT  # a parameter of the forests

    @property
    def classes_(self) -> np.ndarray | list[np.ndarray]:
        """The classes: an (n_classes,) array, a list of such arrays for several columns of classes,
        or (n_labels, 2) with [0, 1] in each row for many labels."""
        targets = self.fitted_.targets
        if targets.column_classes is not None:
            return targets.classes_by_output
        if targets.classes is not None:
            return targets.classes
        return np.tile(np.array([0, 1], dtype=targets.dtype), (targets.n_outputs, 1))

    @property
    def n_classes_(self) -> int | list[int]:
        """Number of classes, or a list with the number for each column or label."""
        targets = self.fitted_.targets
        numbers: list[int] = targets.classes_per_output.tolist()
        return numbers[0] if targets.classes is not None else numbers

    def predict_proba(
        self, X: MatrixLike, *, ontology: Ontology | None = None
    ) -> np.ndarray | list[np.ndarray]:
        """Predict probabilities of labels or classes.

        Parameters
        ----------
        ontology : Ontology, optional
            Raise each label to the largest probability among its descendants, so that no label
            exceeds its ancestors. Not needed if the training labels include all ancestors.

        Returns
        -------
        (n_samples, n_labels) float32 or (n_samples, n_classes) array
            A list of arrays for several columns of classes.

        Raises
        ------
        MemoryError
            If the result does not fit in memory. Use `predict_sparse` or `predict_topk` instead.
        """
        return self._probabilities(self.fitted_, X, ontology)

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray | list[np.ndarray]:
        """Predict logarithms of probabilities; -inf for a probability of 0.

        Returns
        -------
        array of the shape of `predict_proba`, or a list of arrays
        """
        with np.errstate(divide="ignore"):
            found = self.predict_proba(X)
            return list(map(np.log, found)) if isinstance(found, list) else np.log(found)

    def predict(
        self, X: MatrixLike, *, ontology: Ontology | None = None
    ) -> np.ndarray | sparse.csr_array:
        """Predict the labels whose probability exceeds the threshold, or the most probable class.

        Parameters
        ----------
        ontology : Ontology, optional
            Predict all ancestors of each predicted label, too.

        Returns
        -------
        (n_samples, n_labels) indicators, sparse if fitted on sparse Y, or (n_samples,) classes
            If the threshold was chosen by F1, a row in which no label exceeds it gets its most
            probable label, unless most similar training rows have none; and a text without a
            known word gets no label. Of equally probable classes, the first is predicted.
        """
        return self._predicted(self.fitted_, X, ontology)

    def predict_sparse(self, X: MatrixLike, k: int | None = None) -> sparse.csr_array:
        """Predict probabilities as a sparse matrix, without zeros, or only the k largest per row.

        Returns
        -------
        (n_samples, n_labels) float32 CSR
        """
        fitted = self.fitted_
        k = None if k is None else check_k(k, fitted.labels.shape[1])
        kept, checked = Kept(np.float32, k), self._check_new(X, fitted)
        return fitted.calibrated_predictor.average_sparse(checked, self._n_jobs, kept)

    def predict_topk(
        self, X: MatrixLike, k: int = 5
    ) -> tuple[np.ndarray, np.ndarray] | list[tuple[np.ndarray, np.ndarray]]:
        """Predict the k most probable labels and their probabilities, best first.

        Labels are column numbers of Y, or classes if Y had one dimension. Equal probabilities are
        sorted by label. For several columns of classes, a list with one pair per column; a column
        of fewer than k classes has all of them.

        Returns
        -------
        labels, scores : (n_samples, k) arrays
        """
        fitted = self.fitted_
        targets = fitted.targets
        if targets.column_classes is not None:
            return self._best_of_columns(fitted, X, k)
        checked = self._check_new(X, fitted)
        k = check_k(k, fitted.labels.shape[1])
        labels, scores = fitted.calibrated_predictor.best(checked, self._n_jobs, k)
        return (labels if targets.classes is None else targets.classes[labels]), scores

    def suggest(self, rows: MatrixLike, k: int = 5) -> list[list[tuple[str, float]]]:
        """Suggest the k most probable labels of each row, by name, best first.

        Labels with a probability of 0 are left out.

        Returns
        -------
        list of lists of (name, probability)
        """
        fitted = self.fitted_
        checked, n_labels = self._check_new(rows, fitted), fitted.labels.shape[1]
        k = min(check_k(k, max(n_labels, k), "labels"), n_labels)
        labels, scores = fitted.calibrated_predictor.best(checked, self._n_jobs, k)
        names = label_names(fitted, labels)
        return [
            [(name, score) for name, score in zip(found, values, strict=True) if score > 0]
            for found, values in zip(names.tolist(), scores.tolist(), strict=True)
        ]

    def score(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> float:
        """Return the accuracy of `predict(X)`.

        With many labels, a row counts only if all of its labels are right.
        """
        return float(super().score(X, checked_if_sparse("y", y), sample_weight))

    @property
    def thresholds_(self) -> np.ndarray | np.float32:
        """Probability that a label must exceed to be predicted: one number, or (n_labels,)."""
        fitted = self.fitted_
        try:
            above = None if fitted.targets.has_classes else decision_rule(self, fitted).above
        except ValueError as error:
            raise AttributeError(str(error)) from error
        if above is None:
            raise AttributeError(
                "thresholds_ exists for labels only, not for classes or threshold='top-K'"
            )
        return above

    def _probabilities(
        self, fitted: Fitted, X: MatrixLike, ontology: Ontology | None = None
    ) -> np.ndarray | list[np.ndarray]:
        targets, checked = fitted.targets, self._check_new(X, fitted)
        check_ontology(ontology, targets)
        averages = dense_averages(fitted.calibrated_predictor, targets, checked, self._n_jobs)
        if ontology is not None:
            return ontology.enforce_hierarchy(averages)
        return averages if targets.column_classes is None else targets.by_column(averages)

    def _predicted(
        self, fitted: Fitted, X: MatrixLike, ontology: Ontology | None
    ) -> np.ndarray | sparse.csr_array:
        targets, predictor, n_jobs = fitted.targets, fitted.calibrated_predictor, self._n_jobs
        checked = self._check_new(X, fitted)
        if ontology is not None:
            check_ontology(ontology, targets)
            closed = ontology.ancestor_closure(self._predicted(fitted, checked, None))
            return as_given(closed, targets) if targets.is_sparse else closed
        if targets.column_classes is not None:
            return targets.most_probable(dense_averages(predictor, targets, checked, n_jobs))
        if targets.classes is not None:
            return targets.classes[predictor.largest(checked, n_jobs)]
        decision = decision_rule(self, fitted)
        if not (targets.is_sparse or decision.at_least_one) and decision.k is None:
            averages = dense_averages(predictor, targets, checked, n_jobs)
            return (averages > decision.above).astype(targets.dtype)
        likely = _predicted(self, fitted, checked)
        likely.data = np.ones(likely.nnz, targets.dtype)
        return as_given(likely, targets) if targets.is_sparse else likely.toarray()

    def _best_of_columns(
        self, fitted: Fitted, X: MatrixLike, k: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        columns = fitted.targets.classes_by_output
        k = check_k(k, max(map(len, columns)), "classes")
        found = [top_k(p, min(k, p.shape[1])) for p in self._probabilities(fitted, X)]
        best = zip(columns, found, strict=True)
        return [(classes[places], scores) for classes, (places, scores) in best]


def decision_rule(model: PredictsLabels, fitted: Fitted | None = None) -> Decision:
    """The rule by which a model predicts labels."""
    fitted, threshold = fitted or model.fitted_, model.threshold
    check_parameters({"threshold": threshold})
    chosen = fitted.f1_thresholds
    if f1_kind(threshold) is None or chosen is not None:
        return decide(threshold, chosen, fitted.labels.shape[1])
    if fitted.is_relabelled:
        return Decision(above=np.float32(DEFAULT), at_least_one=True)
    raise ValueError(
        f"threshold must be a number or 'top-K' for trees without out-of-bag scores; got "
        f"{threshold!r}. Fit with that threshold, or with oob_score=True."
    )


def predicted_labels(model: PredictsLabels, X: MatrixLike) -> sparse.csr_array:
    """(n_samples, n_labels) float32 CSR with the probabilities of the predicted labels."""
    fitted = model.fitted_
    return _predicted(model, fitted, model._check_new(X, fitted))


def best_labels(model: PredictsLabels, X: MatrixLike, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Column numbers and probabilities of the k most probable labels or classes, best first."""
    fitted = model.fitted_
    return fitted.calibrated_predictor.best(model._check_new(X, fitted), model._n_jobs, k)


def _predicted(model: PredictsLabels, fitted: Fitted, X: Matrix) -> sparse.csr_array:
    decision = decision_rule(model, fitted)
    found = fitted.calibrated_predictor.average_sparse(
        X, model._n_jobs, Kept(np.float32, *decision)
    )
    no_words = without_words(fitted, X)
    if decision.at_least_one and no_words.any():
        found.data[np.repeat(no_words, np.diff(found.indptr))] = 0
        found.eliminate_zeros()
    return found


def without_words(fitted: Fitted, X: Matrix) -> np.ndarray:
    """(n_rows,) whether a text has no word that the model knows."""
    if "vectorizer_" not in fitted.attached or isinstance(X, np.ndarray):
        return np.zeros(X.shape[0], bool)
    n_rows = X.shape[0]
    says_something = ~np.isnan(X.data)  # numbers beside the text may be missing
    row = np.repeat(np.arange(n_rows), np.diff(X.indptr))
    return np.bincount(row[says_something], minlength=n_rows) == 0

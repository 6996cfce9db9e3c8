"""Multi-label, multi-class and binary classification: from averages to decisions."""

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from sketchforest._estimators.inspection.mixin import InspectedTrees
from sketchforest._estimators.inspection.names import label_names
from sketchforest._estimators.parameters import Threshold, check_k, check_parameters
from sketchforest._estimators.predicting.predictions import as_given, check_ontology, dense_averages
from sketchforest._estimators.predicting.thresholds import (
    DEFAULT,
    Decision,
    decide,
    f1_kind,
)
from sketchforest._sparse import checked_if_sparse
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.predict import Kept
from sketchforest._typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics import top_k
from sketchforest.ontology import Ontology


class PredictsLabels(ClassifierMixin):
    """From the averages of a fitted model to labels or classes."""

    threshold: Threshold = DEFAULT  # a parameter of the forests
    if TYPE_CHECKING:  # what estimators and forests of parts have

        @property
        def fitted_(self) -> Fitted: ...
        @property
        def _n_jobs(self) -> int | None: ...
        def _check_new(self, X: MatrixLike, fitted: Fitted) -> Matrix: ...

    @property
    def classes_(self) -> np.ndarray | list[np.ndarray]:
        """(n_classes,) classes, or for many labels (n_labels, 2) with [0, 1] for each; a list of
        them for several columns of classes."""
        targets = self.fitted_.targets
        if targets.column_classes is not None:
            return targets.classes_by_output
        if targets.classes is not None:
            return targets.classes
        return np.tile(np.array([0, 1], dtype=targets.dtype), (targets.n_outputs, 1))

    @property
    def n_classes_(self) -> int | list[int]:
        """Number of classes, or a list of them: 2 for each of many labels."""
        targets = self.fitted_.targets
        numbers: list[int] = targets.classes_per_output.tolist()
        return numbers[0] if targets.classes is not None else numbers

    def predict_proba(
        self, X: MatrixLike, *, ontology: Ontology | None = None
    ) -> np.ndarray | list[np.ndarray]:
        """Probabilities of labels or classes.

        Parameters
        ----------
        X : (n_samples, n_features) array, scipy sparse matrix or data frame, or texts for a text
            model
        ontology : Ontology, optional
            Raise labels to the largest probability of those below them, so that none is above its
            parents. Forests fitted on labels with all those above them need it not.

        Returns
        -------
        (n_samples, n_labels) float32 or (n_samples, n_classes) array
            A list of these for several columns of classes.

        Raises
        ------
        MemoryError
            Where the result is larger than the memory: `predict_sparse` and `predict_topk` give
            what matters of it.
        """
        return self._probabilities(self.fitted_, X, ontology)

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray | list[np.ndarray]:
        """The logarithm of `predict_proba`, of the same shape; -inf where that is 0.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model

        Returns
        -------
        array of the shape of `predict_proba`, or a list of such
        """
        with np.errstate(divide="ignore"):
            found = self.predict_proba(X)
            return list(map(np.log, found)) if isinstance(found, list) else np.log(found)

    def predict(
        self, X: MatrixLike, *, ontology: Ontology | None = None
    ) -> np.ndarray | sparse.csr_array:
        """Labels whose probability is above the threshold, or the most probable classes.

        Parameters
        ----------
        X : (n_samples, n_features) array, scipy sparse matrix or data frame, or texts for a text
            model
        ontology : Ontology, optional
            Predict with a label all those above it.

        Returns
        -------
        (n_samples, n_labels) indicators, sparse if fitted on sparse Y, or (n_samples,) classes
            Where the threshold is chosen by F1, a row in which no label exceeds it has its most
            probable one, unless training rows of that kind mostly had none. Of several most
            probable classes, the first is predicted, in each column of classes.
        """
        return self._predicted(self.fitted_, X, ontology)

    def predict_sparse(self, X: MatrixLike, k: int | None = None) -> sparse.csr_array:
        """(n_samples, n_labels) CSR, float32, of the probabilities above zero, or of the k largest
        in each row.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model
        k : int or None, default=None

        Returns
        -------
        (n_samples, n_labels) float32 CSR
        """
        fitted = self.fitted_
        checked = self._check_new(X, fitted)
        if k is not None:
            k = check_k(k, fitted.labels.shape[1])
        return fitted.predictor.average_sparse(checked, self._n_jobs, Kept(np.float32, k))

    def predict_topk(
        self, X: MatrixLike, k: int = 5
    ) -> tuple[np.ndarray, np.ndarray] | list[tuple[np.ndarray, np.ndarray]]:
        """The k most probable labels and their probabilities, both (n_samples, k), best first.

        Labels are column numbers of Y, or classes where Y had one dimension. Equal probabilities
        come in order of label. For several columns of classes it is a list of such pairs, one for
        each column, with all classes of a column that has fewer than k.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model
        k : int, default=5

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
        labels, scores = fitted.predictor.best(checked, self._n_jobs, k)
        return (labels if targets.classes is None else targets.classes[labels]), scores

    def suggest(self, rows: MatrixLike, k: int = 5) -> list[list[tuple[str, float]]]:
        """Names and probabilities of the k most probable labels of each row, best first; fewer
        where fewer are possible.

        Rows are what the model was trained on: a matrix, a data frame, or texts for a text model.

        Parameters
        ----------
        rows : as X for `predict`
        k : int, default=5

        Returns
        -------
        list of lists of (name, probability)
        """
        fitted = self.fitted_
        checked, n_labels = self._check_new(rows, fitted), fitted.labels.shape[1]
        k = min(check_k(k, max(n_labels, k), "labels"), n_labels)
        labels, scores = fitted.predictor.best(checked, self._n_jobs, k)
        names = label_names(fitted, labels)
        return [
            [(name, score) for name, score in zip(found, values, strict=True) if score > 0]
            for found, values in zip(names.tolist(), scores.tolist(), strict=True)
        ]

    def score(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> float:
        """Accuracy of `predict(X)`: of rows whose labels are all right, where rows have many.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model
        y : as for `fit`
        sample_weight : (n_samples,) array, optional

        Returns
        -------
        float
        """
        return float(super().score(X, checked_if_sparse("y", y), sample_weight))

    @property
    def thresholds_(self) -> np.ndarray | np.float32:
        """(n_labels,) probabilities that labels must exceed to be predicted, or one for all."""
        fitted = self.fitted_
        try:
            above = None if fitted.targets.has_classes else self._decision(fitted).above
        except ValueError as error:
            raise AttributeError(str(error)) from error
        if above is None:
            raise AttributeError("thresholds_ is for labels, and not for classes or the k best")
        return above

    def _probabilities(
        self, fitted: Fitted, X: MatrixLike, ontology: Ontology | None = None
    ) -> np.ndarray | list[np.ndarray]:
        targets, checked = fitted.targets, self._check_new(X, fitted)
        check_ontology(ontology, targets)
        averages = dense_averages(fitted.predictor, targets, checked, self._n_jobs)
        if ontology is not None:
            return ontology.respect(averages)
        return averages if targets.column_classes is None else targets.by_column(averages)

    def _predicted(
        self, fitted: Fitted, X: MatrixLike, ontology: Ontology | None
    ) -> np.ndarray | sparse.csr_array:
        targets, predictor, n_jobs = fitted.targets, fitted.predictor, self._n_jobs
        checked = self._check_new(X, fitted)
        if ontology is not None:
            check_ontology(ontology, targets)
            closed = ontology.close(self._predicted(fitted, checked, None))
            return as_given(closed, targets) if targets.is_sparse else closed
        if targets.column_classes is not None:
            return targets.most_probable(dense_averages(predictor, targets, checked, n_jobs))
        if targets.classes is not None:
            return targets.classes[predictor.largest(checked, n_jobs)]
        decision = self._decision(fitted)
        if not (targets.is_sparse or decision.at_least_one) and decision.k is None:
            averages = dense_averages(predictor, targets, checked, n_jobs)
            return (averages > decision.above).astype(targets.dtype)
        likely = self._likely_labels(checked, fitted)
        likely.data = np.ones(likely.nnz, targets.dtype)
        return as_given(likely, targets) if targets.is_sparse else likely.toarray()

    def _best_of_columns(
        self, fitted: Fitted, X: MatrixLike, k: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        columns = fitted.targets.classes_by_output
        k = check_k(k, max(map(len, columns)), "classes")
        shares_of_columns = self._probabilities(fitted, X)
        found = [top_k(shares, min(k, shares.shape[1])) for shares in shares_of_columns]
        best = zip(columns, found, strict=True)
        return [(classes[places], scores) for classes, (places, scores) in best]

    def _likely_labels(self, X: Matrix, fitted: Fitted) -> sparse.csr_array:
        """(n_samples, n_labels) CSR, float32: the probabilities of labels that are predicted."""
        kept = Kept(np.float32, *self._decision(fitted))
        return fitted.predictor.average_sparse(X, self._n_jobs, kept)

    def _decision(self, fitted: Fitted) -> Decision:
        """When labels are predicted."""
        check_parameters({"threshold": self.threshold})
        chosen = fitted.f1_thresholds
        if f1_kind(self.threshold) is None or chosen is not None:
            return decide(self.threshold, chosen, fitted.labels.shape[1])
        if fitted.is_relabelled:
            return Decision(above=np.float32(DEFAULT), at_least_one=True)
        raise ValueError(
            f"threshold must be a number or 'top-K' for trees that were not scored; got "
            f"{self.threshold!r}. Fit with that threshold, or with oob_score=True."
        )


class TreesClassifier(PredictsLabels, InspectedTrees):
    """Predicts labels, by their probabilities, or classes."""

    _criteria = ("gini", "entropy", "log_loss")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

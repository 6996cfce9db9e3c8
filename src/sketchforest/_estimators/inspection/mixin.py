"""What a fitted estimator says of itself and of rows: explanations, similar rows, a description."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse

from sketchforest._estimators.base import TreesEstimator, weights_of_rows
from sketchforest._estimators.inspection.description import Description, describe
from sketchforest._estimators.inspection.explanation import Explanation
from sketchforest._estimators.inspection.names import (
    find_labels,
    label_names,
    row_numbers,
    shown_features,
)
from sketchforest._estimators.parameters import check_k
from sketchforest._estimators.fitting.validation import check_width
from sketchforest._trees.contributions import contributions
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import SparseRows
from sketchforest._trees.predict import ForestPredictor
from sketchforest._typing import Matrix, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from sketchforest._saving.vectorizer import Vectorizer


class InspectedTrees(TreesEstimator):
    """Trees that can be asked why."""

    def explain(
        self,
        row: MatrixLike,
        label: str | int | Sequence[str | int] | None = None,
        k: int = 3,
    ) -> Explanation:
        """Why one row has its scores: what each feature adds, and the training rows that vote.

        On its way down a tree a row meets nodes whose training rows have a label more and more
        often, or less and less. Each step belongs to the feature that was asked for, so that steps
        add up from the label's share in all training rows to its score. In an oblique node, which
        compares a weighted sum of features with a threshold, the features that push the row to the
        side where it goes share the step in proportion to how far they push it, counted from the
        point of the cut that is nearest to zero: a middle rank, or a word that is not there.

        Parameters
        ----------
        row : (1, n_features) array, scipy sparse matrix or data frame, or [text] for a text model
        label : name, column number, or several of them, optional
            Any label: why, or why not? The k most probable ones if not given, or the first k
            outputs of a regressor.
        k : int, default=3

        Returns
        -------
        Explanation
        """
        fitted = self.fitted_
        x = self._check_new(row, fitted)
        if x.shape[0] != 1:
            raise ValueError(f"row must be one row; got {x.shape[0]}. Use X[[i]] for row i.")
        labels = (
            _most_probable(fitted, x, k, self._n_jobs)
            if label is None
            else find_labels(fitted, label)
        )
        stored = fitted.labels
        Y = stored[:, labels] if isinstance(stored, np.ndarray) else _columns(stored, labels)
        found = contributions(fitted.forest_predictor, x, Y)
        weights = weights_of_rows(fitted, x, self._n_jobs)
        order = np.argsort(-weights.data, kind="stable")
        rows = weights.indices[order]
        values = _values(x, found.features)
        ids, texts = fitted.attached.get("row_ids_"), fitted.attached.get("row_texts_")
        numbers = row_numbers(fitted, rows)
        return Explanation(
            labels=labels,
            label_names=label_names(fitted, labels),
            scores=found.scores,
            base=found.base,
            features=found.features,
            feature_names=shown_features(fitted, found.features),
            values=values,
            is_present=(values != 0) if sparse.issparse(x) else np.ones(len(values), bool),
            contributions=found.added,
            rows=numbers,
            row_names=list(map(str, numbers if ids is None else ids[rows])),
            weights=weights.data[order],
            votes=Y[rows],
            row_labels=_labels_of(fitted, rows),
            row_texts=None if texts is None else [texts[row] for row in rows],
        )

    def similar(self, rows: MatrixLike, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """The k training rows that count most for each row, and their weights: both (n_rows, k),
        the nearest first.

        Weights are those of `leaf_weights`: the share of a training row in the prediction. Rows
        have their numbers in the file that the model was trained on, or in X. A weight of 0 means
        that no further row shares a leaf.

        Parameters
        ----------
        rows : as X for `predict`
        k : int, default=5

        Returns
        -------
        rows, weights : (n_rows, k) arrays
        """
        fitted = self.fitted_
        checked = self._check_new(rows, fitted)
        k = check_k(k, fitted.labels.shape[0], "training rows")
        predictor = ForestPredictor.of_training_rows(fitted.forest)
        found, weights = predictor.best(checked, self._n_jobs, k)
        return row_numbers(fitted, found), weights

    def attach(
        self,
        *,
        label_names: Sequence[str] | np.ndarray | None = None,
        feature_names: Sequence[str] | np.ndarray | None = None,
        vectorizer: "Vectorizer | None" = None,
        row_numbers: Sequence[int] | np.ndarray | None = None,
        row_ids: Sequence[str] | np.ndarray | None = None,
        row_texts: Sequence[str] | None = None,
    ) -> Self:
        """Names for what the model counts, and what made X of text; `save` keeps them.

        Parameters
        ----------
        label_names, feature_names : sequences of str, optional
            Kept in `label_names_` and `feature_names_`.
        vectorizer : TfidfVectorizer, optional
            What made X of texts. The model then takes texts in place of X.
        row_numbers : sequence of int, optional
            Where the training rows stand in the file, or in what was split before the fit.
        row_ids, row_texts : sequences of str, optional
            The training rows for readers of explanations. Texts make a model file larger, and who
            has the file can read them.

        Returns
        -------
        self
        """
        fitted = self.fitted_
        n_train, n_labels = fitted.labels.shape
        attached: dict[str, object] = {}
        for name, values, length, dtype in (
            ("label_names", label_names, n_labels, str),
            ("feature_names", feature_names, fitted.n_features, str),
            ("row_numbers", row_numbers, n_train, np.int64),
            ("row_ids", row_ids, n_train, str),
            ("row_texts", row_texts, n_train, None),
        ):
            if values is None:
                continue
            if len(values) != length:
                raise ValueError(f"{name} must have one for each of {length}; got {len(values)}.")
            # An array of texts is as wide as the longest of them.
            attached[f"{name}_"] = values if dtype is None else np.asarray(values, dtype)
        if vectorizer is not None:
            terms = vectorizer.get_feature_names_out()
            check_width(len(terms), fitted.n_features)
            attached |= {"vectorizer_": vectorizer, "feature_names_": terms}
        self._attach(attached)
        return self

    def describe(self) -> Description:
        """What was fitted: trees, rows, features and labels, and the features that count.

        Returns
        -------
        Description
        """
        return describe(self._frozen())

    def to_frame(self) -> "DataFrame":
        """A data frame of features and their importances, the most important first.

        Returns
        -------
        pandas.DataFrame
        """
        return self.describe().to_frame()

    def plot(self, n: int = 10, ax: "Axes | None" = None) -> "Axes":
        """Bars of the n most important features.

        Parameters
        ----------
        n : int, default=10
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        return self.describe().plot(n, ax)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        """In a notebook scikit-learn's diagram of the parameters, and what was fitted."""
        is_fitted = self.__sklearn_is_fitted__()
        model = self._frozen() if is_fitted else self
        bundle: dict[str, str] = super(InspectedTrees, model)._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and is_fitted:
            bundle["text/html"] += model.describe()._repr_html_()
        return bundle

    @property
    def _repr_html_(self) -> Callable[[], str]:
        _ = super()._repr_html_  # there is none where scikit-learn is told to show text
        return lambda: self._repr_mimebundle_()["text/html"]


def _most_probable(fitted: Fitted, x: Matrix, k: int, n_jobs: int | None) -> np.ndarray:
    """Column numbers of the k best labels; the first k of a regressor."""
    n_labels = fitted.labels.shape[1]
    k = min(check_k(k, max(n_labels, k), "outputs"), n_labels)
    if not fitted.targets.is_classification:
        return np.arange(k)
    return fitted.predictor.best(x, n_jobs, k)[0].ravel().astype(np.int64)


def _labels_of(fitted: Fitted, rows: np.ndarray) -> list[list[str]]:
    """All labels of training rows, by name."""
    if not fitted.targets.is_classification:
        return [[] for _ in rows]
    found = fitted.targets.class_labels.to_csr(np.uint8)[rows]
    names = label_names(fitted, found.indices)
    return [names[a:b].tolist() for a, b in pairwise(found.indptr)]


def _columns(labels: SparseRows, columns: np.ndarray) -> np.ndarray:
    return labels.to_csr(np.float64)[:, columns].toarray()


def _values(x: Matrix, features: np.ndarray) -> np.ndarray:
    picked = x[:, features]
    return np.asarray(picked if isinstance(picked, np.ndarray) else picked.toarray(), float).ravel()

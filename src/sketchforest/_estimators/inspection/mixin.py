"""The methods with which a fitted estimator explains and describes itself."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.fitting.validation import check_width
from sketchforest._estimators.inspection.description import Description, describe
from sketchforest._estimators.inspection.names import row_numbers
from sketchforest._estimators.inspection.to_sklearn import to_sklearn
from sketchforest._estimators.parameters import check_k
from sketchforest._trees.predict import ForestPredictor
from sketchforest._utils.lazy import lock_of
from sketchforest._utils.typing import MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from sketchforest._saving.vectorizer import Vectorizer


class InspectionMixin(TreesEstimator):
    """Explanations, similar rows, names, a description, a scikit-learn estimator."""

    def similar(self, rows: MatrixLike, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Find the k training rows with the largest weights in each prediction.

        Weights are those of `leaf_weights`; a weight of 0 means that no other row shares a leaf.
        Training rows are numbered as in the original file, or in X.

        Parameters
        ----------
        rows : as X for `predict`
        k : int, default=5

        Returns
        -------
        rows, weights : (n_rows, k) arrays
            The largest weight first.
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
        """Attach names, texts or a vectorizer to the model. `save` stores them.

        Parameters
        ----------
        label_names, feature_names : sequences of str, optional
            Available as `label_names_` and `feature_names_`.
        vectorizer : TfidfVectorizer, optional
            The fitted vectorizer that made X from texts. The model then accepts texts as X.
        row_numbers : sequence of int, optional
            Positions of the training rows in the original file, or in the data before a split.
        row_ids, row_texts : sequences of str, optional
            Identify training rows in explanations. Texts make the model file larger, and anyone
            with the file can read them.

        Returns
        -------
        self
        """
        with lock_of(self, "fitted_"):  # a concurrent fit must not replace the model meanwhile
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
                    raise ValueError(f"{name} must have {length} entries; got {len(values)}.")
                # Texts stay a list: every entry of an array is as wide as the longest.
                attached[f"{name}_"] = values if dtype is None else np.asarray(values, dtype)
            if vectorizer is not None:
                terms = vectorizer.get_feature_names_out()
                check_width(len(terms), fitted.n_features)
                attached |= {"vectorizer_": vectorizer, "feature_names_": terms}
            self._attach(attached)
        return self

    def describe(self) -> Description:
        """Summarize the fitted model: its size, data, thresholds and most important features.

        Returns
        -------
        Description
        """
        return describe(copy(self))

    def to_sklearn(self) -> BaseEstimator:
        """Convert to a fitted scikit-learn estimator, for tools that require one.

        Its trees have the same nodes, and it predicts the same for X in float32. It does not know
        which rows each tree was grown on. Oblique trees cannot be converted, nor can models whose
        dense tables of outputs do not fit in memory.

        Returns
        -------
        scikit-learn estimator
        """
        return to_sklearn(copy(self))

    def to_frame(self) -> "DataFrame":
        """Return a data frame of features and importances, most important first.

        Returns
        -------
        pandas.DataFrame
        """
        return self.describe().to_frame()

    def plot(self, n: int = 10, ax: "Axes | None" = None) -> "Axes":
        """Plot the n most important features.

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
        """scikit-learn's diagram in notebooks, followed by the description."""
        is_fitted = self.__sklearn_is_fitted__()
        model = copy(self) if is_fitted else self
        bundle: dict[str, str] = super(InspectionMixin, model)._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and is_fitted:
            bundle["text/html"] += model.describe()._repr_html_()
        return bundle

    @property
    def _repr_html_(self) -> Callable[[], str]:
        _ = super()._repr_html_  # raises if scikit-learn is configured to show text
        return lambda: self._repr_mimebundle_()["text/html"]

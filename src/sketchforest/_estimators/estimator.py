"""Base class of all estimators: saving, names, explanations, and validation of new rows."""

import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.utils import Tags

from sketchforest._estimators.fitted_state import FittedState
from sketchforest._estimators.fitting.validation import are_texts, check_features, check_width
from sketchforest._estimators.inspection.description import Description, describe
from sketchforest._estimators.inspection.explanation import Explanation, explain
from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.parameters import check_parameters
from sketchforest._saving.estimators import save_estimator
from sketchforest._saving.json_values import Json
from sketchforest._trees.fitted import Fitted
from sketchforest._utils.frames import is_frame
from sketchforest._utils.lazy import lock_of
from sketchforest._utils.sparse import checked_if_sparse
from sketchforest._utils.typing import Matrix, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from sketchforest._saving.vectorizer import Vectorizer


@described_methods
class Estimator(FittedState):
    """A forest, a tree or boosted trees."""

    def _check_parameters(self) -> None:
        check_parameters(self.get_params(deep=False))

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features,) impurity-based importances: each feature's share in the total decrease of
        impurity, averaged over trees.

        Impurity is measured where splits are searched: on the projected outputs, if there is a
        projection.
        """
        fitted = self.fitted_
        importances = np.zeros(fitted.n_features)
        used, shares = fitted.forest.used_features
        importances[used] = shares
        return importances

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        compact: bool = False,
        label_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        vectorizer: "Vectorizer | None" = None,
        notes: dict[str, Json] | None = None,
    ) -> None:
        """Save the model to a file that `sketchforest.load_forest` reads.

        The file holds arrays and JSON, and no code. It is written to a temporary file next to
        `path`, which then replaces `path`.

        Parameters
        ----------
        compact : bool, default=False
            Leave out the gain of each split. The loaded model predicts the same but has no
            `feature_importances_`.
        label_names, feature_names : sequences of str, optional
            Loaded as `label_names_` and `feature_names_`.
        vectorizer : TfidfVectorizer, optional
            The fitted vectorizer that made X from texts, loaded as `vectorizer_`; its terms become
            the feature names. Its token pattern must match in linear time: one character or class
            repeated without bound, no alternatives, as in the default.
        notes : dict of JSON values, optional
            Anything else worth keeping, loaded as `notes_`.
        """
        self._check_parameters()  # loading rejects invalid ones
        names = {"label_names": label_names, "feature_names": feature_names}
        given = {name: value for name, value in names.items() if value is not None}
        save_estimator(self, path, compact, given, vectorizer, notes)

    def explain(
        self, row: MatrixLike, label: str | int | Sequence[str | int] | None = None, k: int = 3
    ) -> Explanation:
        """Explain the scores of one row by its features, and in forests by similar training rows.

        From the root of a tree to a leaf, the prediction changes at every split: in a forest, the
        share of training rows with a label. Each change is credited to the feature of the split, so
        contributions add up from the baseline, the prediction before any split, to the score of the
        row. Boosting adds up scores before the link function: log-odds for labels. An oblique split
        compares a weighted sum of features with a threshold. Its change is shared among the
        features that push the row to its side, in proportion to how far they push it from the point
        of the split nearest to zero, which is a middle rank or an absent word.

        Parameters
        ----------
        row : (1, n_features) array, scipy sparse matrix or data frame, or [text] for a text model
        label : name, column number, or several of them, optional
            The labels to explain, whether predicted or not. By default the k most probable ones, or
            the first k outputs of a regressor.
        """
        return explain(self, row, k=k, label=label)

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
        """
        with lock_of(self, "fitted_"):  # a concurrent fit must not replace the model meanwhile
            fitted = self.fitted_
            n_train, n_labels = fitted.n_rows, fitted.labels.shape[1]
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
        """Summarize the fitted model: its size, data, thresholds and most important features."""
        return describe(copy(self))

    def to_frame(self) -> "DataFrame":
        """Return a data frame of features and importances, most important first.

        Returns
        -------
        pandas.DataFrame
        """
        return self.describe().to_frame()

    def plot(self, n: int = 10, ax: "Axes | None" = None) -> "Axes":
        """Plot the n most important features.

        Returns
        -------
        matplotlib Axes
        """
        return self.describe().plot(n, ax)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        """scikit-learn's diagram in notebooks, followed by the description."""
        is_fitted = self.__sklearn_is_fitted__()
        model = copy(self) if is_fitted else self
        bundle: dict[str, str] = super(Estimator, model)._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and is_fitted:
            bundle["text/html"] += model.describe()._repr_html_()
        return bundle

    @property
    def _repr_html_(self) -> Callable[[], str]:
        _ = super()._repr_html_  # raises if scikit-learn is configured to show text
        return lambda: self._repr_mimebundle_()["text/html"]

    @property
    def _n_jobs(self) -> int | None:
        return getattr(self, "n_jobs", None)

    def _check_new(self, X: MatrixLike, fitted: Fitted) -> Matrix:
        """Validate rows to predict; a text model vectorizes texts."""
        vectorizer = fitted.attached.get("vectorizer_")
        if vectorizer is not None and are_texts(X):
            made: Matrix = checked_if_sparse("X", vectorizer.transform(X))
            check_width(made.shape[1], fitted.n_features)
            return made
        columns = fitted.input_columns
        if columns is not None and not is_frame(X):  # encoded already
            fitted, columns = replace(fitted, feature_names=None, input_columns=None), None
        return check_features(self._with(fitted), X, columns=columns)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags

"""Text in, tags out: a forest with the encoder of its rows and the names of its labels."""

import os
from collections.abc import Sequence
from copy import copy
from dataclasses import field, replace
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.constructors import declared
from sketchforest._estimators.inspection.names import label_names
from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.predicting.labels import PredictsLabels
from sketchforest._estimators.predicting.ranked import ranked_labels
from sketchforest._evaluation.mistakes import with_texts
from sketchforest._features.encoder import RowEncoder
from sketchforest._features.frames import as_block, as_records, columns_of, encode_rows, texts_of
from sketchforest._features.tags import known_targets, tag_targets
from sketchforest._features.training_rows import TrainingRows
from sketchforest._utils.typing import WeightsLike
from sketchforest.evaluation import Evaluation, evaluate
from sketchforest.explain import Explanation
from sketchforest.metrics import lrap
from sketchforest.sketch_forest import SketchForestClassifier


@described_methods
@declared
class Tagger(BaseEstimator):
    """Suggests tags for texts, or for rows of texts, numbers and categories.

    It turns rows into features, tags into labels, fits a forest, and predicts tags by name.

    Parameters
    ----------
    estimator : classifier of sketchforest or None, default=None
        None is ``SketchForestClassifier(n_jobs=-1, random_state=0)``.
    analyzer : {"word", "char", "char_wb"}, default="word"
        Whether terms consist of words, of characters, or of characters within words. This and the
        next parameters are those of scikit-learn's `TfidfVectorizer`.
    ngram_range : tuple of two ints, default=(1, 1)
        Shortest and longest terms, in words or characters.
    min_df : int or float, default=2
        Minimum number, or fraction, of texts with a term.
    max_df : int or float, default=1.0
        Maximum number, or fraction, of texts with a term.
    max_features : int or None, default=None
        Number of terms to keep, the most frequent ones. None keeps all.
    stop_words : {"english"}, list of str or None, default=None
        Words to ignore.
    strip_accents : {"ascii", "unicode"} or None, default=None
    sublinear_tf : bool, default=True
        Use 1 + log(count) instead of the count of a term.
    text_columns : sequence of str, default=()
        Text columns of a data frame. By default, all columns are read by their type: strings as
        text, categories as categories, numbers and booleans as numbers. If this or the next
        parameter is given, columns without a role are ignored.
    number_columns : sequence of str, default=()
        Columns of numbers.
    category_columns : sequence of str, default=()
        Columns of categories, such as strings that are not text.
    tag_separator : str or None, default=None
        Separator of tags that are given as strings, such as ";".
    min_label_count : int, default=1
        Leave out tags that occur in fewer rows.
    keep_texts : bool, default=False
        Store the texts in the model, to show the training texts behind a prediction. Anyone who
        has the model can read them.

    Attributes
    ----------
    estimator_ : estimator
        The fitted forest, with features as columns and labels as outputs. Its other fitted
        attributes, such as `oob_score_`, are also available on the tagger.
    label_names_ : (n_labels,) array of str
        The tags, in the order of the columns of `predict_proba`.
    feature_names_in_ : (n_columns,) array of str
        The columns of the data frame; only "text" if fitted on texts.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from sketchforest import Tagger
    >>> texts = ["fry an egg", "boil an egg", "bake bread", "bake rye bread"] * 5
    >>> tags = [["eggs", "frying"], ["eggs"], ["bread"], ["bread", "rye"]] * 5
    >>> tagger = Tagger().fit(texts, tags)
    >>> tagger.predict(["How long does an egg boil?", "white bread"])
    [['eggs'], ['bread']]
    >>> [tag for tag, score in tagger.suggest(["rye bread"], k=2)[0]]
    ['bread', 'rye']
    """

    estimator_: PredictsLabels = field(init=False)

    estimator: BaseEstimator | None = field(default=None, kw_only=False)
    analyzer: Literal["word", "char", "char_wb"] = "word"
    ngram_range: tuple[int, int] = (1, 1)
    min_df: int | float = 2
    max_df: int | float = 1.0
    max_features: int | None = None
    stop_words: str | Sequence[str] | None = None
    strip_accents: str | None = None
    sublinear_tf: bool = True
    text_columns: Sequence[str] = ()
    number_columns: Sequence[str] = ()
    category_columns: Sequence[str] = ()
    tag_separator: str | None = None
    min_label_count: int = 1
    keep_texts: bool = False

    def fit(
        self,
        texts: Any,
        tags: Any,
        *,
        label_names: Sequence[str] | None = None,
        sample_weight: WeightsLike = None,
    ) -> Self:
        """Fit the forest to texts and their tags.

        Parameters
        ----------
        texts : sequence of str, or data frame
            The columns of a data frame may hold texts, numbers, categories and booleans, and
            missing values.
        tags : sequence of lists of str, or (n_rows, n_labels) indicators
            The tags of each row; strings with `tag_separator`; or a matrix of zeros and ones,
            dense, sparse or a data frame, whose column names are the tags.
        label_names : sequence of str, optional
            The tags of an indicator matrix without column names.
        """
        model = _checked_estimator(self.estimator)
        Y, names = tag_targets(tags, self.tag_separator, label_names)
        columns = columns_of(texts, self.text_columns, self.number_columns, self.category_columns)
        block = as_block(texts, [*columns.text, *columns.numbers, *columns.categories])
        records, table = as_records(block, columns)
        n_rows = records.others.shape[0]
        if n_rows != Y.shape[0]:
            raise ValueError(
                f"texts and tags must have the same number of rows; got {n_rows} and {Y.shape[0]}."
            )
        settings = {n: v for n, v in self.get_params(deep=False).items() if n != "estimator"}
        encoded = TrainingRows(records, Y, names, columns, table).encoded(settings)
        model.fit(encoded.X, encoded.Y, sample_weight=sample_weight)
        encoded.attach_to(model)
        model.tagger_ = settings
        self.estimator_ = model
        return self

    def suggest(self, texts: Any, k: int = 5) -> list[list[tuple[str, float]]]:
        """Suggest the k most probable tags of each text with their scores, best first.

        Returns
        -------
        list of lists of (tag, score)
        """
        return self._model.suggest(encode_rows(self._model, texts), k)

    def predict(
        self, texts: Any, threshold: float | str | None = None
    ) -> list[list[str]] | sparse.csr_array:
        """Predict the tags of each text whose scores exceed the threshold, best first.

        Parameters
        ----------
        threshold : float, str or None, default=None
            As the parameter of the forest: a number, "f1", "f1-per-label" or "top-k". None uses
            that of the forest.

        Returns
        -------
        list of lists of str
            A sparse indicator matrix if fitted on a matrix without names.
        """
        model = copy(self._model)
        if threshold is not None:
            model.set_params(threshold=threshold)
        names, X = label_names(model.fitted_).tolist(), encode_rows(model, texts)
        if "label_names_" not in model.fitted_.attached:
            return sparse.csr_array(model.predict(X))
        return [[names[at] for at in labels] for labels, _ in ranked_labels(model, X, None)]

    def predict_proba(self, texts: Any) -> np.ndarray:
        """Predict the probability of each tag.

        Returns
        -------
        (n_rows, n_labels) float32 array
            Columns are in the order of `label_names_`.
        """
        found = self._model.predict_proba(encode_rows(self._model, texts))
        assert isinstance(found, np.ndarray)  # labels, not several columns of classes
        return found

    def predict_sparse(self, texts: Any, k: int | None = None) -> sparse.csr_array:
        """Predict probabilities of tags as a sparse matrix, or only the k largest per text.

        Returns
        -------
        (n_rows, n_labels) float32 CSR
            Columns are in the order of `label_names_`.
        """
        return self._model.predict_sparse(encode_rows(self._model, texts), k)

    def indicators(self, tags: Any) -> sparse.csr_array:
        """Return tags as an indicator matrix, to compare with `predict_proba` by metrics.

        Parameters
        ----------
        tags : as for `fit`
            Tags that the model does not know are left out.

        Returns
        -------
        (n_rows, n_labels) CSR
        """
        return known_targets(tags, self.label_names_, self.tag_separator, min_known=0)[0]

    def evaluate(
        self, texts: Any, tags: Any, *, label_names: Sequence[str] | None = None
    ) -> Evaluation:
        """Evaluate the predictions for texts with known tags.

        Parameters
        ----------
        texts, tags, label_names : as for `fit`
            Tags that the model does not know are left out and counted in `n_unknown`.
        """
        model = self._model
        Y, unknown = known_targets(tags, self.label_names_, self.tag_separator, label_names)
        found = evaluate(model, encode_rows(model, texts), Y)
        wrong_rows = with_texts(found.wrong_rows, texts_of(model, texts))
        return replace(found, wrong_rows=wrong_rows, n_unknown=len(unknown))

    def score(self, texts: Any, tags: Any) -> float:
        """Return the label ranking average precision (LRAP) of texts with known tags."""
        Y, _ = known_targets(tags, self.label_names_, self.tag_separator)
        return lrap(Y, self.predict_sparse(texts))

    def explain(
        self, text: Any, label: str | Sequence[str] | None = None, k: int = 3
    ) -> Explanation:
        """Explain the scores of one text by its words and by similar training texts.

        Parameters
        ----------
        text : str, or data frame with one row
        label : str or sequence of str, optional
            The tags to explain, whether predicted or not. By default the k most probable ones.
        """
        model = self._model
        X = encode_rows(model, [text] if isinstance(text, str) else text)
        return RowEncoder.of(model).unscaled(model.explain(X, label, k))

    def similar(self, texts: Any, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Find the k training rows with the largest weights in each prediction.

        Returns
        -------
        rows, weights : (n_rows, k) arrays
            The largest weight first.
        """
        return self._model.similar(encode_rows(self._model, texts), k)

    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Save the tagger to a file that `sketchforest.load_forest` and all commands read.

        Parameters
        ----------
        compact : bool, default=False
            Leave out feature importances.
        """
        self._model.save(path, compact=compact)

    @property
    def label_names_(self) -> np.ndarray:
        return label_names(self._model.fitted_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        return np.array(RowEncoder.of(self._model).row_columns, dtype=object)

    @property
    def n_features_in_(self) -> int:
        return len(self.feature_names_in_)

    @property
    def _model(self) -> PredictsLabels:
        check_is_fitted(self)
        return self.estimator_

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the fitted forest, such as `oob_score_`."""
        if name.endswith("_") and not name.startswith("_") and "estimator_" in vars(self):
            return getattr(self.estimator_, name)
        raise AttributeError(f"'Tagger' object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.no_validation = True
        return tags


def tagger_of(model: PredictsLabels) -> Tagger:
    """Return the tagger of a forest that was loaded from its file."""
    tagger = Tagger(clone(model), **model.tagger_)
    tagger.estimator_ = model
    return tagger


def _checked_estimator(estimator: BaseEstimator | None) -> PredictsLabels:
    """Return an unfitted copy of the estimator, or the default one."""
    if estimator is None:
        return SketchForestClassifier(n_jobs=-1, random_state=0)
    if not isinstance(estimator, PredictsLabels):
        raise TypeError(
            "estimator must be a classifier of sketchforest; got a "
            f"{type(estimator).__name__}. Use a scikit-learn pipeline for other estimators."
        )
    return clone(estimator)

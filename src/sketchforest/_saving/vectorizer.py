"""Raw text to features: a fitted TF-IDF vectorizer as JSON and arrays, and back."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sketchforest._saving.container import DamagedError
from sketchforest._saving.json_values import Json, arguments, converted, to_json

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

Vectorizer: TypeAlias = "TfidfVectorizer"


def vectorizer_state(vectorizer: Vectorizer) -> tuple[dict[str, Json], list[str], np.ndarray]:
    """Parameters, terms in the order of their columns, and their weights."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if type(vectorizer) is not TfidfVectorizer or not vectorizer.use_idf:
        raise ValueError(
            "vectorizer must be scikit-learn's TfidfVectorizer with use_idf=True in a model file; "
            f"got {vectorizer!r}. Use pickle for other ones."
        )
    params = vectorizer.get_params() | {"vocabulary": None}
    params["dtype"] = np.dtype(params["dtype"]).name
    params["ngram_range"] = list(params["ngram_range"])
    if isinstance(params["stop_words"], frozenset | set | tuple):
        params["stop_words"] = sorted(params["stop_words"])
    terms = vectorizer.get_feature_names_out().tolist()
    return to_json(params), terms, np.asarray(vectorizer.idf_, np.float64)


def restore_vectorizer(
    params: Mapping[str, Json], names: Sequence[str] | None, idf: np.ndarray | None
) -> Vectorizer:
    """A vectorizer that transforms as the saved one did; its terms are the first of the names."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    given = arguments(TfidfVectorizer, params)
    terms = list(names or ())[: 0 if idf is None else idf.size]
    if not terms or idf is None or idf.shape != (len(set(terms)),):
        raise DamagedError("its vectorizer has not one weight for each term")
    given |= {
        "dtype": converted(np.dtype, given.get("dtype")).type,
        "ngram_range": converted(tuple, given.get("ngram_range")),
        "vocabulary": {term: column for column, term in enumerate(terms)},
    }
    vectorizer = TfidfVectorizer(**given)
    vectorizer.idf_ = np.asarray(idf, np.float64)
    return vectorizer

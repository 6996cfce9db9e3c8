"""Raw text to features: a fitted TF-IDF vectorizer as JSON and arrays, and back."""

from typing import Any

import numpy as np


def vectorizer_state(vectorizer: Any) -> tuple[dict[str, Any], list[str], np.ndarray]:
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
    return params, terms, np.asarray(vectorizer.idf_, np.float64)


def restore_vectorizer(params: dict[str, Any], terms: list[str], idf: np.ndarray) -> Any:
    """A vectorizer that transforms as the saved one did."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    params = params | {
        "dtype": np.dtype(params["dtype"]).type,
        "ngram_range": tuple(params["ngram_range"]),
        "vocabulary": {term: column for column, term in enumerate(terms)},
    }
    vectorizer = TfidfVectorizer(**params)
    vectorizer.idf_ = np.asarray(idf, np.float64)
    return vectorizer

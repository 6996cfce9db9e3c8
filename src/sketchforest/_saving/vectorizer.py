"""Raw text to features: a fitted TF-IDF vectorizer as JSON and arrays, and back."""

import codecs
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sketchforest._saving.container import DamagedError
from sketchforest._saving.json_values import Json, arguments, to_json
from sketchforest._saving.schema import Holds, are_texts, check_fields, is_count, is_number
from sketchforest._saving.token_pattern import is_ending_pattern

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

Vectorizer: TypeAlias = "TfidfVectorizer"

LONGEST_NGRAM = 100


def _one_of(*values: object) -> Holds:
    return lambda value: any(type(value) is type(known) and value == known for known in values)


def _is_range(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(map(is_count, value))
    return is_pair and 1 <= value[0] <= value[1] <= LONGEST_NGRAM


def _is_encoding(value: object) -> bool:
    try:
        return type(value) is str and codecs.lookup(value)._is_text_encoding
    except (LookupError, ValueError):
        return False


_NONE, _FLAG = _one_of(None), _one_of(True, False)
PARAMETERS: dict[str, Holds] = {
    "input": _one_of("content"),  # others open files whose names are in the text
    "encoding": _is_encoding,
    "decode_error": _one_of("strict", "ignore", "replace"),
    "strip_accents": _one_of(None, "ascii", "unicode"),
    "lowercase": _FLAG,
    "preprocessor": _NONE,
    "tokenizer": _NONE,
    "analyzer": _one_of("word", "char", "char_wb"),
    "stop_words": lambda value: value is None or value == "english" or are_texts(value),
    "token_pattern": is_ending_pattern,
    "ngram_range": _is_range,
    "max_df": is_number,
    "min_df": is_number,
    "max_features": lambda value: value is None or is_count(value),
    "vocabulary": _NONE,
    "binary": _FLAG,
    "dtype": _one_of("float32", "float64"),
    "norm": _one_of(None, "l1", "l2"),
    "use_idf": _one_of(True),
    "smooth_idf": _FLAG,
    "sublinear_tf": _FLAG,
}


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
    state = to_json(params)
    for name, value in state.items():
        if name in PARAMETERS and not PARAMETERS[name](value):
            raise ValueError(
                f"vectorizer must have a {name} that a model file may have; got {value!r}. "
                + _WAYS_OUT.get(name, "Use pickle for other ones.")
            )
    terms = vectorizer.get_feature_names_out().tolist()
    return state, terms, np.asarray(vectorizer.idf_, np.float64)


_WAYS_OUT = {
    "token_pattern": "Use one that repeats one character without bound at its end, as in "
    r"'\b\w\w+\b' or '\S+', so that it is fast on every text, or pickle.",
}


def restore_vectorizer(
    params: Mapping[str, Json], names: Sequence[str] | None, idf: np.ndarray | None
) -> Vectorizer:
    """A vectorizer that transforms as the saved one did; its terms are the first of the names."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    known = {"input", "analyzer", "token_pattern", "ngram_range", "dtype"}
    check_fields("text.", params, {name: PARAMETERS[name] for name in known}, PARAMETERS)
    given = arguments(TfidfVectorizer, params)
    terms = list(names or ())[: 0 if idf is None else idf.size]
    if not terms or idf is None or idf.shape != (len(set(terms)),):
        raise DamagedError("its vectorizer has not one weight for each term")
    if idf.dtype != np.float64 or not np.isfinite(idf).all():
        raise DamagedError("a weight of its vectorizer is no number")
    given |= {
        "dtype": np.dtype(str(given["dtype"])).type,
        "ngram_range": tuple(given["ngram_range"]),  # type: ignore[arg-type]
        "vocabulary": {term: column for column, term in enumerate(terms)},
    }
    vectorizer = TfidfVectorizer(**given)
    vectorizer.idf_ = idf
    return vectorizer

"""Conversion of fitted TF-IDF vectorizers to JSON and arrays, and back."""

import codecs
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sketchforest._saving.container import CorruptModelError
from sketchforest._saving.json_values import Json, arguments, to_json
from sketchforest._saving.schema import Check, are_texts, is_count, is_number, validate_fields
from sketchforest._saving.token_pattern import is_linear_time

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

Vectorizer: TypeAlias = "TfidfVectorizer"

LONGEST_NGRAM = 100
_LINEAR_TIME = (
    r"Use a pattern that takes linear time on every text, such as '\b\w\w+\b' or '\S+', or pickle."
)


def _one_of(*values: object) -> Check:
    return lambda value: any(type(value) is type(known) and value == known for known in values)


def _is_range(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(map(is_count, value))
    return is_pair and 1 <= value[0] <= value[1] <= LONGEST_NGRAM


def _is_scale(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value))


def _is_encoding(value: object) -> bool:
    try:
        return type(value) is str and codecs.lookup(value)._is_text_encoding
    except (LookupError, ValueError):
        return False


_NONE, _FLAG = _one_of(None), _one_of(True, False)
PARAMETERS: dict[str, Check] = {
    "input": _one_of("content"),  # the others would open files
    "encoding": _is_encoding,
    "decode_error": _one_of("strict", "ignore", "replace"),
    "strip_accents": _one_of(None, "ascii", "unicode"),
    "lowercase": _FLAG,
    "preprocessor": _NONE,
    "tokenizer": _NONE,
    "analyzer": _one_of("word", "char", "char_wb"),
    "stop_words": lambda value: value is None or value == "english" or are_texts(value),
    "token_pattern": is_linear_time,
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
# Parameters of a tagger: those of its vectorizer, and the roles of columns.
_TAGGER = {
    name: PARAMETERS[name]
    for name in (
        *("analyzer", "ngram_range", "min_df", "max_df", "max_features"),
        *("stop_words", "strip_accents", "sublinear_tf"),
    )
} | {
    **dict.fromkeys(("text_columns", "number_columns", "category_columns"), are_texts),
    "tag_separator": lambda value: value is None or type(value) is str,
    "min_label_count": is_count,
    "keep_texts": _FLAG,
}
# What the encoder of a tagger's rows reads in the notes.
_COLUMNS: dict[str, Check] = {
    **dict.fromkeys(("text", "labels", "ignored", "categories", "numbers"), are_texts),
    "tags": lambda value: value is None or type(value) is str,
    "tag_separator": lambda value: type(value) is str,
    "lowercase_tags": _FLAG,
}
_NOTES: dict[str, Check] = {
    "columns": lambda value: isinstance(value, dict),
    "scales": lambda value: isinstance(value, dict) and all(map(_is_scale, value.values())),
}


def vectorizer_state(vectorizer: Vectorizer) -> tuple[dict[str, Json], list[str], np.ndarray]:
    """Return the parameters, the terms in column order, and their IDF weights."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if type(vectorizer) is not TfidfVectorizer or not vectorizer.use_idf:
        raise ValueError(
            "vectorizer must be a TfidfVectorizer with use_idf=True to be saved in a model file; "
            f"got {vectorizer!r}. Use pickle for other vectorizers."
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
                f"vectorizer must have a {name} that is allowed in a model file; got {value!r}. "
                + (_LINEAR_TIME if name == "token_pattern" else "Use pickle for other values.")
            )
    terms = vectorizer.get_feature_names_out().tolist()
    return state, terms, np.asarray(vectorizer.idf_, np.float64)


def restore_vectorizer(
    params: Mapping[str, Json], names: Sequence[str] | None, idf: np.ndarray | None
) -> Vectorizer:
    """Restore a vectorizer; its terms are the first of the feature names."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    known = {"input", "analyzer", "token_pattern", "ngram_range", "dtype"}
    validate_fields("text.", params, {name: PARAMETERS[name] for name in known}, PARAMETERS)
    given = arguments(TfidfVectorizer, params)
    terms = list(names or ())[: 0 if idf is None else idf.size]
    if not terms or idf is None or len(idf) != len(set(terms)):
        raise CorruptModelError("vectorizer must have one weight per term")
    # Squares of rows' entries must fit in float32. An IDF itself is at most log(n_samples) + 1.
    if not (np.abs(idf) < 1e15).all():
        raise CorruptModelError("weight of the vectorizer that is not a number below 1e15")
    given |= {
        "dtype": np.dtype(str(given["dtype"])).type,
        "ngram_range": tuple(given["ngram_range"]),  # type: ignore[arg-type]
        "vocabulary": {term: column for column, term in enumerate(terms)},
    }
    vectorizer = TfidfVectorizer(**given)
    vectorizer.idf_ = idf
    return vectorizer


def read_tagger(params: Mapping[str, Json], notes: Mapping[str, Json]) -> dict[str, Any]:
    """Return the parameters of a tagger in a model file, if the notes describe its columns."""
    validate_fields("tagger.", params, {}, _TAGGER)
    validate_fields("notes.", {name: notes[name] for name in _NOTES if name in notes}, {}, _NOTES)
    columns = notes.get("columns", {})
    assert isinstance(columns, dict)
    validate_fields("notes.columns.", columns, {}, _COLUMNS)
    # Lists were tuples, as the defaults are.
    return {name: tuple(v) if isinstance(v, list) else v for name, v in params.items()}

"""Where the words of a text that count for a label stand in it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sketchforest._saving.vectorizer import Vectorizer


class Word(NamedTuple):
    """Characters of a text from `start` to before `end`, and what the word adds to a score."""

    start: int
    end: int
    adds: float


def words_that_count(vectorizer: Vectorizer, text: str, added: Mapping[str, float]) -> list[Word]:
    """The words of the text that are part of a term which adds something; `added` is by term.

    What a term of several words adds is shared by them. A word that stands there twice is marked
    twice, with the same number: the term has been counted once for both. Terms of characters have
    no words.
    """
    if vectorizer.analyzer != "word" or vectorizer.tokenizer is not None:
        return []
    tokens = list(_tokens(vectorizer, text))
    share: dict[str, float] = {}
    shortest, longest = vectorizer.ngram_range
    for n in range(shortest, longest + 1):
        seen = {tuple(name for name, _ in tokens[at : at + n]) for at in range(len(tokens) - n + 1)}
        for names in seen:
            adds = added.get(" ".join(names), 0.0)
            for name in names if adds else ():
                share[name] = share.get(name, 0.0) + adds / n
    return [Word(*span, share[name]) for name, span in tokens if share.get(name)]


def _tokens(vectorizer: Vectorizer, text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Words as the vectorizer knows them, without those that it leaves out, and their places.

    Each is found before letters are made small, which may change how many there are."""
    prepared, stop_words = vectorizer.build_preprocessor(), vectorizer.get_stop_words() or ()
    pattern = re.compile(vectorizer.token_pattern)
    group = 1 if pattern.groups else 0
    for found in pattern.finditer(text):
        name = prepared(found[group])
        if name not in stop_words:
            yield name, found.span(group)


def in_fields(
    vectorizer: Vectorizer, texts: Sequence[str], added: Mapping[str, float]
) -> list[list[Word]]:
    """The words of each text of a row."""
    return [words_that_count(vectorizer, text, added) for text in texts]

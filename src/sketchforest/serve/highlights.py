"""Where the words of a text that count for a label stand in it."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sketchforest._saving.vectorizer import Vectorizer


class Word(NamedTuple):
    """Characters of a text from `start` to before `end`, and what the word adds to a score."""

    start: int
    end: int
    adds: float


@dataclass(frozen=True)
class MarkedText:
    """The words of a text and the terms they are part of, found once for all labels."""

    tokens: list[tuple[str, tuple[int, int]]]  # names and places
    terms: dict[str, tuple[str, ...]]  # those of interest that stand there, and their words

    @classmethod
    def of(
        cls, vectorizer: Vectorizer, text: str, terms: Collection[str], end: int | None = None
    ) -> "MarkedText":
        """Of words that end at most at `end`. Terms of characters have no words."""
        if vectorizer.analyzer != "word" or vectorizer.tokenizer is not None:
            return cls([], {})
        tokens = list(_tokens(vectorizer, text, len(text) if end is None else end))
        names = [name for name, _ in tokens]
        found = {}
        shortest, longest = vectorizer.ngram_range
        for n in range(shortest, min(longest, len(names)) + 1):
            for at in range(len(names) - n + 1):
                term = " ".join(names[at : at + n])
                if term in terms:
                    found[term] = tuple(names[at : at + n])
        return cls(tokens, found)

    def words_that_count(self, added: Mapping[str, float]) -> list[Word]:
        """The words that are part of a term which adds something; `added` is by term.

        What a term of several words adds is shared by them. A word that stands there twice is
        marked twice, with the same number: the term has been counted once for both.
        """
        share: dict[str, float] = {}
        for term, names in self.terms.items():
            adds = added.get(term, 0.0)
            for name in names if adds else ():
                share[name] = share.get(name, 0.0) + adds / len(names)
        return [Word(*span, share[name]) for name, span in self.tokens if share.get(name)]


def _tokens(vectorizer: Vectorizer, text: str, end: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Words as the vectorizer knows them, without those that it leaves out, and their places.

    Each is found before letters are made small, which may change how many there are."""
    prepared, stop_words = vectorizer.build_preprocessor(), vectorizer.get_stop_words() or ()
    pattern = re.compile(vectorizer.token_pattern)
    group = 1 if pattern.groups else 0
    for found in pattern.finditer(text):
        if found.end(group) > end:
            return
        name = prepared(found[group])
        if name not in stop_words:
            yield name, found.span(group)

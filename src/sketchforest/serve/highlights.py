"""Find the words of a text that contribute to a score."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sketchforest._saving.vectorizer import Vectorizer


class Word(NamedTuple):
    """The characters `text[start:end]`, and what the word adds to a score."""

    start: int
    end: int
    adds: float


@dataclass(frozen=True)
class TokenizedText:
    """The words of a text and the terms they form, found once for all labels."""

    tokens: list[tuple[str, tuple[int, int]]]  # words and their spans
    terms: dict[str, tuple[str, ...]]  # terms present in the text, and their words

    @classmethod
    def of(
        cls, vectorizer: Vectorizer, text: str, terms: Collection[str], end: int | None = None
    ) -> "TokenizedText":
        """Find these terms in `text[:end]`. Terms of characters have no words."""
        if vectorizer.analyzer != "word" or vectorizer.tokenizer is not None:
            return cls([], {})
        tokens = list(_tokenize(vectorizer, text, len(text) if end is None else end))
        words = [word for word, _ in tokens]
        found = {}
        shortest, longest = vectorizer.ngram_range
        for n in range(shortest, min(longest, len(words)) + 1):
            for at in range(len(words) - n + 1):
                term = " ".join(words[at : at + n])
                if term in terms:
                    found[term] = tuple(words[at : at + n])
        return cls(tokens, found)

    def highlights(self, contributions: Mapping[str, float]) -> list[Word]:
        """Return the words of the terms that contribute.

        The words of a term share its contribution. A word that occurs twice is returned twice
        with the same value, because the term's contribution covers both.
        """
        adds: dict[str, float] = {}
        for term, words in self.terms.items():
            for word in words if contributions.get(term) else ():
                adds[word] = adds.get(word, 0.0) + contributions[term] / len(words)
        return [Word(*span, adds[word]) for word, span in self.tokens if adds.get(word)]


def _tokenize(vectorizer: Vectorizer, text: str, end: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield words as the vectorizer sees them, without stop words, and their spans.

    Each word is preprocessed by itself, since lowercasing a whole text may change its length."""
    preprocess, stop_words = vectorizer.build_preprocessor(), vectorizer.get_stop_words() or ()
    pattern = re.compile(vectorizer.token_pattern)
    group = 1 if pattern.groups else 0
    for found in pattern.finditer(text):
        if found.end(group) > end:
            return
        word = preprocess(found[group])
        if word not in stop_words:
            yield word, found.span(group)

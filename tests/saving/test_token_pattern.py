"""Which token patterns a model file may have: those that are fast on every text."""

import pytest

from sketchforest._saving.token_pattern import is_linear_time

ORDINARY = [
    *(r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"(?u)\b(\w+)\b", r"(?u)\b\w[\w-]+\b", r"\b[^\d\W]+\b"),
    *(r"\b[a-zA-Z]+\b", r"\b[a-zA-Z]{3,}\b", r"(?u)\b[a-zA-Z]\w+\b", r"\b[\w']+\b", r"\b\d+\b"),
    *(r"\b\w{2,30}\b", r"\w{3,}", r"\w\w+\b", r"[\w']+", r"[^,;]+", r"\S+", r"[@#]?\w+", "."),
    *(r"[a-z]{2,20}", r"\d{4}", "soup"),
]
# For texts of one character, repeated, of which each place begins a search to the end.
QUADRATIC = [
    *(r"\w+!", r"\w*x", r"[a-z]+\b", r"\S+\b", r"\d+\b", r"\w+\B", "<[^>]+>", r"\w+'?\w"),
    *(r"\w+\w{1,99}!", r"\w{1,99}\w+!", r"\b[a!]{1,99}[a!]+\b", r"\b[a!]{40}[a!]+\b"),
]
SLOW = [r"\w{1,99}\w{1,99}!", r"\w{1,60}!!", r"\w{99}!", r"[a!]{2,90}\b", r"\w{9,9}{9}"]


@pytest.mark.parametrize("pattern", ORDINARY)
def test_ordinary_patterns_may_be_in_a_file(pattern):
    assert is_linear_time(pattern)


@pytest.mark.parametrize("pattern", QUADRATIC + SLOW)
def test_patterns_that_search_the_same_text_again_and_again_may_not(pattern):
    assert not is_linear_time(pattern)

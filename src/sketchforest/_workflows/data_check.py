"""A check of training data: what may be wrong with its rows, texts and tags.

Rows are counted from 0, as in explanations.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._utils.display import shortened
from sketchforest.datasets import Dataset
from sketchforest.datasets.columns import CANDIDATES, MISSING, USUAL_SEPARATOR, split_tags

SHOWN = 30  # characters of an example
_OPENING, _CLOSING = set("'\"[{("), set("'\"]}")


class Finding(NamedTuple):
    """Something suspicious: how often, what, one example, and how to fix it."""

    n: int
    what: str
    example: str
    fix: str = ""


class DataCheck(NamedTuple):
    n_rows: int
    n_labels: int
    labels_per_row: float
    findings: list[Finding]

    def as_json(self) -> dict[str, Any]:
        found = [finding._asdict() for finding in self.findings]
        return {**self._asdict(), "findings": found}


def check_data(
    dataset: Dataset, texts: Sequence[str] | None, missing_words: Mapping[str, int]
) -> DataCheck:
    """Check training data as they were read."""
    Y = dataset.Y
    n_rows, n_labels = Y.shape
    per_row = np.diff(Y.indptr)
    names = [] if dataset.label_names is None else dataset.label_names.astype(str).tolist()
    findings = [
        *_rows(per_row, missing_words),
        *_texts(dataset.X, texts or ()),
        *_spellings(names),
        *_lists_and_words(names),
        *_unsplit(names),
        *_rare(Y, names),
    ]
    return DataCheck(n_rows, n_labels, float(per_row.mean()), findings)


def _rows(per_row: np.ndarray, missing_words: Mapping[str, int]) -> Iterable[Finding]:
    without = np.flatnonzero(per_row == 0)
    if len(without):
        fix = ""
        if missing_words:
            word, n_words = max(missing_words.items(), key=lambda item: item[1])
            fix = f"{n_words:,} of them hold {word!r}, read as a missing value."
        yield Finding(len(without), "rows without labels", f"row {without[0]}", fix)


def _texts(X: sparse.csr_array, texts: Sequence[str]) -> Iterable[Finding]:
    """Find texts that occur twice, with the same numbers and categories, and empty ones."""
    first: dict[object, int] = {}
    repeats = []
    for row, text in enumerate(texts):
        entries = slice(X.indptr[row], X.indptr[row + 1])
        key = text.strip(), X.indices[entries].tobytes(), X.data[entries].tobytes()
        if key[0] and first.setdefault(key, row) != row:
            repeats.append((row, first[key]))
    if repeats:
        row, earlier = repeats[0]
        yield Finding(
            len(repeats),
            "repeated rows",
            f"row {row} repeats row {earlier}",
            "Scores on a holdout are too high if a row is in both parts.",
        )
    empty = [row for row, text in enumerate(texts) if not text.strip()]
    if empty:
        yield Finding(len(empty), "empty texts", f"row {empty[0]}")


def _spellings(names: Sequence[str]) -> Iterable[Finding]:
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike["".join(name.casefold().replace("-", " ").replace("_", " ").split())].append(name)
    variants = [group for group in alike.values() if len(group) > 1]
    if variants:
        example = " and ".join(_shown(name) for name in variants[0][:2])
        n = sum(map(len, variants))
        fix = "They stay separate; --lowercase-tags merges differences in case."
        yield Finding(n, "labels that differ only in case or spacing", example, fix)


def _lists_and_words(names: Sequence[str]) -> Iterable[Finding]:
    of_lists = [name for name in names if name[:1] in _OPENING or name[-1:] in _CLOSING]
    if of_lists:
        fix = 'Write lists as a;b, or as ["a", "b"].'
        yield Finding(
            len(of_lists), "labels that look like parts of lists", _shown(of_lists[0]), fix
        )
    words = [name for name in names if name.lower() in MISSING]
    if words:
        yield Finding(len(words), "labels that mean a missing value", _shown(words[0]))


def _unsplit(names: Sequence[str]) -> Iterable[Finding]:
    """Find labels that another separator would split into known labels."""
    known = set(names)
    for separator in (USUAL_SEPARATOR, *CANDIDATES):
        if separator == " ":
            continue
        whole = [
            name
            for name in names
            if len(parts := split_tags(name, separator)) > 1 and known.issuperset(parts)
        ]
        if whole:
            fix = f"Separate all tags alike: {separator!r} was not read as a separator."
            yield Finding(len(whole), "labels that consist of other labels", _shown(whole[0]), fix)


def _rare(Y: sparse.csr_array, names: Sequence[str]) -> Iterable[Finding]:
    counts = np.bincount(Y.indices[Y.data != 0], minlength=Y.shape[1])
    rare = np.flatnonzero(counts == 1)
    if len(rare):
        example = _shown(names[rare[0]]) if names else f"label {rare[0]}"
        fix = "--min-label-count 2 leaves them out."
        yield Finding(len(rare), "labels of a single row", example, fix)


def _shown(name: str) -> str:
    return repr(shortened(name, SHOWN))

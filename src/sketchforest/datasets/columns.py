"""Roles of the columns of a table, and the format of tags."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from sketchforest._utils.warning import warn
from sketchforest.datasets._text import AnyPath, bad_file, shown, shown_path

USUAL_SEPARATOR = ";"
# Brackets around each tag, as in "<a><b>".
_BRACKETS = ("<>", "[]", "{}", "()")
# Other separators to suggest.
CANDIDATES = (",", "|", "<>", "[]", "\t", "/", " ")
# Words that stand for a missing value if they are all that a cell holds.
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?"}
# A list in a cell, as JSON, Python or NumPy write it: at least one quoted string, or nothing.
_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_ITEM = re.compile(rf"({_QUOTED})|([\w.+-]++)", re.DOTALL)
_UNESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LIST = re.compile(
    rf"[\[({{]\s*+(?:(?:{_QUOTED}|[\w.+-]++)(?:\s*+,\s*+|\s++)?+)*+[\])}}]", re.DOTALL
)


@dataclass(frozen=True)
class Columns:
    """Roles of the columns of a table. All but ``tags`` take one name or several.

    ``lowercase_tags`` makes one label of tags that differ only in case.

    Other columns hold numbers, unless ``text`` or ``numbers`` are given; then they are ignored.
    Without a separator, tags are split at semicolons; the reader raises if these split nothing and
    another separator would.

    Examples
    --------
    >>> from sketchforest.datasets import Columns
    >>> Columns(text="body", tags="tags", ignored=("id", "date")).ignored
    ('id', 'date')
    """

    text: tuple[str, ...] = ()
    tags: str | None = None
    tag_separator: str = ""
    labels: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    lowercase_tags: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("tags", "tag_separator", "lowercase_tags"):
                names = (value,) if isinstance(value, str) else tuple(value or ())
                object.__setattr__(self, field.name, names)

    @property
    def separator(self) -> str:
        return self.tag_separator or USUAL_SEPARATOR

    def tags_of(self, cell: object) -> list[str]:
        """The distinct tags of a cell."""
        found = split_tags(cell, self.separator)
        return list(dict.fromkeys(map(str.lower, found))) if self.lowercase_tags else found

    def check_targets(self) -> None:
        """Raise for a column that is both a feature and a target."""
        targets = dict.fromkeys(self.labels, "labels")
        if self.tags is not None:
            targets[self.tags] = "tags"
        for use in ("text", "categories", "numbers"):
            for name in getattr(self, use):
                if name in targets:
                    raise ValueError(
                        f"{use} must not include a column of {targets[name]}, the target; got "
                        f"{name!r}. Remove it from one of them."
                    )

    def numbers_among(self, names: Sequence[str]) -> list[str]:
        """The columns of a table that hold numbers."""
        if self.numbers or self.text:
            return list(self.numbers)
        others = {self.tags, *self.labels, *self.ignored, *self.categories}
        return [name for name in names if name not in others]


def is_missing(cell: object) -> bool:
    """Whether a cell is None, NaN or a word for it."""
    return cell is None or str(cell).strip().lower() in MISSING


def split_tags(cell: object, separator: str) -> list[str]:
    """The distinct, non-empty tags of a cell.

    A cell may be a list, or its text as in ``['a', 'b']``.
    """
    if isinstance(cell, list | tuple):
        parts: Sequence[object] = [tag for tag in cell if tag is not None and tag == tag]
    elif is_missing(cell):
        return []
    elif (listed := _list_of(str(cell))) is not None:
        parts = [tag for tag in listed if tag is not None]
    elif separator in _BRACKETS:
        opening, closing = separator[0], separator[1]
        parts = str(cell).replace(closing, opening).split(opening)
    else:
        parts = str(cell).split(separator)
    return list(dict.fromkeys(part for part in (str(p).strip() for p in parts) if part))


def _list_of(cell: str) -> list[object] | None:
    """The items of a list that was written as text; None for any other text."""
    cell = cell.strip()
    if not _LIST.fullmatch(cell):
        return None
    try:
        found = json.loads(cell)
        return found if isinstance(found, list) else None
    except ValueError:  # not JSON
        items = _ITEM.findall(cell)
    if items and not any(quoted for quoted, _ in items):
        return None
    return [_UNESCAPED.sub(r"\1", quoted[1:-1]) for quoted, _ in items if quoted]


def join_tags(tags: Sequence[str], separator: str) -> str:
    """The inverse of `split_tags`."""
    if separator in _BRACKETS:
        return "".join(f"{separator[0]}{tag}{separator[1]}" for tag in tags)
    return separator.join(tags)


def check_separator(path: AnyPath, columns: Columns, tags: Sequence[Sequence[str]]) -> None:
    """Raise, or warn if the separator was given, if it splits nothing and another one would."""
    cells = {row[0] for row in tags if row}
    if len(cells) < 2 or any(len(row) > 1 for row in tags):
        return
    if all(cell.startswith("[") and cell.endswith("]") and "][" not in cell for cell in cells):
        reason = (
            f"column {columns.tags!r} holds lists without quotes, such as {shown(min(cells))}; "
            "write them as 'a;b' or as '[\"a\", \"b\"]'"
        )
        raise bad_file(path, None, reason)
    found = {c: {tag for cell in cells for tag in split_tags(cell, c)} for c in CANDIDATES}
    better = [
        candidate
        for candidate in CANDIDATES
        if (
            all(cell.startswith(candidate[0]) and cell.endswith(candidate[1]) for cell in cells)
            if candidate in _BRACKETS
            else len(found[candidate]) < len(cells)
        )
    ]
    if not better:
        return
    best = min(better, key=lambda candidate: len(found[candidate]))
    reason = (
        f"{columns.separator!r} splits none of the {len(cells):,} different cells of column "
        f"{columns.tags!r}, and {best!r} would find {len(found[best]):,} tags; did you mean "
        f"--tag-separator {best!r}"
    )
    if not columns.tag_separator:
        raise bad_file(path, None, f"{reason}? If not, add --tag-separator {columns.separator!r}")
    warn(f"{shown_path(path)}: {reason}?")

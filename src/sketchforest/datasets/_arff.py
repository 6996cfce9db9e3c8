"""Parser of ARFF text: the header, then the rows as one matrix column per attribute.

A nominal value becomes its position among the declared values, so the first one becomes 0. Sparse
rows leave out zeros, and in ARFF that means the first value of a nominal attribute.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from sketchforest.datasets._rows import Rows
from sketchforest.datasets._text import AnyPath, bad_file, decoded, shown

# Values that make a nominal attribute a single 0/1 column; the second of each pair means 1.
_BINARY = (("0", "1"), ("no", "yes"), ("n", "y"), ("false", "true"))
# A MEKA relation says how many attributes are labels: the first n, or with -n the last n.
_MEKA_LABELS = re.compile(r"-C\s+(-?\d{1,9})(?!\d)")
_TYPES = dict.fromkeys(("numeric", "real", "integer"), "numeric") | {
    name: name for name in ("string", "date", "key")
}
# A quoted text, a cell with the comma after it, and an entry of a sparse row: a cell behind an
# attribute number.
_QUOTED_TEXT = r"""(?P<quote>['"])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\])*+)(?P=quote)"""
_CELL_TEXT = rf"""(?:{_QUOTED_TEXT}\s*+|(?!['"])(?P<plain>[^,]*+))(?P<comma>,|\Z)"""
_QUOTED = re.compile(_QUOTED_TEXT)
_CELL = re.compile(rf"\s*+{_CELL_TEXT}")
_ENTRY = re.compile(rf"\s*+(?P<column>[^\s,]*+)\s*+{_CELL_TEXT}")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED_QUOTE = re.compile(r"\\(['\"])")


@dataclass(frozen=True)
class Attribute:
    """Attribute of type "numeric", "nominal", "hierarchical", "string", "date" or "key"."""

    name: str
    kind: str
    values: tuple[str, ...] = ()
    line: int = 0

    @property
    def positive(self) -> int | None:
        """Position of the value of a binary attribute that means 1; None for other attributes."""
        lowered = tuple(value.lower() for value in self.values)
        for pair in _BINARY:
            if lowered in (pair, pair[::-1]):
                return lowered.index(pair[1])
        return None


@dataclass
class Header:
    relation: str = ""
    attributes: list[Attribute] = field(default_factory=list)

    @property
    def hierarchical(self) -> int | None:
        """Position of the attribute that holds the classes of a hierarchy."""
        kinds = [attribute.kind for attribute in self.attributes]
        return kinds.index("hierarchical") if "hierarchical" in kinds else None

    @property
    def meka_labels(self) -> int | None:
        match = _MEKA_LABELS.search(self.relation)
        return int(match.group(1)) if match else None


def read_header(path: AnyPath, lines: Iterator[tuple[int, bytes]]) -> Header:
    """Parse the lines up to ``@data``."""
    header = Header()
    number = 1
    for number, raw in lines:
        text = decoded(raw, path, number).strip()
        if not text or text.startswith("%"):
            continue
        keyword = text.split(maxsplit=1)[0]
        rest = text[len(keyword) :].strip()
        match keyword.lower():
            case "@relation":
                header.relation = rest
            case "@attribute":
                header.attributes.append(_attribute(path, number, rest))
            case "@data" if header.attributes:
                return header
            case "@data":
                raise bad_file(path, number, "there is no @attribute before @data")
            case _:
                reason = f"expected @relation, @attribute or @data, got {shown(text)}"
                raise bad_file(path, number, reason)
    raise bad_file(path, number, "the file ends before @data")


def _attribute(path: AnyPath, line: int, text: str) -> Attribute:
    if match := _QUOTED.match(text):
        name, kind = unescaped(match["quoted"]), text[match.end() :].strip()
    elif text.startswith(("'", '"')):
        raise bad_file(path, line, f"the quote in {shown(text)} is not closed")
    else:
        name, kind = (*text.split(maxsplit=1), "", "")[:2]
        if not kind and "{" in name:  # name{0,1}
            name, brace, values = name.partition("{")
            kind = brace + values
        name = _ESCAPED_QUOTE.sub(r"\1", name)  # some writers escape quotes in unquoted names
        if not name:
            raise bad_file(path, line, "the attribute has no name")
    if kind.startswith("{"):
        if not kind.endswith("}"):
            reason = f"the values of attribute {shown(name)} have no closing brace"
            raise bad_file(path, line, reason)
        declared = tuple(split_cells(path, line, kind[1:-1]))
        if len(set(declared)) < len(declared):
            raise bad_file(path, line, f"attribute {shown(name)} declares a value twice")
        return Attribute(name, "nominal", declared, line)
    word, _, classes = kind.partition(" ")
    if not word:
        raise bad_file(path, line, f"attribute {shown(name)} has no type")
    if word.lower() == "hierarchical":
        return Attribute(name, "hierarchical", tuple(split_cells(path, line, classes)), line)
    if word.lower() not in _TYPES:
        raise bad_file(path, line, f"attribute {shown(name)} has unknown type {shown(kind)}")
    return Attribute(name, _TYPES[word.lower()], (), line)


def split_cells(path: AnyPath, line: int, text: str) -> list[str]:
    """The cells between commas, unquoted; commas inside quotes do not split."""
    if "'" not in text and '"' not in text:
        return [part.strip() for part in text.split(",")]
    return [_cell(match) for match in _matches(_CELL, path, line, text)]


def _split_entries(path: AnyPath, line: int, text: str) -> tuple[Sequence[str], Sequence[str]]:
    """Attribute numbers and cells of a sparse row."""
    if "'" not in text and '"' not in text:
        with suppress(ValueError):  # some entry is not two words
            columns, cells = zip(*(entry.split() for entry in text.split(",")), strict=True)
            return columns, cells
    matches = _matches(_ENTRY, path, line, text) if text.strip() else []
    for match in matches:
        if not (match["quote"] or match["plain"].strip()):
            raise bad_file(path, line, f"attribute number {shown(match['column'])} has no value")
    return [match["column"] for match in matches], list(map(_cell, matches))


def _matches(pattern: re.Pattern[str], path: AnyPath, line: int, text: str) -> list[re.Match[str]]:
    """Matches of a pattern that ends in a comma, one after the other up to the end of the text."""
    matches: list[re.Match[str]] = []
    at = 0
    while not matches or matches[-1]["comma"]:
        match = pattern.match(text, at)
        if match is None:
            rest = text[at:].lstrip()
            if quoted := _QUOTED.search(rest):
                tail = rest[quoted.end() :].partition(",")[0].strip()
                raise bad_file(path, line, f"{shown(tail)} follows a closing quote")
            raise bad_file(path, line, f"the quote in {shown(rest)} is not closed")
        matches.append(match)
        at = match.end()
    return matches


def _cell(match: re.Match[str]) -> str:
    return unescaped(match["quoted"]) if match["quote"] else match["plain"].strip()


def unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


class ArffRows:
    """Reader of rows; ``classes`` has the text of the hierarchical attribute for each row."""

    def __init__(self, path: AnyPath, attributes: list[Attribute]) -> None:
        self.path = path
        self.classes: list[str] = []
        self.n_given = 0  # number of values that are written out
        self._attributes = attributes
        self._rows = Rows(path)
        self._class = ""
        self.lines: Sequence[int] = self._rows.lines
        self._columns = {str(at): at for at in range(len(attributes))}
        self._convert = list(map(self._converter, attributes))

    def read(self, lines: Iterable[tuple[int, bytes]]) -> sparse.csr_array:
        """(n_rows, n_attributes) float64, NaN where missing."""
        for number, raw in lines:
            line = raw.strip()
            if line and not line.startswith(b"%"):
                self._read_row(number, decoded(line, self.path, number))
        if not len(self._rows):
            raise bad_file(self.path, None, "there are no rows after @data")
        return self._rows.matrix(len(self._attributes), "attribute", missing=True)

    def _read_row(self, number: int, text: str) -> None:
        self._class = ""
        if text.startswith("{"):
            if not text.endswith("}"):
                raise bad_file(self.path, number, "the row has no closing brace")
            texts, cells = _split_entries(self.path, number, text[1:-1])
            columns = [self._columns.get(column, -1) for column in texts]
            if -1 in columns:
                wrong = shown(texts[columns.index(-1)])
                reason = f"{wrong} is not an attribute number (0 to {len(self._attributes) - 1})"
                raise bad_file(self.path, number, reason)
            self._rows.append(number, columns, self._values(number, text, columns, cells))
        else:
            cells = split_cells(self.path, number, text)
            if len(cells) != len(self._attributes):
                reason = f"the row has {len(cells)} values for {len(self._attributes)} attributes"
                raise bad_file(self.path, number, reason)
            values = self._values(number, text, range(len(cells)), cells)
            self._rows.append_dense(number, np.array(values, np.float64))
        self.n_given += len(cells)
        self.classes.append(self._class)

    def _values(
        self, number: int, text: str, columns: Sequence[int], cells: Sequence[str]
    ) -> list[float]:
        # Python's numbers may have underscores and the digits of any script.
        if "_" not in text and text.isascii():
            with suppress(ValueError, KeyError):
                convert = self._convert
                values = [convert[at](cell) for at, cell in zip(columns, cells, strict=True)]
                if not math.isnan(sum(values)):
                    return values
        return [self._value(number, at, cell) for at, cell in zip(columns, cells, strict=True)]

    def _converter(self, attribute: Attribute) -> Callable[[str], float]:
        """Function from the text of a valid cell to its value; it may raise for others."""
        match attribute.kind:
            case "numeric":
                return float
            case "nominal":
                return {value: float(at) for at, value in enumerate(attribute.values)}.__getitem__
            case "hierarchical":
                return self._keep_class
        return lambda text: 0.0  # the column will be dropped

    def _value(self, number: int, at: int, text: str) -> float:
        """The value of any cell."""
        attribute = self._attributes[at]
        try:
            value = self._convert[at](text)
        except (ValueError, KeyError):
            value = math.nan
        if attribute.kind == "numeric" and ("_" in text or not text.isascii()):
            value = math.nan
        if math.isnan(value) and text != "?":
            what = "a number" if attribute.kind == "numeric" else "a declared value"
            reason = f"{shown(text)} is not {what} (attribute {shown(attribute.name)})"
            raise bad_file(self.path, number, reason)
        return value

    def _keep_class(self, text: str) -> float:
        self._class = "" if text == "?" else text
        return 0.0

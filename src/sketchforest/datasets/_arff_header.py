"""The header of an ARFF file: its relation and its attributes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sketchforest.datasets._text import AnyPath, bad_file, decoded, shown

# Values that make a nominal attribute one 0/1 column, the second of each meaning 1.
_BINARY = (("0", "1"), ("no", "yes"), ("n", "y"), ("false", "true"))
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED_QUOTE = re.compile(r"\\(['\"])")
_QUOTES = "'\""
# A MEKA file says in its relation how many attributes are labels: the first, or (-n) the last.
_MEKA_LABELS = re.compile(r"-C\s+(-?\d{1,9})(?!\d)")


@dataclass(frozen=True)
class Attribute:
    """A column of the file: "numeric", "nominal" with its values, "hierarchical" or another."""

    name: str
    kind: str
    values: tuple[str, ...] = ()
    line: int = 0

    @property
    def positive(self) -> int | None:
        """Which of the two values of a yes-or-no attribute is yes; None for all others."""
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
        """The position of the attribute that holds a hierarchy's classes."""
        kinds = [attribute.kind for attribute in self.attributes]
        return kinds.index("hierarchical") if "hierarchical" in kinds else None

    @property
    def meka_labels(self) -> int | None:
        match = _MEKA_LABELS.search(self.relation)
        return int(match.group(1)) if match else None


def read_header(path: AnyPath, lines: Iterator[tuple[int, bytes]]) -> Header:
    """Reads up to the line ``@data``."""
    header = Header()
    number = 0
    for number, raw in lines:
        text = decoded(raw, path, number).strip()
        if not text or text.startswith("%"):
            continue
        keyword, _, rest = text.replace("\t", " ").partition(" ")
        match keyword.lower():
            case "@relation":
                header.relation = rest.strip()
            case "@attribute":
                header.attributes.append(_attribute(path, number, text[len(keyword) :].strip()))
            case "@data":
                if not header.attributes:
                    raise bad_file(path, number, "there is no @attribute before @data")
                return header
            case _:
                reason = f"expected @relation, @attribute or @data, got {shown(text)}"
                raise bad_file(path, number, reason)
    raise bad_file(path, max(number, 1), "the file ends before its line @data")


def _attribute(path: AnyPath, line: int, text: str) -> Attribute:
    name, rest = _leading_word(path, line, text)
    kind = rest.strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise bad_file(
                path, line, f"the values of attribute {shown(name)} have no closing brace"
            )
        values = tuple(split_quoted(path, line, kind[1:-1]))
        if len(set(values)) < len(values):
            raise bad_file(path, line, f"attribute {shown(name)} has a value twice")
        return Attribute(name, "nominal", values, line)
    word, _, more = kind.partition(" ")
    match word.lower():
        case "numeric" | "real" | "integer":
            return Attribute(name, "numeric", (), line)
        case "hierarchical":
            return Attribute(name, "hierarchical", tuple(split_quoted(path, line, more)), line)
        case "string" | "date" | "key":
            return Attribute(name, word.lower(), (), line)
        case "":
            raise bad_file(path, line, f"attribute {shown(name)} has no type")
    raise bad_file(path, line, f"attribute {shown(name)} has the unknown type {shown(kind)}")


def _leading_word(path: AnyPath, line: int, text: str) -> tuple[str, str]:
    if text[:1] and text[0] in _QUOTES:
        end = _closing_quote(text, 0)
        if end is None:
            raise bad_file(path, line, f"the quote in {shown(text)} is not closed")
        return unescaped(text[1:end]), text[end + 1 :]
    word, *rest = text.split(maxsplit=1) or [""]
    if not word:
        raise bad_file(path, line, "the attribute has no name")
    if not rest and "{" in word:  # name{0,1}
        word, brace, values = word.partition("{")
        rest = [brace + values]
    # Some writers escape a quote in a name that they do not quote.
    return _ESCAPED_QUOTE.sub(r"\1", word), rest[0] if rest else ""


def split_quoted(path: AnyPath, line: int, text: str) -> list[str]:
    """The parts between commas, without their quotes; a comma inside quotes is no end."""
    if not any(quote in text for quote in _QUOTES):
        return [part.strip() for part in text.split(",")]
    parts: list[str] = []
    start = 0
    while True:
        while text[start : start + 1].isspace():
            start += 1
        if text[start : start + 1] and text[start] in _QUOTES:
            quote = _closing_quote(text, start)
            if quote is None:
                raise bad_file(path, line, f"the quote in {shown(text[start:])} is not closed")
            parts.append(unescaped(text[start + 1 : quote]))
            end = text.find(",", quote)
            tail = text[quote + 1 : end if end >= 0 else None].strip()
            if tail:
                raise bad_file(path, line, f"{shown(tail)} follows a closing quote")
        else:
            end = text.find(",", start)
            parts.append(text[start : end if end >= 0 else None].strip())
        if end < 0:
            return parts
        start = end + 1


def unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


def _closing_quote(text: str, opening: int) -> int | None:
    position = opening + 1
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == text[opening]:
            return position
        position += 1
    return None

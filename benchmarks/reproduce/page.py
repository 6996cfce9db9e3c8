"""Self-contained HTML pages: text, tables and pictures in one file."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader

SUMMARY = "summary"  # the name of the section with all findings
_SIGNS = {True: ("yes", "✓"), False: ("no", "✗"), None: ("unknown", "?")}


@dataclass(frozen=True)
class Entry:
    """A table cell: plain text, a second line in small letters, and CSS classes."""

    text: str
    detail: str = ""
    style: str = ""


@dataclass(frozen=True)
class Grid:
    """A table: the first column names the row, the others are aligned to the right."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    name: str  # unique within its section
    png: bytes
    svg: bytes
    caption: str

    @property
    def base64(self) -> str:
        return b64encode(self.svg).decode()


@dataclass(frozen=True)
class Finding:
    """A claim, and whether it holds; None if that is not known."""

    text: str
    holds: bool | None


@dataclass(frozen=True)
class Section:
    """A part of a page, and a page of its own.

    `notes` are numbered from 1; `rows` are the contents of its CSV file.
    """

    name: str
    title: str
    intro: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    pictures: Sequence[Picture] = ()
    grids: Sequence[Grid] = ()
    notes: Sequence[str] = ()
    rows: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)


def text_grid(headers: Sequence[str], rows: Sequence[Sequence[Any]], caption: str) -> Grid:
    """Make a table of entries and plain texts."""
    entries = [[cell if isinstance(cell, Entry) else Entry(cell) for cell in row] for row in rows]
    return Grid(headers, entries, caption)


def render_page(title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    """Render the whole document, with a table of contents if there are several sections.

    Findings are shown in the summary alone, if there is one.
    """
    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=folder, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("page.html").render(
        title=title,
        lead=lead,
        sections=sections,
        has_summary=any(section.name == SUMMARY for section in sections),
        signs=_SIGNS,
    )

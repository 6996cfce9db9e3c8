"""Self-contained HTML pages: text, tables and pictures in one file that needs no other."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from benchmarks.store import Row

SUMMARY = "summary"  # the name of the section that says what all found


@dataclass(frozen=True)
class Entry:
    """One field of a table: plain text, a second line in small letters, and CSS classes."""

    text: str
    detail: str = ""
    style: str = ""


@dataclass(frozen=True)
class Grid:
    """A table: the first column names the row, the others are aligned to the right."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Entry | str]]
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing; ``name`` tells it from others of its section."""

    name: str
    png: bytes
    svg: bytes
    caption: str


@dataclass(frozen=True)
class Finding:
    """A claim, and whether it was seen to hold; None if that cannot be said."""

    text: str
    holds: bool | None


@dataclass(frozen=True)
class Section:
    """A part of a page, and a page of its own.

    ``notes`` are numbered from 1; ``rows`` are what its CSV file has.
    """

    name: str
    title: str
    intro: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    pictures: Sequence[Picture] = ()
    grids: Sequence[Grid] = ()
    notes: Sequence[str] = ()
    rows: Sequence[Row] = field(default=(), repr=False)


def render_page(title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    """The whole document; with several sections, the contents come first, and what a summary says
    is not said again below it."""
    links = "".join(f'<li><a href="#{s.name}">{escape(s.title)}</a></li>' for s in sections)
    has_summary = any(section.name == SUMMARY for section in sections)
    parts = [
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(line)}</p>" for line in lead),
        f'<nav aria-label="Contents"><ol>{links}</ol></nav>' if len(sections) > 1 else "",
        *(_section(s, not has_summary or s.name == SUMMARY) for s in sections),
    ]
    body = "\n".join(part for part in parts if part)
    return _DOCUMENT.format(title=escape(title), style=_STYLE, body=body)


def _section(section: Section, with_findings: bool) -> str:
    csv = f"{section.name}.csv"
    file = f'<p class="file">All numbers: <a href="{csv}">{csv}</a></p>' if section.rows else ""
    parts = [
        f'<section id="{section.name}">',
        f"<h2>{escape(section.title)}</h2>",
        *(f"<p>{escape(line)}</p>" for line in section.intro),
        _findings(section.findings) if with_findings else "",
        _pictures(section.pictures),
        *(_grid(grid) for grid in section.grids),
        file,
        _list(section.notes),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


_SIGNS = {True: ("yes", "✓"), False: ("no", "✗"), None: ("unknown", "?")}


def _findings(findings: Sequence[Finding]) -> str:
    items = []
    for finding in findings:
        style, sign = _SIGNS[finding.holds]
        items.append(f'<li class="{style}"><b>{sign}</b><span>{escape(finding.text)}</span></li>')
    return f'<ul class="findings">{"".join(items)}</ul>' if items else ""


def _pictures(pictures: Sequence[Picture]) -> str:
    return f'<div class="pictures">{"".join(map(_picture, pictures))}</div>' if pictures else ""


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.svg).decode()
    caption = escape(picture.caption)
    return (
        f'<figure><div class="scroll" tabindex="0" role="group" aria-label="{caption}">'
        f'<img alt="{caption}" src="data:image/svg+xml;base64,{data}"></div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _grid(grid: Grid) -> str:
    """A table that unfolds; it scrolls within itself, also by the keyboard."""
    head = "".join(f'<th scope="col">{escape(header)}</th>' for header in grid.headers)
    body = "".join(f"<tr>{_row(row)}</tr>" for row in grid.rows)
    caption = escape(grid.caption or "Table")
    return (
        f"<details><summary>{caption}</summary>"
        f'<div class="scroll" tabindex="0" role="group" aria-label="{caption}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def _row(row: Sequence[Entry | str]) -> str:
    first, *others = row
    return _entry(first, 'th scope="row"') + "".join(_entry(entry, "td") for entry in others)


def _entry(entry: Entry | str, tag: str) -> str:
    if isinstance(entry, str):
        entry = Entry(entry)
    style = f' class="{entry.style}"' if entry.style else ""
    detail = f"<small>{escape(entry.detail)}</small>" if entry.detail else ""
    return f"<{tag}{style}><span>{escape(entry.text)}</span>{detail}</{tag[:2]}>"


def _list(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<ol class="notes">{items}</ol>' if items else ""


_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5d6878; --line: #dde2e9; --page: #fff;
  --band: #f5f7fa; --link: #0b63a5; --good: #17713c; --bad: #b3261e; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #9aa6b5; --line: #333c48;
  --page: #14181e; --band: #1c222a; --link: #7cbcf0; --good: #6fcf97; --bad: #ff8a80;
  --warn: #f0c060; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 0.5rem; padding-top: 0.75rem;
  border-top: 1px solid var(--line); }
p { margin: 0.5rem 0; max-width: 46rem; }
a { color: var(--link); }
nav { margin: 1.25rem 0; padding: 0.5rem 1rem; background: var(--band); border-radius: 6px; }
nav ol { margin: 0; padding-left: 1.5rem; }
nav li { padding: 0.15rem 0; }
.pictures { display: grid; gap: 1.25rem; margin: 1.25rem 0; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
figure { margin: 0; max-width: 46rem; }
img { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 6px;
  border: 1px solid var(--line); }
figcaption, .notes, .file, small { color: var(--soft); font-size: 0.85rem; }
figcaption { margin-top: 0.4rem; }
/* On a phone a picture scrolls, and stays as large as its letters need. */
figure .scroll { margin: 0; }
figure img { min-width: 30rem; width: 100%; }
details { margin: 1.25rem 0; }
summary { cursor: pointer; padding: 0.4rem 0.8rem; background: var(--band); border-radius: 6px;
  color: var(--link); }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td { padding: 0.35rem 0.8rem; text-align: right; white-space: nowrap; vertical-align: top;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; border-bottom-width: 2px; white-space: normal;
  vertical-align: bottom; max-width: 11rem; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--page); }
tbody th { color: var(--ink); font-weight: 400; vertical-align: top; border-bottom-width: 1px; }
tbody tr:hover > * { background: var(--band); }
tbody small { display: block; line-height: 1.3; }
tbody th small { white-space: normal; max-width: 11rem; }
.worse span { text-decoration: underline dotted; text-underline-offset: 3px; }
.better span { font-weight: 700; }
td.long { white-space: normal; min-width: 16rem; text-align: left; }
.near { color: var(--warn); }
.far { color: var(--bad); }
.findings { list-style: none; padding: 0; max-width: 52rem; }
.findings li { padding: 0.3rem 0; display: grid; grid-template-columns: 1.6rem 1fr; }
.yes b { color: var(--good); }
.no b { color: var(--bad); }
.unknown b { color: var(--warn); }
.notes { padding-left: 1.5rem; max-width: 52rem; }
.notes li { margin: 0.25rem 0; }
"""

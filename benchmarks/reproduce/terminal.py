"""The first table of a section, for the terminal."""

from rich import box
from rich.table import Table
from rich.text import Text

from benchmarks.reproduce.page import Entry, Section


def terminal_table(section: Section) -> Table:
    """The first grid of a section, its second lines dim."""
    grid = section.grids[0]
    table = Table(
        title=section.title,
        box=box.SIMPLE_HEAD,
        # With these, the paper's tables fit into 80 columns.
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    rows = [[_two_lines(entry) for entry in row] for row in grid.rows]
    for place, header in enumerate(grid.headers):
        # Headers may be folded, figures not.
        width = max((_width(row[place]) for row in rows), default=1)
        table.add_column(header, justify="right" if place else "left", min_width=width)
    for row in rows:
        table.add_row(*row)
    return table


def _width(text: Text) -> int:
    return max(len(line) for line in text.plain.split("\n"))


def _two_lines(entry: Entry | str) -> Text:
    if isinstance(entry, str):
        return Text(entry)
    style = {"worse": "underline", "better": "bold"}.get(entry.style.split(" ")[0], "")
    text = Text(_narrow(entry.text), style=style)
    return Text.assemble(text, "\n", (_narrow(entry.detail), "dim")) if entry.detail else text


def _narrow(text: str) -> str:
    return text.replace(" ± ", "±").replace(" *", "*").replace(" rows, ", ", ")

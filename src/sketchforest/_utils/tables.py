"""Tables for papers and spreadsheets: data frames, CSV and LaTeX."""

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sketchforest._utils.display import as_frame
from sketchforest._utils.docs import Described, with_described_methods
from sketchforest._utils.files import written_whole

if TYPE_CHECKING:
    from pandas import DataFrame

_LATEX = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"±": r"$\pm$", "²": r"$^2$"},
}


def latex_table(
    header: Sequence[str], rows: Iterable[Sequence[object]], caption: str | None = None
) -> str:
    """A table for the package booktabs: the first column left-aligned, the others right-aligned."""
    lines = [r"\begin{tabular}{l" + "r" * (len(header) - 1) + "}", r"\toprule"]
    lines += [_latex_row(header), r"\midrule", *map(_latex_row, rows)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if caption is not None:
        around = [r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(caption)}}}"]
        lines = [*around, *lines, r"\end{table}"]
    return "\n".join(lines) + "\n"


def escape_latex(text: object) -> str:
    return re.sub(r"[&%$#_{}\\~^±²]", lambda found: _LATEX[found[0]], str(text))


def _latex_row(cells: Sequence[object]) -> str:
    return " & ".join(map(escape_latex, cells)) + r" \\"


# Decorator that adds the parameters of the methods of tables to their docstrings.
described_methods = with_described_methods(
    {
        "path": Described("str or path", ""),
        "caption": Described("str or None", ""),
        "n": Described("int", "Number of rows."),
        "axes": Described("three matplotlib Axes or None", ""),
    }
)


@described_methods
class Table:
    """Results that are a table, by columns."""

    def _columns(self) -> Mapping[str, Sequence[Any] | np.ndarray]:
        raise NotImplementedError

    def to_frame(self) -> "DataFrame":
        """Return the table as a data frame."""
        return as_frame(self._columns())

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table of `to_frame` as CSV."""
        columns = self._columns()
        values = [np.asarray(column).tolist() for column in columns.values()]
        with written_whole(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*values, strict=True))

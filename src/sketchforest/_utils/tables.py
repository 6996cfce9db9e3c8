"""Tables for papers and spreadsheets: LaTeX and CSV."""

import csv
import os
import re
from collections.abc import Iterable, Sequence

from sketchforest._utils.files import written_whole

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


def write_csv(
    path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    with written_whole(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)

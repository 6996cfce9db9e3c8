"""Pictures as files: PNG for everywhere, SVG for print and for large screens."""

import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 150
# Neither a date nor a version: the same figures are the same bytes.
_METADATA = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


def picture_bytes(figure: "Figure", format: str) -> bytes:
    """The picture as "png" or "svg"."""
    from matplotlib import rc_context

    file = BytesIO()
    with rc_context({"svg.hashsalt": "sketchforest"}):
        figure.savefig(file, format=format, dpi=DPI, metadata=_METADATA[format])
    return file.getvalue()


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> list[Path]:
    """Writes it as SVG if the path ends so, and else as PNG, and the other one beside it."""
    path = Path(path)
    format, other = ("svg", "png") if path.suffix.lower() == ".svg" else ("png", "svg")
    beside = path.with_suffix(f".{other}")
    path.write_bytes(picture_bytes(figure, format))
    beside.write_bytes(picture_bytes(figure, other))
    return [path, beside]

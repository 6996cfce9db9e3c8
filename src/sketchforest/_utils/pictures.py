"""Figures as PNG and SVG files."""

import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 150
# No date or version, so that equal figures are equal files.
_METADATA = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


def picture_bytes(figure: "Figure", format: str) -> bytes:
    """The figure in format "png" or "svg"."""
    from matplotlib import rc_context

    file = BytesIO()
    with rc_context({"svg.hashsalt": "sketchforest"}):
        figure.savefig(file, format=format, dpi=DPI, metadata=_METADATA[format])
    return file.getvalue()


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> list[Path]:
    """Save as SVG or PNG by the suffix, and in the other format beside it."""
    path = Path(path)
    format, other = ("svg", "png") if path.suffix.lower() == ".svg" else ("png", "svg")
    beside = path.with_suffix(f".{other}")
    path.write_bytes(picture_bytes(figure, format))
    beside.write_bytes(picture_bytes(figure, other))
    return [path, beside]

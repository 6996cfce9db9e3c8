"""Descriptions of parameters and attributes, read from descriptions.txt."""

import re
from pathlib import Path

from sketchforest._utils.docs import Described, with_described_methods


def _read_sections() -> dict[str, dict[str, Described]]:
    """Read descriptions in numpydoc format: by section, then by parameter."""
    text = Path(__file__).with_name("descriptions.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^== (.+) ==$", text, flags=re.MULTILINE)
    sections: dict[str, dict[str, Described]] = {}
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        entries = (each.split("\n") for each in re.split(r"\n(?=\S)", body.strip()))
        named = ((*head.split(" : ", 1), lines) for head, *lines in entries)
        sections[title] = {
            name: Described(kind, " ".join(map(str.strip, lines))) for name, kind, lines in named
        }
    return sections


DESCRIBED = _read_sections()
# Decorator that adds the parameters which the docstrings of the methods of a class leave out.
described_methods = with_described_methods(DESCRIBED["methods"], fit=DESCRIBED["fit"])

"""HTML pages: a shared stylesheet and frame, and templates that escape their values.

Each page is a single file."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

_AFTER_WORDS = re.compile(r"(?<=\w)[/_.:-](?=\w)")  # not in the entities of escaped characters
FOLDER = Path(__file__).parent


def render(template: str, folder: Path, **values: Any) -> str:
    """Render a template of the folder, which may extend "base.html"."""
    return environment(folder).get_template(template).render(values)


@cache
def environment(folder: Path) -> jinja2.Environment:
    """Return the templates of a folder, and those of this one.

    Values are escaped, except in Markdown templates. Undefined names are errors.
    """
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, FOLDER]),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,  # keeps names in other scripts short
        "separators": (",", ":"),
        "allow_nan": False,
    }
    found.globals["stylesheet"] = inline(FOLDER / "page.css")
    found.filters["breakable"] = _breakable
    return found


def inline(path: Path) -> Markup:
    """Return a script or stylesheet of the package, to include unescaped."""
    return Markup(path.read_text(encoding="utf-8"))


def _breakable(name: str) -> Markup:
    """Return a name that breaks between its words, rather than within one, if it is too long."""
    return Markup(_AFTER_WORDS.sub(r"\g<0><wbr>", str(escape(name))))

"""The look that all pages share: one stylesheet, one frame, and templates that escape what they are
given. A page is one file and asks for no other."""

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

FOLDER = Path(__file__).parent


def render(template: str, folder: Path, **values: Any) -> str:
    """A page, from a template of the folder, which may extend "base.html"."""
    return environment(folder).get_template(template).render(values)


@cache
def environment(folder: Path) -> jinja2.Environment:
    """Templates of the folder, and those of this one. Whatever they are given is escaped, except in
    files for Markdown; a name that they are not given is an error."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, FOLDER]),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,  # names in other scripts stay short
        "separators": (",", ":"),
        "allow_nan": False,
    }
    found.globals["stylesheet"] = Markup((FOLDER / "page.css").read_text(encoding="utf-8"))
    return found


def inline(path: Path) -> Markup:
    """A script or stylesheet of the project's own, to stand in a page as it is."""
    return Markup(path.read_text(encoding="utf-8"))

"""Point links to examples/ to the gallery, so that they work in the repository and on the site."""

import re

# The gallery is inside docs/ while examples/ is next to it, so gallery links need one ".." less.
_EXAMPLE = re.compile(r"\]\(((?:\.\./)*)\.\./examples/(?:(plot_\w+)\.py)?\)")


def to_gallery(text: str) -> str:
    return _EXAMPLE.sub(lambda found: f"]({found[1]}gallery/{found[2] or 'index'}.rst)", text)


def setup(app):
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}


def _read(app, name, source):
    source[0] = to_gallery(source[0])

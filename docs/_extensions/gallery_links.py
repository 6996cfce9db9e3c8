"""Links to examples/ lead to the gallery on the site, so that they also work in the repository."""

import re

# The gallery stands in docs, a folder below that of the examples: one ".." less.
_EXAMPLE = re.compile(r"\]\(((?:\.\./)*)\.\./examples/(?:(plot_\w+)\.py)?\)")


def to_gallery(text: str) -> str:
    return _EXAMPLE.sub(lambda found: f"]({found[1]}gallery/{found[2] or 'index'}.rst)", text)


def setup(app):
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}


def _read(app, name, source):
    source[0] = to_gallery(source[0])

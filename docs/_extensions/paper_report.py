"""The report on the paper, a page that `sketchforest reproduce` made: copied as it is."""

import shutil
from pathlib import Path


def copy_report(app, exception):
    if exception is None and app.builder.format == "html":
        shutil.copytree(Path(app.srcdir) / "paper", Path(app.outdir) / "paper", dirs_exist_ok=True)


def setup(app):
    app.connect("build-finished", copy_report)
    return {"parallel_read_safe": True}

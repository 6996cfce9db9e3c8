"""Every example of the gallery runs."""

import contextlib
import runpy

import matplotlib
import pytest
from docs.snippets import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, capsys):
    import matplotlib.pyplot as plt

    with matplotlib.rc_context({"backend": "agg"}), contextlib.chdir(path.parent):
        runpy.run_path(str(path))
    plt.close("all")
    assert "nan" not in capsys.readouterr().out

"""Pictures that can be read: axes with units, no noise, PNG and SVG."""

from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from benchmarks.reproduce.drawing import draw_lines
from benchmarks.reproduce.figures import figure_panels
from benchmarks.reproduce.scores import Score
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.theorem_page import _distortion_picture
from sketchforest._utils.pictures import save_figure

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture
def figure():
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([1, 2], [3, 4])
    return figure


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_a_picture_is_written_as_png_and_as_svg(name, figure, tmp_path):
    written = save_figure(figure, tmp_path / name)
    assert sorted(path.name for path in written) == ["a.png", "a.svg"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.tag.endswith("svg")
    first = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in save_figure(figure, tmp_path / name)] == first


def test_rounding_has_no_place_on_a_logarithmic_axis():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    points = {1: Score(2.0, None), 10: Score(0.2, None), 983: Score(2e-16, None)}
    draw_lines(axes, {"subsampled labels": points}, log_y=True)
    assert axes.get_ylim()[0] > 1e-3


def test_the_picture_of_the_theorem_says_what_its_axis_is():
    known = [
        (
            SimpleNamespace(projection="subsample", n_components=m, n_rows=500),
            SimpleNamespace(largest_distortion=[value]),
        )
        for m, value in ((1, 3.0), (10, 0.5), (983, 0.0))
    ]
    [picture] = _distortion_picture(known, "largest_distortion", "largest distortion")
    assert picture.png.startswith(b"\x89PNG")
    assert b"relative change" in picture.svg  # as a comment beside the outlines of the letters


def test_figure_4_is_no_copy_of_figure_2():
    settings = ReproduceSettings()
    shown = {
        figure: {panel.dataset for panel in figure_panels(figure, settings)}
        for figure in ("figure2", "figure4")
    }
    assert not shown["figure2"] & shown["figure4"]

"""Pictures that can be read: axes with units, no noise, PNG and SVG."""

from xml.etree import ElementTree

import pandas as pd
import pytest
from matplotlib.figure import Figure

from benchmarks.reproduce.drawing import draw_lines
from benchmarks.reproduce.figures import figure_panels
from benchmarks.reproduce.scores import Score
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.theorem import distortion_picture
from sketchforest._utils.pictures import save_figure


@pytest.fixture
def figure():
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
    axes = Figure().subplots()
    points = {1: Score(2.0, None), 10: Score(0.2, None), 983: Score(2e-16, None)}
    draw_lines(axes, {"subsampled labels": points}, log_y=True)
    assert axes.get_ylim()[0] > 1e-3


def test_the_picture_of_the_theorem_says_what_its_axis_is():
    points = [("subsample", m, 500, value) for m, value in ((1, 3.0), (10, 0.5), (983, 0.0))]
    columns = ["projection", "n_components", "n_rows", "largest_distortion"]
    draws = pd.DataFrame(points, columns=columns)
    [picture] = distortion_picture(draws, "largest_distortion", "largest distortion")
    assert picture.png.startswith(b"\x89PNG")
    assert b"relative change" in picture.svg  # as a comment beside the outlines of the letters


def test_figure_4_is_no_copy_of_figure_2():
    settings = ReproduceSettings()
    shown = {
        figure: {panel.dataset for panel in figure_panels(figure, settings)}
        for figure in ("figure2", "figure4")
    }
    assert not shown["figure2"] & shown["figure4"]

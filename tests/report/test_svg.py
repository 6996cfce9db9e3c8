"""Round ticks, and coordinates in a plot."""

import re

import pytest

from sketchforest.report.svg import BOTTOM, LEFT, RIGHT, TOP, Axis, Plot


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis("", 0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (Axis("", 0, 0.37), [0, 0.1, 0.2, 0.3]),
        (Axis("", 1, 10, is_whole=True), [2, 4, 6, 8, 10]),
        (Axis("", 1, 3, is_whole=True), [1, 2, 3]),
        (Axis("", 0.8, 1500, is_log=True), [1, 10, 100, 1000]),
        (Axis("", 9, 350, is_log=True), [10, 20, 50, 100, 200]),
        (Axis("", 9, 91, is_log=True), [10, 20, 50]),
        (Axis("", 1.6, 8.4, is_log=True), [2, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_ticks_are_round_numbers_within_the_axis(axis, ticks):
    assert axis.ticks() == pytest.approx(ticks)


def test_lines_are_drawn_at_their_coordinates():
    plot = Plot(Axis("x", 0, 2), Axis("y", 1, 100, is_log=True), "what it shows")
    plot.line([(0, 1), (1, 10), (2, 100)], "first")
    middle = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
    html = str(plot.__html__())
    (points,) = re.findall(r'<polyline class="first" points="(.*?)"', html)
    found = [tuple(map(float, pair.split(","))) for pair in points.split()]
    assert found == [(LEFT, BOTTOM), middle, (RIGHT, TOP)]


def test_overlapping_dots_are_drawn_once():
    plot = Plot(Axis("", 0, 1), Axis("", 0, 1), "")
    plot.dots([(0.5, 0.5)] * 1000 + [(0.1, 0.5)])
    assert str(plot.__html__()).count("h0") == 2


def test_text_in_a_plot_is_escaped():
    plot = Plot(Axis("<x>", 0, 1), Axis("<y>", 0, 1), '"><b>')
    plot.vertical(0.5, "<here>")
    html = str(plot.__html__())
    assert not re.search(r"<(x|y|b|here)>", html)

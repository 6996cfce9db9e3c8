"""Medians, ratios, tables and plots of the benchmark."""

import re

import pytest
from bench_runs import MB, PNG_SIGNATURE, captured_console, costs, printed

from benchmarks.bench.figure import benchmark_figure
from benchmarks.bench.methods import DEFAULT_METHODS, find_method
from benchmarks.bench.results import RATIOS, as_run, summarize
from benchmarks.bench.table import benchmark_table
from sketchforest._utils.pictures import picture_bytes


def sklearn_costs(**changes) -> dict[str, object]:
    """Ten of a hundred trees, as the worker answers for them."""
    few = {"n_grown": 10, "fit_seconds": 20.0, "model_bytes": 100 * MB}
    return costs(**few | {"lrap": None, "precision_at_1": None} | changes)


def test_medians_and_ratios():
    runs = [
        *(as_run("a", "sklearn-rf", i, costs(fit_seconds=s)) for i, s in enumerate((80, 100, 900))),
        *(as_run("a", "rf", i, costs(fit_seconds=s)) for i, s in enumerate((1, 2, 3))),
        as_run("a", "rf", 3, {"error": "killed"}),
        as_run("b", "rf", 0, costs()),
    ]
    summaries = summarize(runs)
    theirs, ours, alone = summaries.itertuples()
    assert (theirs.fit_seconds, ours.fit_seconds) == (100, 2)
    assert (ours.n_runs, ours.fit_ratio, ours.size_ratio) == (3, 50, 1)
    assert summaries.loc[alone.Index, [*RATIOS.values()]].isna().all()  # no reference there


def test_few_trees_are_scaled_to_all_but_predictions_are_not():
    [scaled] = summarize([as_run("a", "sklearn-rf", 0, sklearn_costs())]).itertuples()
    assert (scaled.fit_seconds, scaled.model_bytes) == (200, 1000 * MB)
    # Ninety more trees of 10 MB each, on top of what the fit took with ten.
    assert scaled.peak_bytes == 300 * MB + 90 * 10 * MB
    assert scaled.added_bytes == 1100 * MB
    assert (scaled.predict_seconds, scaled.row_milliseconds) == (0.5, 1.0)


def test_the_table_marks_scaled_cells_and_fits_a_terminal():
    z = {"predict_seconds": None, "row_milliseconds": None, "lrap": None, "precision_at_1": None}
    runs = [
        as_run("delicious", "sklearn-rf", 0, sklearn_costs(row_milliseconds=18.25)),
        as_run("delicious", "sklearn-z25", 0, costs(fit_seconds=16.0, **z)),
        as_run("delicious", "rf-m25", 0, costs(fit_seconds=0.5, row_milliseconds=0.0839)),
        as_run("delicious", "rf-z25", 0, costs(fit_seconds=0.5, **z)),
    ]
    console = captured_console(width=80)
    console.print(benchmark_table(summarize(runs)))
    text = printed(console)
    assert "…" not in text
    assert re.search(r"sklearn-rf +200 s\* +0\.5 s\* +18\.2 ms\* +1\.2 GB\* +1 GB\* +–", text)
    assert re.search(r"10/100 trees +\n", text)
    assert re.search(r"rf-m25 +0\.5 s +0\.5 s +83\.9 µs +300 MB +10 MB +0\.4000", text)
    assert re.search(r"100 trees +400× +1\.0× +218× +4\.0× +100× +65\.2/59\.6/55\.3", text)
    assert re.search(r"rf-z25 +0\.5 s +– +– .*\n100 trees +32× +1\.0× +1\.0×", text)
    assert "compared to sklearn-rf; rf-z25 to sklearn-z25" in text
    assert "* fewer trees were grown: " in text


def test_a_table_of_whole_forests_has_no_footnote_on_scaling():
    console = captured_console()
    console.print(benchmark_table(summarize([as_run("a", "rf", 0, costs())])))
    assert "*" not in printed(console)
    assert "×" not in printed(console)


def test_every_method_has_a_title_that_explains_it():
    for name in DEFAULT_METHODS:
        assert find_method(name).title != name
    assert find_method("rf-m25").title == "sketchforest, m = 25"
    assert find_method("et-m5").title == "sketchforest extra-trees, m = 5"


def test_labels_of_the_picture_do_not_overlap(tmp_path):
    # Figures below two panels, and the legend, each have their place.
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    runs = [
        as_run("a", "sklearn-rf", 0, sklearn_costs(fit_seconds=18.6, peak_bytes=1800 * MB)),
        as_run("a", "rf", 0, costs(fit_seconds=0.66, peak_bytes=251 * MB)),
        as_run("a", "rf-z25", 0, costs(fit_seconds=0.37, peak_bytes=111 * MB)),
    ]
    figure = benchmark_figure(summarize(runs))
    FigureCanvasAgg(figure).draw()
    texts = [
        text
        for axes in figure.axes
        for text in (
            *axes.get_xticklabels(),
            *axes.get_yticklabels(),
            *axes.texts,
            axes._left_title,
        )
        if text.get_text() and text.get_visible()
    ]
    texts += [*figure.legends[0].get_texts(), figure.legends[0].get_title()]
    boxes = [text.get_window_extent() for text in texts]
    for at, box in enumerate(boxes):
        for other, text in zip(boxes[:at], texts[:at], strict=True):
            assert not box.overlaps(other), (texts[at], text)


@pytest.mark.parametrize("seconds", [0.0571, 0.19, 1.01, 3.3])
def test_an_axis_has_two_ticks_however_near_the_points_are(seconds):
    pytest.importorskip("matplotlib")
    near = costs(fit_seconds=1.01 * seconds, peak_bytes=int(172 * MB * seconds))
    runs = [
        as_run("a", "rf", 0, costs(fit_seconds=seconds, peak_bytes=int(170 * MB * seconds))),
        as_run("a", "rf-m5", 0, near),
    ]
    for axes in benchmark_figure(summarize(runs)).axes:
        low, high = axes.get_xlim()
        assert sum(low <= tick <= high for tick in axes.get_xticks()) > 1


def test_the_legend_says_what_ratios_compare_with():
    pytest.importorskip("matplotlib")
    runs = [as_run("a", "sklearn-rf", 0, sklearn_costs()), as_run("a", "rf-m5", 0, costs())]
    said = benchmark_figure(summarize(runs)).legends[0].get_title().get_text()
    assert "on the original outputs" in said


def test_the_picture_takes_any_mix_of_methods():
    pytest.importorskip("matplotlib")
    methods = ("sklearn-rf", "rf", "rf-m5", "napkinxc")
    runs = [as_run(data, name, 0, sklearn_costs()) for data in "ab" for name in methods]
    assert picture_bytes(benchmark_figure(summarize(runs)), "png").startswith(PNG_SIGNATURE)

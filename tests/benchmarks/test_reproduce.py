"""The paper reproduced: its data, runs that can be interrupted, and pages that stand alone."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import sparse
from typer.testing import CliRunner

from benchmarks import cli
from benchmarks.reproduce.data import (
    find_set,
    paper_workspace,
    rows_of_split,
    without_missing,
)
from benchmarks.reproduce.figures import figure_experiments, figure_panels
from benchmarks.reproduce.forest_experiment import ForestExperiment
from benchmarks.reproduce.page import Entry, Finding, Grid, Picture, Section, render_page
from benchmarks.reproduce.paper import OUTPUTS, paper_sets
from benchmarks.reproduce.run import run_reproduce
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.tables import table_experiments
from benchmarks.store import ResultStore
from sketchforest.datasets import Dataset, describe, make_multilabel
from sketchforest.datasets.npz import write_npz

ALL = ("table1", "table2", "figure1", "figure2", "figure3", "figure4", "timing", "variance")


def quiet() -> Console:
    return Console(file=io.StringIO(), width=100)


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_set(folder, name: str) -> None:
    """Generated data of the sizes of one of the paper's sets, as the reader wants them."""
    sizes = find_set(name)
    data = make_multilabel(
        sizes.n_train + sizes.n_test,
        sizes.n_features,
        sizes.n_labels,
        labels_per_row=2,
        features_per_row=6,
    )
    rows = np.arange(sizes.n_train + sizes.n_test)
    splits = {"train": rows[: sizes.n_train], "test": rows[sizes.n_train :]}
    write_npz(replace(data, splits=splits), folder / f"{name}.npz")


@pytest.fixture(scope="module")
def data_home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_set(folder, "emotions")
    return str(folder)


@pytest.fixture(autouse=True)
def _no_other_data(monkeypatch):
    monkeypatch.delenv("SKETCHFOREST_DATA", raising=False)


def tiny(data_home, **changes) -> ReproduceSettings:
    return replace(ReproduceSettings(quick=True, repeats=2, data_home=data_home), **changes)


# ---- data


def test_splits_have_the_papers_sizes_and_share_no_row(data_home):
    workspace = paper_workspace(data_home)
    data, sizes = workspace.dataset("emotions"), find_set("emotions")
    splits = [rows_of_split(data, sizes, 0, number) for number in range(3)]
    for train, test in splits:
        assert (len(train), len(test)) == (391, 202)
        assert len(np.union1d(train, test)) == 593
    assert not np.array_equal(splits[0][0], splits[1][0])
    again = rows_of_split(data, sizes, 0, 1)
    np.testing.assert_array_equal(again[0], splits[1][0])


def test_a_set_with_too_few_rows_is_refused():
    data = make_multilabel(50, 10, 6, labels_per_row=2, features_per_row=3)
    with pytest.raises(ValueError, match=r"'emotions' must have at least 593 rows.*got 50"):
        rows_of_split(data, find_set("emotions"), 0, 0)


def test_missing_values_become_the_median_or_the_most_frequent_value():
    nan = np.nan
    X = np.array(
        # real, two values, one-hot of three
        [
            [1.0, 1, 1, 0, 0],
            [nan, 1, 0, 1, 0],
            [0.0, nan, 0, 1, 0],
            [5.0, 0, 0, 0, 0],
            [7.0, 1, 0, 0, 1],
        ]
    )
    names = np.array(["length", "flag", "kind=a", "kind=b", "kind=c"])
    Y = sparse.csr_array(np.ones((5, 2), np.uint8))
    filled = without_missing(Dataset("t", sparse.csr_array(X), Y, names)).X.toarray()
    expected = X.copy()
    expected[1, 0] = np.median([1, 0, 5, 7])
    expected[2, 1] = 1
    expected[3, 3] = 1  # no value at all: the most frequent one
    np.testing.assert_array_equal(filled, expected)


def test_every_set_of_the_paper_has_its_name_in_the_catalogue():
    for paper_set in paper_sets():
        assert describe(paper_set.dataset).n_labels == paper_set.n_labels


def test_times_of_other_sets_are_not_compared_with_the_papers_on_delicious(data_home, tmp_path):
    settings = tiny(data_home, datasets=("emotions",), repeats=1)
    run_reproduce(["timing"], settings, tmp_path, quiet())
    assert {row["paper_cpu_seconds"] for row in rows_of(tmp_path / "timing.csv")} == {""}
    page = (tmp_path / "timing.html").read_text()
    assert "times are for Delicious: not shown" in page
    assert "3,348 s" not in page


def test_a_set_that_is_not_here_is_refused_before_any_work(data_home, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"'yeast' was not found.*--data-home"):
        run_reproduce(["table1"], tiny(data_home, datasets=("yeast",)), tmp_path, quiet())
    with pytest.raises(FileNotFoundError, match=r"'delicious' was not found"):
        run_reproduce(["figure1"], tiny(data_home), tmp_path, quiet())
    with pytest.raises(ValueError, match="among those of the paper"):
        run_reproduce(["table1"], tiny(data_home, datasets=("iris",)), tmp_path, quiet())
    with pytest.raises(ValueError, match="got 'table3'"):
        run_reproduce(["table3"], tiny(data_home), tmp_path, quiet())


# ---- what is finished is kept


def test_an_interrupted_run_goes_on_where_it_stopped(data_home, tmp_path, monkeypatch):
    settings = tiny(data_home)
    run, calls = ForestExperiment.run, []

    def interrupted(experiment, workspace):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(experiment)
        return run(experiment, workspace)

    monkeypatch.setattr(ForestExperiment, "run", interrupted)
    half = run_reproduce(["table1"], settings, tmp_path, quiet())
    assert not half.is_complete
    assert len(ResultStore(tmp_path / "runs").frame("forests")) == 3
    assert "interrupted" in (tmp_path / "table1.html").read_text()

    rest = []
    monkeypatch.setattr(ForestExperiment, "run", lambda one, w: rest.append(one) or run(one, w))
    whole = run_reproduce(["table1"], settings, tmp_path, quiet())
    assert whole.is_complete
    assert sorted(map(str, calls + rest)) == sorted(
        map(str, table_experiments("random_forest", settings))
    )

    elsewhere = tmp_path / "at once"
    run_reproduce(["table1"], settings, elsewhere, quiet())
    columns = ("dataset", "outputs", "lrap", "lrap_sd")
    results = [
        [[row[name] for name in columns] for row in rows_of(folder / "table1.csv")]
        for folder in (tmp_path, elsewhere)
    ]
    assert results[0] == results[1]


def test_figures_4_and_2_share_their_forests(data_home):
    settings = ReproduceSettings(datasets=("emotions",), data_home=data_home)
    assert set(figure_experiments("figure4", settings)) == set(
        figure_experiments("figure2", settings)
    )
    panel = figure_panels("figure2", settings)[0]
    assert list(panel.curves)[-1] == "original outputs"
    assert max(panel.curves["m = 1"]) == find_set("emotions").n_features


# ---- pages


def test_a_page_is_one_file_with_its_pictures_inside_and_text_escaped():
    section = Section(
        name="one",
        title="a < b & c",
        findings=[Finding("it holds", True), Finding("it does not", False), Finding("?", None)],
        pictures=[Picture("p", b"\x89PNG", b"<svg/>", 'a "quoted" caption')],
        grids=[Grid(["", "x"], [[Entry("row <1>"), Entry("0.5", "0.4", "worse far")]])],
    )
    page = render_page("A title", ["A lead."], [section, replace(section, name="two")])
    assert "a &lt; b &amp; c" in page
    assert "row &lt;1&gt;" in page
    assert '<td class="worse far"><span>0.5</span><small>0.4</small></td>' in page
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in page
    assert '<a href="#two">' in page
    assert '<th scope="row"><span>row &lt;1&gt;</span></th>' in page
    assert '<th scope="col">x</th>' in page
    assert page.count("<details>") == 2
    assert_stands_alone(page)


def test_what_the_summary_says_is_said_once_and_numbers_are_a_file_away():
    rows = pd.DataFrame([{"m": 1}])
    one = Section("one", "One", findings=[Finding("it holds", True)], rows=rows)
    alone = render_page("A title", [], [one])
    assert alone.count("it holds") == 1
    assert '<a href="one.csv">' in alone
    summary = Section("summary", "In short", findings=one.findings)
    assert render_page("A title", [], [summary, one]).count("it holds") == 1


def assert_stands_alone(page: str) -> None:
    for source in re.findall(r'(?:src|href)="([^"]*)"', page):
        assert source.startswith(("data:", "#")) or re.fullmatch(r"\w+\.csv", source), source
    assert not re.search(r"https?://|<script|<link|@import|url\(", page)
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page


@pytest.mark.slow
def test_all_studies_end_up_in_one_report(data_home, tmp_path):
    arguments = ["reproduce", "all", "--quick", "--repeats", "2", "--datasets", "emotions"]
    options = ["--with-all", "--n-jobs", "1", "--data-home", data_home, "--out", str(tmp_path)]
    answer = CliRunner().invoke(cli.app, [*arguments, *options, "--json"])
    assert answer.exit_code == 0, answer.output
    page = (tmp_path / "index.html").read_text()
    assert_stands_alone(page)
    for name in (*ALL, "theorem"):
        assert f'<section id="{name}">' in page
        assert rows_of(tmp_path / f"{name}.csv")
        assert list(tmp_path.glob(f"{name}-*.png"))
        assert_stands_alone((tmp_path / f"{name}.html").read_text())
    report = json.loads(answer.stdout)
    assert report["is_complete"]
    assert {row["outputs"] for row in report["sections"]["table1"]} == set(OUTPUTS)
    assert report["settings"]["seed"] == 0

"""The benchmark: separate processes, medians, ratios and scaling, without a timed assertion."""

import csv
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy import sparse
from typer.testing import CliRunner

from benchmarks import cli
from benchmarks.bench import run as bench
from benchmarks.bench.adapter import Options
from benchmarks.bench.figure import benchmark_figure
from benchmarks.bench.methods import DEFAULT_METHODS, Method, find_method
from benchmarks.bench.other_libraries import Omikuji, _scores, _without_missing
from benchmarks.bench.process import MeasurementError, in_own_process
from benchmarks.bench.results import RATIOS, as_run, summarise
from benchmarks.bench.run import BenchSettings, affordable_trees, run_bench
from benchmarks.bench.table import benchmark_table
from benchmarks.data import TrainTestSplit, better_dense, choose_datasets, load_split
from sketchforest._utils.pictures import picture_bytes
from sketchforest.datasets import make_multilabel

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
MB = 1_000_000


def captured_console(width: int = 80) -> Console:
    return Console(file=io.StringIO(), width=width)


def printed(console: Console) -> str:
    return console.file.getvalue()


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def costs(**changes) -> dict[str, object]:
    measured = {
        "n_estimators": 100,
        "n_grown": 100,
        "fit_seconds": 2.0,
        "predict_seconds": 0.5,
        "row_milliseconds": 1.0,
        "baseline_bytes": 100 * MB,
        "peak_bytes": 300 * MB,
        "model_bytes": 10 * MB,
        "lrap": 0.4,
        "precision_at_1": 0.652,
        "precision_at_3": 0.596,
        "precision_at_5": 0.553,
    }
    return measured | changes


def sklearn_costs(**changes) -> dict[str, object]:
    """Ten of a hundred trees, as the worker answers for them."""
    few = {"n_grown": 10, "fit_seconds": 20.0, "model_bytes": 100 * MB}
    return costs(**few | {"lrap": None, "precision_at_1": None} | changes)


@pytest.fixture
def data_home(tmp_path):
    """A folder with a tiny data set that has no split."""
    data = make_multilabel(150, 30, 12, labels_per_row=3, features_per_row=6)
    arrays = {}
    for name, M in (("X", data.X), ("Y", data.Y)):
        arrays |= {f"{name}_{part}": getattr(M, part) for part in ("indices", "indptr", "shape")}
    np.savez(tmp_path / "tiny.npz", X_data=data.X.data, **arrays)
    return tmp_path


@pytest.fixture
def answers(monkeypatch):
    """Requests are recorded and answered at once instead of being measured."""
    requests = []

    def answer(task, n_threads, **request):
        requests.append({"task": task, **request})
        if task == "trial":
            return {"seconds_per_tree": 5.0, "bytes_per_tree": 1, "is_dense": True}
        return costs()

    monkeypatch.setattr(bench, "in_own_process", answer)
    return requests


# ---- whole runs


def test_a_run_measures_in_separate_processes_and_writes_what_it_finds(
    data_home, tmp_path, monkeypatch
):
    pytest.importorskip("matplotlib")
    pids = []

    def remember_process(task, n_threads, **request):
        answer = in_own_process(task, n_threads, **request)
        pids.extend([answer["pid"]] if "pid" in answer else [])
        return answer

    monkeypatch.setattr(bench, "in_own_process", remember_process)
    out, console = tmp_path / "out", captured_console()
    settings = BenchSettings(
        ["tiny"],
        ["sklearn-rf", "rf-m5"],
        n_estimators=4,
        n_jobs=1,
        repeats=1,
        sklearn_trees="2",
        data_home=str(data_home),
    )
    result = run_bench(settings, out, console)
    assert len({*pids, os.getpid()}) == 3
    runs = rows_of(out / "runs.csv")
    assert [run["method"] for run in runs] == ["sklearn-rf", "rf-m5"]
    assert all(float(run["fit_seconds"]) > 0 and not run["error"] for run in runs)
    assert all(float(run["peak_bytes"]) >= float(run["baseline_bytes"]) > 0 for run in runs)
    theirs, ours = rows_of(out / "medians.csv")
    assert (theirs["n_grown"], theirs["n_estimators"], theirs["is_scaled"]) == ("2", "4", "True")
    assert (theirs["lrap"], theirs["precision_at_1"]) == ("", "")
    assert all(0 < float(ours[name]) <= 1 for name in ("lrap", "precision_at_1", "precision_at_5"))
    assert all(float(row["predict_seconds"]) > 0 for row in (theirs, ours))
    assert float(ours["nodes_per_tree"]) > 1
    their_fit, our_fit = (float(run["fit_seconds"]) for run in runs)
    assert float(theirs["fit_seconds"]) == pytest.approx(2 * their_fit)  # two of four trees
    assert float(ours["fit_ratio"]) == pytest.approx(2 * their_fit / our_fit)
    assert (out / "bench.png").read_bytes().startswith(PNG_SIGNATURE)
    assert re.search(r"rf-m5 .*s .*\n4 trees +\S+×", printed(console))
    assert json.loads(result.as_json())["medians"][1]["method"] == "rf-m5"
    assert set(json.loads((out / "machine.json").read_text())) == {
        "cpu",
        "cores",
        "memory_bytes",
        "system",
        "python",
        "packages",
    }


def test_a_failure_in_the_process_is_one_sentence(data_home):
    with pytest.raises(MeasurementError, match=r"^Data set 'none' was not found"):
        in_own_process("trial", 1, method="sklearn-rf", dataset="none", n_jobs=1)


def test_large_reports_time_and_memory(tmp_path):
    options = "--n-samples 200 --n-features 300 --n-labels 60 --n-estimators 2 --n-jobs 1 --json"
    result = CliRunner().invoke(cli.app, ["bench", "large", *options.split()])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["fit_seconds"] > 0
    assert answer["peak_bytes"] >= answer["fit_peak_bytes"] > 0
    assert answer["n_test"] == 20


@pytest.mark.slow
def test_extreme_measures_each_method_and_says_which_failed(tmp_path):
    options = "--n-train 60 --n-test 20 --n-estimators 2 --n-components 4 --n-jobs 1"
    result = CliRunner().invoke(
        cli.app,
        ["bench", "extreme", "--methods", "rf,sf", "--out", str(tmp_path), *options.split()],
    )
    assert result.exit_code == 0, result.output
    rows = rows_of(tmp_path / "wiki10-31k.csv")
    assert [row["method"] for row in rows] == ["rf", "sf"]
    for row in rows:
        assert float(row["fit_peak_bytes"]) > 0
        assert float(row["model_bytes"]) > 0
        assert 0 <= float(row["precision_at_5"]) <= float(row["precision_at_1"]) + 1
        assert row["n_test"] == "20"
    arguments = ["bench", "extreme", "--shape", "round", "--out", str(tmp_path)]
    assert CliRunner().invoke(cli.app, arguments).exit_code == 2


# ---- what is asked of the processes


def test_methods_alternate_within_a_repeat_and_a_trial_precedes_scikit_learn(
    answers, data_home, tmp_path
):
    settings = BenchSettings(
        ["tiny", "generated"], ["sklearn-rf", "rf"], n_jobs=2, repeats=2, data_home=str(data_home)
    )
    run_bench(settings, tmp_path / "out", captured_console())
    order = [(request["dataset"], request["task"], request["method"]) for request in answers]
    first = [("trial", "sklearn-rf"), ("measure", "sklearn-rf"), ("measure", "rf")]
    both = first + first[1:]
    assert order == [(dataset, *step) for dataset in ("tiny", "generated") for step in both]
    theirs = [r for r in answers if r["task"] == "measure" and r["method"] == "sklearn-rf"]
    # Five seconds a tree, twenty to spend.
    assert all((r["n_grown"], r["is_dense"]) == (4, True) for r in theirs)
    assert [r["seed"] for r in theirs] == [0, 1, 0, 1]


def test_a_missing_peer_is_named_once_and_skipped(answers, tmp_path, monkeypatch):
    monkeypatch.setattr(
        Method, "is_installed", property(lambda method: method.package != "omikuji")
    )
    console = captured_console(width=200)
    settings = BenchSettings(["generated"], ["rf", "omikuji"], repeats=2)
    result = run_bench(settings, tmp_path, console)
    assert list(result.summaries["method"]) == ["rf"]
    assert printed(console).count("omikuji is skipped, as omikuji is not installed") == 1


def test_a_failing_method_is_recorded_and_the_others_go_on(answers, tmp_path, monkeypatch):
    measured = bench.in_own_process

    def fail_for_et(task, n_threads, **request):
        if request["method"] == "et":
            raise MeasurementError("killed")
        return measured(task, n_threads, **request)

    monkeypatch.setattr(bench, "in_own_process", fail_for_et)
    console = captured_console()
    result = run_bench(BenchSettings(["generated"], ["et", "rf"], repeats=2), tmp_path, console)
    runs = rows_of(tmp_path / "runs.csv")
    # What has failed once is not tried again.
    assert [(run["method"], run["error"]) for run in runs] == [
        ("et", "killed"), ("rf", ""), ("rf", ""),
    ]  # fmt: skip
    assert list(result.summaries["method"]) == ["rf"]
    assert "et failed on generated: killed" in printed(console)
    assert result.failures == ("et failed on generated: killed",)


def test_the_command_fails_where_a_method_did(answers, tmp_path, monkeypatch):
    def fail(task, n_threads, **request):
        raise MeasurementError("killed")

    arguments = ["bench", "--datasets", "generated", "--methods", "et", "--out", str(tmp_path)]
    assert CliRunner().invoke(cli.app, arguments).exit_code == 0
    monkeypatch.setattr(bench, "in_own_process", fail)
    assert CliRunner().invoke(cli.app, arguments).exit_code == 1


def test_an_interrupt_keeps_what_is_finished(answers, tmp_path, monkeypatch):
    measured = bench.in_own_process

    def interrupt_the_third(task, n_threads, **request):
        if len(answers) == 2:
            raise KeyboardInterrupt
        return measured(task, n_threads, **request)

    monkeypatch.setattr(bench, "in_own_process", interrupt_the_third)
    options = ["--datasets", "generated", "--methods", "rf,et", "--out", str(tmp_path), "--json"]
    result = CliRunner().invoke(cli.app, ["bench", *options])
    assert result.exit_code == 130
    assert not json.loads(result.stdout)["is_complete"]
    assert len(rows_of(tmp_path / "runs.csv")) == 2
    assert [row["method"] for row in rows_of(tmp_path / "medians.csv")] == ["rf", "et"]


@pytest.mark.parametrize(
    ("seconds_per_tree", "n_jobs", "memory", "expected"),
    [(0.1, 2, 0, 200), (3.0, 2, 0, 6), (60.0, 4, 0, 4), (0.1, 2, 70, 6)],
)
def test_scikit_learn_grows_what_time_and_memory_allow(seconds_per_tree, n_jobs, memory, expected):
    assert affordable_trees(seconds_per_tree, 10, n_jobs, memory=memory) == expected


# ---- methods and data


def test_names_lead_to_methods_and_to_what_they_are_compared_with():
    references = {name: find_method(name).reference for name in DEFAULT_METHODS}
    assert {name for name, other in references.items() if other == "sklearn-et"} == {"et", "et-m5"}
    assert references["rf-z25"] == "sklearn-z25"
    assert {
        references[name] for name in ("rf", "rf-m1", "omikuji", "sklearn-et", "sklearn-z25")
    } == {"sklearn-rf"}
    scaled = {name for name in DEFAULT_METHODS if find_method(name).can_be_scaled}
    assert scaled == {"sklearn-rf", "sklearn-et", "sklearn-z25"}
    assert find_method("et-m137").build.keywords == {"kind": "ExtraTrees", "n_components": 137}
    for name in ("rf-m", "rf-m0", "sklearn", "et-z5", "forest"):
        with pytest.raises(ValueError, match=f"got '{name}'"):
            find_method(name)


def test_both_libraries_split_on_the_very_same_shared_outputs():
    data = make_multilabel(40, 20, 15, labels_per_row=3, features_per_row=5)
    data = TrainTestSplit(data.X, data.Y, data.X, data.Y)
    options = Options(2, 2, n_jobs=1, seed=3)
    theirs, ours = (find_method(name).build(data, options) for name in ("sklearn-z5", "rf-z5"))
    assert theirs.Y.shape == (40, 5)
    np.testing.assert_array_equal(theirs.Y, ours.Y)
    assert not ours.predicts_labels


def test_few_trees_predict_at_the_cost_of_all(data_home):
    model = find_method("sklearn-rf").build(load_split("tiny", data_home), Options(7, 3, n_jobs=1))
    model.fit()
    model.prepare_predictions()
    assert len(model.estimator.estimators_) == 7


def test_a_set_without_a_split_gets_the_same_one_every_time(data_home):
    first, again = (load_split("tiny", data_home) for _ in range(2))
    assert (first.X_train.shape[0], first.X_test.shape[0]) == (100, 50)
    assert (first.X_train != again.X_train).nnz == 0
    assert not better_dense(first.X_train)


def test_datasets_are_checked_by_name(data_home, monkeypatch):
    monkeypatch.delenv("SKETCHFOREST_DATA", raising=False)
    assert choose_datasets(None) == ["generated"]
    assert choose_datasets(["all"], data_home) == ["tiny", "generated"]
    with pytest.raises(ValueError, match="got other"):
        choose_datasets(["tiny", "other"], data_home)


@pytest.mark.parametrize("name", ["napkinxc", "omikuji"])
def test_installed_peers_fit_and_score_every_row(name, data_home):
    pytest.importorskip(name)
    data = load_split("tiny", data_home)
    model = find_method(name).build(data, Options(n_jobs=1))
    model.fit()
    assert model.n_bytes() > 0
    model.prepare_predictions()
    scores = model.scores(model.predict(model.X_test))
    assert scores.shape == data.Y_test.shape
    assert np.isfinite(scores).all()
    model.use_one_thread()
    one = model.scores(model.predict(model.X_test[3:4]))
    np.testing.assert_allclose(one, scores[3:4], rtol=1e-5)


@pytest.mark.parametrize("name", ["napkinxc", "omikuji"])
def test_installed_peers_take_rows_without_features_or_labels_and_missing_values(name):
    pytest.importorskip(name)
    data = make_multilabel(150, 30, 12, labels_per_row=3, features_per_row=6)
    X, Y = data.X.toarray().astype(np.float32), data.Y.toarray()
    X[[0, 3, 110, 149]] = 0
    X[5, 2] = X[120, 4] = np.nan
    Y[[3, 7]] = 0
    X, Y = sparse.csr_array(X), sparse.csr_array(Y)
    model = find_method(name).build(
        TrainTestSplit(X[:100], Y[:100], X[100:], Y[100:]), Options(n_jobs=1)
    )
    model.fit()
    model.prepare_predictions()
    scores = model.scores(model.predict(model.X_test))
    assert scores.shape == (50, 12)
    assert np.isfinite(scores).all()


def test_a_row_without_features_is_a_line_with_a_zero_for_omikuji():
    X = sparse.csr_array(np.array([[0, 0], [0, 2], [0, 0], [1, 1], [0, 0]], float))
    Y = sparse.csr_array(np.ones((5, 1), np.uint8))
    omikuji = Omikuji(TrainTestSplit(X, Y, X, Y), Options())  # whose folder lives as long
    lines = Path(omikuji.data_path).read_text().splitlines()
    assert lines == ["5 2 1", "0 0:0", "0 1:2", "0 0:0", "0 0:1 1:1", "0 0:0"]


def test_a_missing_value_is_the_mean_of_the_training_rows_for_peers():
    X = sparse.csr_array(np.array([[np.nan, 1], [4, np.nan], [2, 0], [0, np.nan]]))
    Y = sparse.csr_array(np.ones((4, 1), np.uint8))
    X_train, X_test = _without_missing(TrainTestSplit(X[:3], Y[:3], X[3:], Y[3:]))
    assert X_train.toarray().tolist() == [[3, 1], [4, 0.5], [2, 0]]
    assert X_test.toarray().tolist() == [[0, 0.5]]


def test_peers_read_and_answer_in_their_own_formats():
    data = make_multilabel(3, 20, 10, labels_per_row=2, features_per_row=3)
    split = TrainTestSplit(data.X, data.Y, data.X, data.Y)
    omikuji = Omikuji(split, Options())
    header, *lines = Path(omikuji.data_path).read_text().splitlines()
    assert header == "3 20 10"
    for i, line in enumerate(lines):
        labels, *pairs = line.split()
        assert labels == ",".join(map(str, data.Y[i : i + 1].indices))
        assert pairs == [f"{j}:1" for j in data.X[i : i + 1].indices]
    expected = np.array([[0, 0, 0.5], [0, 0, 0], [0.25, 1, 0]], np.float32)
    np.testing.assert_array_equal(_scores([[(2, 0.5)], [], [(1, 1.0), (0, 0.25)]], 3), expected)


# ---- results


def test_medians_and_ratios():
    runs = [
        *(as_run("a", "sklearn-rf", i, costs(fit_seconds=s)) for i, s in enumerate((80, 100, 900))),
        *(as_run("a", "rf", i, costs(fit_seconds=s)) for i, s in enumerate((1, 2, 3))),
        as_run("a", "rf", 3, {"error": "killed"}),
        as_run("b", "rf", 0, costs()),
    ]
    summaries = summarise(runs)
    theirs, ours, alone = summaries.itertuples()
    assert (theirs.fit_seconds, ours.fit_seconds) == (100, 2)
    assert (ours.n_runs, ours.fit_ratio, ours.size_ratio) == (3, 50, 1)
    assert summaries.loc[alone.Index, [*RATIOS.values()]].isna().all()  # no reference there


def test_few_trees_are_scaled_to_all_but_predictions_are_not():
    [scaled] = summarise([as_run("a", "sklearn-rf", 0, sklearn_costs())]).itertuples()
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
    console.print(benchmark_table(summarise(runs)))
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
    console.print(benchmark_table(summarise([as_run("a", "rf", 0, costs())])))
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
    figure = benchmark_figure(summarise(runs))
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
    for axes in benchmark_figure(summarise(runs)).axes:
        low, high = axes.get_xlim()
        assert sum(low <= tick <= high for tick in axes.get_xticks()) > 1


def test_the_legend_says_what_ratios_compare_with():
    pytest.importorskip("matplotlib")
    runs = [as_run("a", "sklearn-rf", 0, sklearn_costs()), as_run("a", "rf-m5", 0, costs())]
    said = benchmark_figure(summarise(runs)).legends[0].get_title().get_text()
    assert "on the original outputs" in said


def test_the_picture_takes_any_mix_of_methods():
    pytest.importorskip("matplotlib")
    methods = ("sklearn-rf", "rf", "rf-m5", "napkinxc")
    runs = [as_run(data, name, 0, sklearn_costs()) for data in "ab" for name in methods]
    assert picture_bytes(benchmark_figure(summarise(runs)), "png").startswith(PNG_SIGNATURE)


# ---- command line


@pytest.mark.parametrize("arguments", [[], ["scaling"], ["large"]])
def test_help_shows_an_example(arguments):
    result = CliRunner().invoke(cli.app, ["bench", *arguments, "--help"])
    assert result.exit_code == 0
    assert "Example:" in result.output


@pytest.mark.parametrize(
    "options", [["--methods", "forest"], ["--datasets", "none"], ["--sklearn-trees", "some"]]
)
def test_wrong_names_are_refused_before_anything_runs(options, answers, tmp_path):
    arguments = ["bench", "--out", str(tmp_path / "out"), *options]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 2
    assert f"{options[0][2:].replace('-', '_')} must be" in result.output
    assert not (tmp_path / "out").exists()
    assert not answers

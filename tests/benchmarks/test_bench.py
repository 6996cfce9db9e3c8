"""The benchmark: separate processes, medians, ratios and scaling, without a timed assertion."""

import csv
import json
import os
import re

import pytest
from bench_runs import PNG_SIGNATURE, captured_console, costs, printed
from typer.testing import CliRunner

from benchmarks import cli
from benchmarks.bench import run as bench
from benchmarks.bench.methods import Method
from benchmarks.bench.process import MeasurementError, in_own_process
from benchmarks.bench.run import BenchSettings, affordable_trees, run_bench


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


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


@pytest.mark.slow
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


@pytest.mark.slow
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

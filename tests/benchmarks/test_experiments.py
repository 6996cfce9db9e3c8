"""What is finished is kept, read again, and not run twice."""

from dataclasses import replace

import pytest

from benchmarks.experiments import seconds_left, waiting_experiments, with_progress
from benchmarks.reproduce.forest_experiment import ForestExperiment, ForestResult
from benchmarks.reproduce.timing import TimingExperiment, TimingResult
from benchmarks.reproduce.variance import VarianceExperiment, VarianceResult
from benchmarks.store import ResultStore, append_row, write_csv

RESULT = ForestResult(0.5, 1.0, 0.25, 2, 1.5)


def test_results_of_every_kind_are_read_as_they_were_written(tmp_path):
    check = {"algorithm": 1, "t": 3, "quantity": "error", "measured": 0.1, "measured_se": 1e-9}
    results = [
        (ForestExperiment("emotions"), RESULT),
        (
            TimingExperiment("emotions", "scikit-learn", None, 100, 4, 1),
            TimingResult(0.1, 0.2, 0.3, 0.4, None, 1.0),
        ),
        (
            VarianceExperiment(5, sizes=(1, 3)),
            VarianceResult({"bias": [0.1, 1e-17]}, float("inf"), [check], 2.0),
        ),
    ]
    store = ResultStore(tmp_path)
    for experiment, result in results:
        assert store.get(experiment) is None
        store.add(experiment, result)
    for one in (store, ResultStore(tmp_path)):
        assert [one.get(experiment) for experiment, _ in results] == [r for _, r in results]
    assert {path.name for path in tmp_path.iterdir()} == {
        "forests.csv",
        "times.csv",
        "variances.csv",
    }


def test_half_a_line_is_cut_off_and_does_not_swallow_the_next(tmp_path):
    path = tmp_path / "forests.csv"
    first, second = ForestExperiment("emotions"), ForestExperiment("emotions", split=1)
    ResultStore(tmp_path).add(first, RESULT)
    ResultStore(tmp_path).add(second, RESULT)
    path.write_bytes(path.read_bytes()[:-3])  # 1.5 has become 1
    store = ResultStore(tmp_path)
    assert store.get(first) == RESULT
    assert store.get(second) is None
    store.add(second, RESULT)
    assert ResultStore(tmp_path).get(second) == RESULT


def test_a_file_with_other_columns_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "forests.csv"
    path.write_text("dataset,lrap\nemotions,0.5\n")
    with pytest.raises(ValueError, match=r"must have the columns dataset, forest, .*got dataset"):
        ResultStore(tmp_path).get(ForestExperiment("emotions"))
    assert path.read_text() == "dataset,lrap\nemotions,0.5\n"


@pytest.mark.parametrize(
    "change",
    [
        {"split": 1},
        {"split": None},
        {"seed": 1},
        {"n_estimators": 50},
        {"n_components": 2},
        {"shared": True},
        {"max_features": 3},
        {"version": "999"},
    ],
)
def test_another_setting_or_version_is_another_experiment(tmp_path, change):
    store = ResultStore(tmp_path)
    experiment = ForestExperiment("emotions", n_components=1)
    store.add(experiment, RESULT)
    assert store.get(replace(experiment)) == RESULT
    assert store.get(replace(experiment, **change)) is None


def test_shared_experiments_are_run_once_and_data_sets_are_read_once(tmp_path):
    one, two = ForestExperiment("emotions"), ForestExperiment("yeast")
    three = ForestExperiment("emotions", split=1)
    assert waiting_experiments([one, two, three, one], ResultStore(tmp_path)) == [one, three, two]


def test_rows_are_in_the_file_as_soon_as_they_are_known(tmp_path):
    path = tmp_path / "rows.csv"
    append_row({"a": 1, "b": None}, path)
    assert path.read_text().splitlines() == ["a,b", "1,"]
    append_row({"a": 2, "b": 0.5}, path)
    assert path.read_text().splitlines() == ["a,b", "1,", "2,0.5"]
    write_csv([{"c": 3}], path)
    assert path.read_text().splitlines() == ["c", "3"]


# ---- the progress bar


def test_time_left_goes_by_the_last_run_of_a_kind_or_by_the_average():
    assert seconds_left(["slow", "fast", "new"], {"slow": 9.0, "fast": 1.0}) == 15.0
    assert seconds_left([], {"slow": 9.0}) == 0


def test_short_runs_say_nothing_where_standard_error_is_no_terminal(capfd):
    assert list(with_progress("ab", lambda name: (name,))) == ["a", "b"]
    assert capfd.readouterr() == ("", "")

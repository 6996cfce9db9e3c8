"""The scaling study: points, exponents, tables, without a timed assertion."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from benchmarks.bench import scaling
from benchmarks.bench.measure_sizes import measure_point
from benchmarks.bench.scaling import (
    COSTS,
    Point,
    ScalingResult,
    exponent,
    parse_base,
    scaling_figure,
    scaling_table,
)
from sketchforest._utils.pictures import picture_bytes
from sketchforest.datasets import make_multilabel, make_sparse_multilabel
from sketchforest.datasets.npz import write_npz

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
MB = 1_000_000


def captured_console() -> Console:
    return Console(file=io.StringIO(), width=80)


def printed(console: Console) -> str:
    return console.file.getvalue()


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def data_home(tmp_path):
    """A folder with a tiny data set that has no split."""
    data = make_multilabel(150, 30, 12, labels_per_row=3, features_per_row=6)
    write_npz(data, tmp_path / "tiny.npz")
    return tmp_path


def test_scaling_measures_each_point_once_in_a_repeat(tmp_path, monkeypatch):
    # Time goes as n * t, as the table must find out; the other costs stay.
    monkeypatch.setattr(
        scaling,
        "in_own_process",
        lambda task, n_threads, point, **_: {
            "fit_seconds": point["n"] * point["t"],
            "predict_seconds": 1.0,
            "added_bytes": MB,
        },
    )
    console = captured_console()
    settings = scaling.ScalingSettings(Point(n=60), ("n", "t", "m"), doublings=2, repeats=2)
    result = scaling.run_scaling(settings, tmp_path, console)
    lines = result.costs.groupby("axis", sort=False)["value"]
    assert [(axis, list(values)) for axis, values in lines] == [
        ("n", [60, 120, 240]),
        ("t", [16, 32, 64]),
        ("m", [8, 16, 32]),
    ]
    assert list(result.exponents["fit_seconds"]) == pytest.approx([1, 1, 0], abs=1e-9)
    assert {row["axis"] for row in json.loads(result.as_json())["costs"]} == {"n", "t", "m"}
    # The base belongs to all three axes.
    assert len(rows_of(tmp_path / "scaling-runs.csv")) == 2 * 7
    assert len(rows_of(tmp_path / "scaling.csv")) == 9
    assert [row["axis"] for row in rows_of(tmp_path / "scaling-exponents.csv")] == ["n", "t", "m"]
    assert (tmp_path / "scaling.png").read_bytes().startswith(PNG_SIGNATURE)


@pytest.mark.parametrize("dataset", [None, "tiny"])
def test_a_point_of_the_scaling_study_is_measured(dataset, data_home):
    point = {"n": 60, "p": 30, "m": 2, "d": 10, "t": 2, "threads": 1}
    answer = measure_point(point, seed=0, dataset=dataset, data_home=str(data_home))
    assert answer["fit_seconds"] > 0
    assert answer["predict_seconds"] > 0
    assert answer["peak_bytes"] > answer["added_bytes"] >= 0


@pytest.mark.parametrize("power", [-1.0, 0.0, 0.7, 1.4])
def test_exponents_are_recovered_from_noisy_timings(power):
    sizes = 1000 * 2.0 ** np.arange(6)
    noise = np.exp(np.random.default_rng(0).normal(scale=0.02, size=6))
    assert exponent(sizes, 3e-4 * sizes**power * noise) == pytest.approx(power, abs=0.05)


def test_one_point_has_no_exponent_and_zeros_are_left_out():
    assert np.isnan(exponent([4], [1.0]))
    assert exponent([1, 2, 4], [0.0, 2.0, 4.0]) == pytest.approx(1)


def test_a_base_changes_the_sizes_that_it_names():
    assert parse_base("n=8000, t=32") == Point(n=8000, t=32)
    for text in ("q=1", "n=0", "n"):
        with pytest.raises(ValueError, match="base must be like"):
            parse_base(text)


def test_the_scaling_table_ends_each_axis_with_its_exponents():
    rows = [
        (axis, base * x, 0.2 * x, 0.1, MB)
        for axis, base in (("n", 1000), ("threads", 1))
        for x in (1, 2)
    ]
    exponents = pd.DataFrame([(1.0, 0.0, None)] * 2, ["n", "threads"], COSTS, dtype=float)
    costs = pd.DataFrame(rows, columns=["axis", "value", *COSTS])
    result = ScalingResult(costs, exponents)
    console = captured_console()
    console.print(scaling_table(result, "generated"))
    assert re.search(r"n, training rows +1,000 +0\.2 s +0\.1 s +1 MB", printed(console))
    assert len(re.findall(r"exponent +1\.00 +0\.00 +–", printed(console))) == 2
    assert picture_bytes(scaling_figure(result, "generated"), "png").startswith(PNG_SIGNATURE)


def test_rows_of_a_real_set_double_up_to_all_of_them(data_home):
    settings = scaling.ScalingSettings(doublings=2, dataset="tiny", data_home=str(data_home))
    grid = scaling.point_grid(settings)
    assert list(grid) == ["n", "m", "t", "threads"]
    assert [point.n for point in grid["n"]] == [25, 50, 100]
    assert {(point.p, point.d) for line in grid.values() for point in line} == {(30, 12)}


def test_sparse_rows_have_as_many_labels_and_features_as_asked():
    data = make_sparse_multilabel(12_000, 3000, 900, 5, 50, random_state=1)
    assert (data.X.shape, data.Y.shape) == ((12_000, 3000), (12_000, 900))
    assert set(np.diff(data.X.indptr)) == {50}
    assert set(np.diff(data.Y.indptr)) == {5}
    assert data.X.has_canonical_format
    again = make_sparse_multilabel(12_000, 3000, 900, 5, 50, random_state=1)
    np.testing.assert_array_equal(data.X.indices, again.X.indices)

"""`sketchforest explain`: labels by name, values as they stand in the table."""

import csv
import json

import numpy as np
import pytest

from sketchforest._features.encoder import unscale

QUICK = ("--n-estimators", "20", "--n-jobs", "1")
HARD, EASY, URGENT = "c++, sdk", "login", "urgent"
HEADER = ("title", "severity", "plan", "tags")
TICKETS = [
    (("linker", "password")[i % 2] + " help", 1 + i % 9 / 2, ("pro", "free")[i % 3 > 0], i % 2)
    for i in range(60)
]
COLUMNS = (
    *("--text-column", "title", "--number-column", "severity", "--category-column", "plan"),
    *("--tags-column", "tags", "--tag-separator", "|"),
)


@pytest.fixture
def tickets(command, tmp_path):
    """A file of tickets, and a model of them."""
    file, model = tmp_path / "tickets.csv", tmp_path / "tickets.sf"
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        for title, severity, plan, is_easy in TICKETS:
            tags = [EASY] if is_easy else [HARD, EASY]
            tags += [URGENT] if severity > 3 else []
            writer.writerow([title, severity, plan, "|".join(tags)])
    code, _, err = command("train", file, "-o", model, *COLUMNS, *QUICK)
    assert code == 0, err
    return file, model


@pytest.mark.parametrize(
    ("asked", "expected"),
    [(HARD, [HARD]), (EASY, [EASY]), (f'"{HARD}",{EASY}', [HARD, EASY])],
)
def test_a_single_label_with_a_comma_needs_no_quotes(asked, expected, command, tickets):
    file, model = tickets
    code, out, err = command("explain", model, file, "--label", asked, "--json")
    assert code == 0, err
    assert [label["label"] for label in json.loads(out)["labels"]] == expected


def test_names_with_a_comma_are_quoted_in_lists(command, tickets, tmp_path):
    file, model = tickets
    quoted = f'"{HARD}", {EASY}'
    assert quoted in command("info", model)[1]
    assert quoted in command("explain", model, file)[1]
    card = tmp_path / "card.md"
    assert command("report", model, file, "-o", card)[0] == 0
    assert quoted in card.read_text().replace("&quot;", '"')


def features_of(content):
    return {line["feature"]: line for line in content["labels"][0]["features"]}


@pytest.mark.parametrize("row", [0, 1, 5])  # row 0 has the least severity, which is 0 on the scale
def test_explanations_show_numbers_as_in_the_table(row, command, tickets):
    file, model = tickets
    _, out, _ = command("explain", model, file, "--row", row, "--label", URGENT, "--json")
    shown = features_of(json.loads(out))
    assert shown["severity"]["value"] == TICKETS[row][1]


@pytest.mark.parametrize("value", [3.4, -1e6, 0.1, 1e9, 12345.678])
@pytest.mark.parametrize("scale", [(1.0, 6.1), (-1e6, 2e6), (0.0, 1e-3)])
def test_unscaling_a_number_is_exact_to_float32(value, scale):
    low, width = scale
    on_scale = float(np.float32((value - low) / width))
    precision = 1e-6 * max(abs(value - low), abs(low))
    assert unscale(on_scale, low, width) == pytest.approx(value, rel=1e-6, abs=precision)
    assert np.isnan(unscale(np.nan, low, width))


def test_explanations_of_a_regressor_show_the_outputs_of_training_rows(command, tmp_path):
    file, model = tmp_path / "loads.csv", tmp_path / "loads.sf"
    file.write_text("a,load,cost\n" + "".join(f"{i},{2 * i},{-i}\n" for i in range(30)))
    forest = ("--forest", "random-forest-regressor", "--label-columns", "load,cost", *QUICK)
    assert command("train", file, "-o", model, *forest)[0] == 0
    _, out, _ = command("explain", model, file, "--row", 4, "--json")
    for row in json.loads(out)["training_rows"]:
        assert "labels" not in row
        assert row["outputs"] == {"load": 2 * row["row"], "cost": -row["row"]}
    _, out, _ = command("explain", model, file, "--row", 4)
    header = out.partition("Training rows with the largest weights")[2].splitlines()[1]
    assert header.split() == ["row", "weight", "load", "cost"]

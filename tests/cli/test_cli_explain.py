"""`sketchforest explain`: labels by name, values as they stand in the table."""

import csv
import json

import pytest

QUICK = ("--n-estimators", "20", "--n-jobs", "1")
HARD, EASY = "c++, sdk", "login"
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
            writer.writerow([title, severity, plan, EASY if is_easy else f"{HARD}|{EASY}"])
    code, _, err = command("train", file, "-o", model, *COLUMNS, *QUICK)
    assert code == 0, err
    return file, model


@pytest.mark.parametrize(
    ("asked", "expected"),
    [(HARD, [HARD]), (EASY, [EASY]), (f'"{HARD}",{EASY}', [HARD, EASY])],
)
def test_a_label_with_a_comma_is_asked_for_by_its_name(asked, expected, command, tickets):
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

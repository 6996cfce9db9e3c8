"""`sketchforest report`: the page and the card of a model, from files."""

import json
import re
import tomllib

import pytest

from sketchforest import RandomForestRegressor, __version__
from sketchforest.datasets import Dataset, make_multilabel, write

QUICK = ("--n-estimators", 10, "--n-jobs", 1, "--quiet")


@pytest.fixture
def files(tmp_path, monkeypatch, command):
    """A model and the rows to test it on, in the folder where commands run."""
    data = make_multilabel(300, 30, 12, labels_per_row=2, features_per_row=6, random_state=0)
    monkeypatch.chdir(tmp_path)
    write(Dataset("train", data.X[:200], data.Y[:200]), tmp_path / "train.npz")
    write(Dataset("test", data.X[200:], data.Y[200:]), tmp_path / "test.npz")
    code, _, err = command("train", "train.npz", "-o", "model.sf", *QUICK)
    assert code == 0, err
    return tmp_path


def test_the_report_has_the_scores_of_evaluate_and_their_provenance(command, files):
    _, out, _ = command("evaluate", "model.sf", "test.npz", "--json", "--quiet")
    scores = json.loads(out)
    code, out, err = command("report", "model.sf", files / "test.npz", "--quiet")
    assert code == 0, err
    assert "Wrote report.html" in out
    page = (files / "report.html").read_text("utf-8")
    assert f'<span class="value">{scores["lrap"]:.4f}</span>' in page
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    made = tomllib.loads((files / "model.sf.toml").read_text("utf-8"))["made"]
    assert facts["trained"].startswith(f"{made['date']}, in ")
    assert facts["trained"].endswith(f"by sketchforest {__version__}")
    assert facts["trained on"] == "train.npz"
    assert facts["random_state"] == "0"
    assert facts["n_estimators"] == "10"
    assert str(files) not in page  # a folder is nobody's business


def test_without_notes_the_report_shows_the_date_of_the_model_file(command, files):
    (files / "model.sf.toml").write_text("made = 1\n")
    command("report", "model.sf", "test.npz", "--quiet")
    assert "<dt>written</dt>" in (files / "report.html").read_text("utf-8")


@pytest.mark.parametrize("options", [("--markdown",), ("-o", "model-card.md")])
def test_a_model_card_is_markdown(command, files, options):
    code, out, err = command(
        "report", "model.sf", "test.npz", *options, "--title", "Mine", "--quiet", "--json"
    )
    assert code == 0, err
    about = json.loads(out)
    assert about["report"] == "model-card.md"
    card = (files / "model-card.md").read_text("utf-8")
    assert about["bytes"] == len(card.encode())
    assert card.startswith("# Mine\n")
    assert f"| LRAP | {about['lrap']:.4f} | ↑ higher is better |" in card
    assert "| trained on | train.npz |" in card


def test_the_report_counts_features_by_kind(command, tmp_path):
    file, model, card = (tmp_path / name for name in ("data.csv", "model.sf", "card.md"))
    rows = "".join(
        f"red fox {'cat' * (i % 2)},{i},{'ab'[i % 2]},{'xy'[i % 2]}\n" for i in range(20)
    )
    file.write_text("text,size,plan,tags\n" + rows)
    columns = ("--text-column", "text", "--number-column", "size", "--category-column", "plan")
    command("train", file, "-o", model, *columns, "--tags-column", "tags", "--n-estimators", 5)
    assert command("report", model, file, "-o", card)[0] == 0
    said = "| features | 6: 3 terms, 1 number, 2 categories |"
    assert said in card.read_text()


def test_the_report_applies_the_given_threshold(command, files):
    command("report", "model.sf", "test.npz", "--threshold", "top-2", "--quiet")
    page = (files / "report.html").read_text("utf-8")
    assert "the 2 most probable labels" in page
    assert "in use" not in page
    assert "<dt>threshold</dt><dd>&#39;top-2&#39;</dd>" in page


def test_a_regressor_has_a_report(command, files):
    data = make_multilabel(300, 30, 12, labels_per_row=2, features_per_row=6, random_state=0)
    RandomForestRegressor(5, random_state=0).fit(data.X, data.Y).save(files / "regressor.sf")
    code, _, err = command("report", "regressor.sf", "test.npz", "--quiet")
    assert code == 0, err
    assert "R²" in (files / "report.html").read_text("utf-8")


def test_nothing_is_written_if_the_file_cannot_be_read(command, files):
    (files / "report.html").write_text("the old one")
    code, _, err = command("report", "model.sf", "none.npz", "--quiet")
    assert code == 1, err
    assert (files / "report.html").read_text() == "the old one"


def test_the_output_path_is_checked_before_any_work(command, files):
    code, _, err = command("report", "model.sf", "none.npz", "-o", "no/report.html", "--quiet")
    assert code == 2
    assert "--out" in err

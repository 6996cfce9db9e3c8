"""What people have: several columns of text, categories, JSON lines, fastText, other encodings."""

import csv
import io
import json
import re
import zipfile

import numpy as np
import pytest

from sketchforest import load_forest
from sketchforest.datasets import Columns, read_table

QUICK = ("--n-estimators", "20", "--n-jobs", "1")
SITES = ("cooking", "chess")
ROWS = [
    {
        "id": str(i),
        "title": ("soup", "pawn")[i % 2] + f" question {i % 3}",
        "body": ("a hot oven", "a white queen")[i % 2],
        "site": SITES[i % 2],
        "year": 2000 + i % 7,
        "tags": ["food", "kitchen"] if i % 2 == 0 else ["game"],
    }
    for i in range(40)
]


def write_csv(path, rows=ROWS, separator=";", encoding="utf-8"):
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "tags": separator.join(row["tags"])} for row in rows)
    return path


def write_jsonl(path, rows=ROWS):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_fasttext(path, rows=ROWS):
    lines = [" ".join(f"__label__{tag}" for tag in r["tags"]) + f" {r['title']}" for r in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


MIXED = ("--text-column", "title,body", "--category-column", "site", "--number-column", "year")


@pytest.fixture
def mixed(command, tmp_path):
    file, model = write_csv(tmp_path / "data.csv"), tmp_path / "model.sf"
    code, _, err = command("train", file, "-o", model, "--tags-column", "tags", *MIXED, *QUICK)
    assert code == 0, err
    return model


def unframed(err):
    return " ".join(err.replace("│", " ").split())


# ---- texts, numbers and categories


def test_a_model_combines_texts_numbers_and_categories(command, mixed, tmp_path):
    names = load_forest(mixed).feature_names_.tolist()
    assert {"soup", "oven", "queen"} <= set(names)
    assert names[-3:] == ["year", "site=chess", "site=cooking"]
    code, out, err = command("predict", mixed, tmp_path / "data.csv", "--top", 1)
    assert code == 0, err
    first = [row["labels"] for row in csv.DictReader(io.StringIO(out))]
    assert all((label == "game") == bool(i % 2) for i, label in enumerate(first))
    code, out, _ = command("evaluate", mixed, tmp_path / "data.csv", "--json")
    assert json.loads(out)["lrap"] == 1
    assert command("explain", mixed, tmp_path / "data.csv", "--row", 3)[0] == 0


def test_csv_json_lines_and_a_pipe_give_the_same_predictions(command, mixed, tmp_path):
    expected = command("predict", mixed, tmp_path / "data.csv", "--top", 2)
    lines = write_jsonl(tmp_path / "data.jsonl")
    assert command("predict", mixed, lines, "--top", 2) == expected
    for path in (tmp_path / "data.csv", lines):
        assert command("predict", mixed, "-", "--top", 2, stdin=path.read_text()) == expected
    again = tmp_path / "again.sf"
    command("train", lines, "-o", again, "--tags-column", "tags", *MIXED, *QUICK)
    assert command("predict", again, lines, "--top", 2) == expected


def test_numbers_next_to_text_are_scaled(command, mixed, tmp_path):
    scales = load_forest(mixed).notes_["scales"]
    assert scales == {"year": [2000, 6]}
    # Another unit of the number changes nothing.
    rows = [{**row, "year": 1000 * row["year"]} for row in ROWS]
    other = write_csv(tmp_path / "other.csv", rows)
    model = tmp_path / "other.sf"
    command("train", other, "-o", model, "--tags-column", "tags", *MIXED, *QUICK)
    expected = command("predict", mixed, tmp_path / "data.csv", "--top", 2)
    assert command("predict", model, other, "--top", 2) == expected


def test_a_huge_number_next_to_text_stays_finite(command, mixed, tmp_path):
    rows = [{**ROWS[0], "year": year} for year in (3000, 1e300, 1.7e308)]
    code, out, err = command("predict", mixed, write_csv(tmp_path / "new.csv", rows), "--top", 2)
    assert (code, err) == (0, "")
    assert len(set(out.splitlines()[1:])) == 1


def test_new_and_missing_categories_set_no_feature(command, mixed, tmp_path):
    rows = [{**ROWS[0], "site": "unheard of"}, {**ROWS[0], "site": ""}]
    _, out, err = command("predict", mixed, write_csv(tmp_path / "new.csv", rows), "--top", 1)
    assert err == ""
    assert [row["labels"] for row in csv.DictReader(io.StringIO(out))] == ["food", "food"]


def test_without_text_other_columns_are_numbers(command, tmp_path):
    file, model = write_csv(tmp_path / "data.csv"), tmp_path / "model.sf"
    more = ("--category-column", "site", "--ignore-columns", "id,title,body")
    code, _, err = command("train", file, "-o", model, "--tags-column", "tags", *more, *QUICK)
    assert code == 0, err
    assert load_forest(model).feature_names_.tolist() == ["year", "site=chess", "site=cooking"]
    assert command("predict", model, file)[0] == 0


def test_a_model_of_several_columns_refuses_lines_of_text(command, mixed):
    code, _, err = command("predict", mixed, "-", stdin="hot soup\n")
    assert code == 1
    assert "the model needs other columns, too" in err


def test_columns_in_python_match_the_command_line(tmp_path):
    file = write_csv(tmp_path / "data.csv")
    data, texts = read_table(
        file, Columns(("title", "body"), "tags", categories=("site",), numbers=("year",))
    )
    assert texts[0] == "soup question 0\na hot oven"
    assert data.feature_names.tolist() == ["year", "site=chess", "site=cooking"]
    assert data.X[[0, 1]].toarray().tolist() == [[2000, 0, 1], [2001, 1, 0]]
    assert data.label_names.tolist() == ["food", "game", "kitchen"]


# ---- fastText, JSON lines


def test_fasttext_files_are_used_in_training_and_prediction(command, tmp_path):
    file, model = write_fasttext(tmp_path / "data.txt"), tmp_path / "model.sf"
    code, _, err = command("train", file, "-o", model, *QUICK, "--min-count", 1)
    assert code == 0, err
    forest = load_forest(model)
    assert forest.label_names_.tolist() == ["food", "game", "kitchen"]
    assert not any("label" in name for name in forest.feature_names_)
    expected = command("predict", model, file, "--top", 1)
    assert expected[0] == 0
    plain = re.sub(r"__label__\w+ ", "", file.read_text())
    assert command("predict", model, "-", "--top", 1, stdin=plain) == expected
    _, out, _ = command("evaluate", model, file, "--json")
    assert json.loads(out)["lrap"] == 1


BAD_LINES = {
    "no json": ('{"text": "a", "tags": ["b"]}\n{"text": \n', "line 2: invalid JSON"),
    "no object": ('{"text": "a", "tags": ["b"]}\n[1]\n', "line 2: each line must be an object"),
    "nothing": ("\n", "there are no rows"),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_bad_json_lines_get_one_sentence(kind, command, tmp_path):
    text, reason = BAD_LINES[kind]
    (tmp_path / "data.jsonl").write_text(text)
    code, _, err = command(
        *("train", tmp_path / "data.jsonl", "-o", tmp_path / "m.sf"),
        *("--text-column", "text", "--tags-column", "tags"),
    )
    assert code == 1
    assert reason in err
    assert len(err.splitlines()) == 1


def test_json_lines_may_lack_values(command, tmp_path):
    rows = [{k: v for k, v in row.items() if k != "year" or i % 3} for i, row in enumerate(ROWS)]
    file = write_jsonl(tmp_path / "data.jsonl", rows)
    data, _ = read_table(file, Columns(tags="tags", numbers=("year",)))
    assert np.isnan(data.X.toarray()[0, 0])
    assert data.X.toarray()[1, 0] == 2001


@pytest.mark.parametrize("number", ["Infinity", "1e400", "1" + 400 * "0"])
def test_an_infinite_number_in_json_lines_is_refused_with_line_and_column(number, tmp_path):
    file = tmp_path / "data.jsonl"
    file.write_text(f'{{"x": 1, "tags": ["a"]}}\n\n{{"x": {number}, "tags": ["b"]}}\n')
    with pytest.raises(ValueError, match=r"data.jsonl, line 3: column 'x': .* is infinite or too"):
        read_table(file, Columns(tags="tags"))


def test_a_target_column_cannot_be_a_feature(tmp_path):
    file = write_csv(tmp_path / "data.csv")
    with pytest.raises(ValueError, match="categories must not include a column of tags"):
        read_table(file, Columns(tags="tags", categories=("site", "tags"), numbers="year"))


# ---- files that are something else


def test_json_lines_are_recognized_without_their_suffix(command, tmp_path):
    file = write_jsonl(tmp_path / "data.export")
    model = tmp_path / "m.sf"
    columns = ("--text-column", "title", "--tags-column", "tags")
    assert command("train", file, "-o", model, *columns, *QUICK)[0] == 0
    assert load_forest(model).notes_["format"] == "jsonl"


def test_an_excel_workbook_is_named_in_the_error(command, tmp_path):
    with zipfile.ZipFile(tmp_path / "data.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("xl/workbook.xml", "")
    code, _, err = command("train", tmp_path / "data.xlsx", "-o", tmp_path / "m.sf")
    assert code == 1
    assert "it is an Excel workbook; save it as CSV" in err


def test_the_error_for_a_json_list_says_how_to_convert_it(command, tmp_path):
    (tmp_path / "data.json").write_text(json.dumps(ROWS))
    code, _, err = command("train", tmp_path / "data.json", "-o", tmp_path / "m.sf")
    assert code == 1
    assert "one object per line" in err


# ---- standard input


def test_a_header_on_standard_input_is_not_a_document(command, tmp_path):
    file, model = write_csv(tmp_path / "data.csv"), tmp_path / "model.sf"
    columns = ("--text-column", "title", "--tags-column", "tags")
    command("train", file, "-o", model, *columns, *QUICK)
    expected = command("predict", model, file, "--top", 1)
    assert command("predict", model, "-", "--top", 1, stdin=file.read_text()) == expected
    titles = "".join(row["title"] + "\n" for row in ROWS)
    assert command("predict", model, "-", "--top", 1, stdin=titles) == expected
    renamed = file.read_text().replace("title", "subject", 1)
    again = command("predict", model, "-", "--top", 1, "--text-column", "subject", stdin=renamed)
    assert again == expected


def test_a_table_on_standard_input_may_lack_a_column(command, mixed):
    code, _, err = command("predict", mixed, "-", stdin="title,year,site\nsoup,2000,chess\n")
    assert code == 1
    assert "standard input: there is no column 'body'; the columns are title, year, site" in err
    code, _, err = command("predict", mixed, "-", stdin="")
    assert code == 1
    assert "standard input: it is empty: there is no header" in err


@pytest.mark.parametrize("kind", ["csv", "jsonl", "fasttext", "svmlight"])
def test_training_from_standard_input_equals_training_from_the_file(kind, command, tmp_path):
    columns = ("--text-column", "title", "--tags-column", "tags")
    if kind == "svmlight":
        file = tmp_path / "data.svm"
        file.write_text("0,1 0:1 3:0.5\n2 1:1\n" * 10)
        columns = ()
    elif kind == "fasttext":
        file, columns = write_fasttext(tmp_path / "data.txt"), ()
    else:
        file = (write_csv if kind == "csv" else write_jsonl)(tmp_path / f"data.{kind}")
    assert command("train", file, "-o", tmp_path / "a.sf", *columns, *QUICK)[0] == 0
    code, _, err = command(
        "train", "-", "-o", tmp_path / "b.sf", *columns, *QUICK, stdin=file.read_text()
    )
    assert code == 0, err
    expected = command("predict", tmp_path / "a.sf", file, "--top", 2)
    assert command("predict", tmp_path / "b.sf", file, "--top", 2) == expected


# ---- columns that are kept


def test_kept_columns_come_before_the_predictions(command, mixed, tmp_path):
    file = tmp_path / "data.csv"
    _, out, _ = command("predict", mixed, file, "--top", 1, "--keep", "id,title")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["id", "title", "labels", "scores"]
    assert [row["id"] for row in rows] == [row["id"] for row in ROWS]
    _, out, _ = command("predict", mixed, file, "--keep", "id", "--json")
    assert json.loads(out.splitlines()[2])["id"] == "2"
    code, _, err = command("predict", mixed, file, "--keep", "nosuch")
    assert code == 1
    assert "there is no column 'nosuch'" in err
    code, _, err = command("predict", mixed, file, "--keep", "id", "--output", "sparse")
    assert code == 2
    assert "--keep: requires csv or jsonl output" in unframed(err)


# ---- encodings


def test_encoding_selects_another_encoding(command, tmp_path):
    rows = [{**row, "title": "crème brûlée" if i % 2 else "soup"} for i, row in enumerate(ROWS)]
    plain = write_csv(tmp_path / "plain.csv", rows)
    columns = ("--text-column", "title", "--tags-column", "tags")
    command("train", plain, "-o", tmp_path / "plain.sf", *columns, *QUICK)
    for encoding in ("latin-1", "utf-16"):
        file, model = tmp_path / f"{encoding}.csv", tmp_path / f"{encoding}.sf"
        write_csv(file, rows, encoding=encoding)
        code, _, err = command("train", file, "-o", model, *columns, *QUICK)
        assert code == 1
        assert re.search(r"pass (its )?--encoding", err)
        named = ("--encoding", encoding)
        code, _, err = command("train", file, "-o", model, *columns, *QUICK, *named)
        assert code == 0, err
        assert "crème" in load_forest(model).feature_names_
        expected = command("predict", tmp_path / "plain.sf", plain, "--top", 1)
        assert command("predict", model, file, "--top", 1, *named) == expected
        assert command("evaluate", model, file, *named)[0] == 0
    code, _, err = command("predict", tmp_path / "plain.sf", plain, "--encoding", "klingon")
    assert code == 2
    assert "--encoding: must be known to Python" in unframed(err)


# ---- separators of tags


@pytest.mark.parametrize(("separator", "asked"), [(",", "','"), ("|", "'|'"), (" ", "' '")])
def test_a_separator_that_splits_nothing_is_questioned(separator, asked, command, tmp_path):
    file, model = write_csv(tmp_path / "data.csv", separator=separator), tmp_path / "m.sf"
    rows = [{**row, "tags": [*row["tags"], f"t{i % 5}"]} for i, row in enumerate(ROWS)]
    write_csv(file, rows, separator)
    columns = ("--text-column", "title", "--tags-column", "tags")
    code, _, err = command("train", file, "-o", model, *columns, *QUICK)
    assert code == 1
    assert f"did you mean --tag-separator {asked}?" in err
    assert not model.exists()
    code, _, err = command("train", file, "-o", model, *columns, *QUICK, "--tag-separator", ";")
    assert code == 0  # who says so gets it
    assert f"did you mean --tag-separator {asked}?" in err
    code, _, err = command(
        "train", file, "-o", model, *columns, *QUICK, "--tag-separator", separator
    )
    assert (code, err) == (0, "")
    assert len(load_forest(model).label_names_) == 8


def test_tags_in_brackets_are_split(command, tmp_path):
    file, model = tmp_path / "data.csv", tmp_path / "m.sf"
    rows = [f"{row['title']},<{'><'.join(row['tags'])}>" for row in ROWS]
    file.write_text("\n".join(["title,tags", *rows]) + "\n")
    columns = ("--text-column", "title", "--tags-column", "tags")
    file.write_text(file.read_text() + "pawn soup,<food><game>\n")
    code, _, err = command("train", file, "-o", model, *columns, *QUICK)
    assert code == 1
    assert "did you mean --tag-separator '<>'?" in err
    command("train", file, "-o", model, *columns, *QUICK, "--tag-separator", "<>")
    assert load_forest(model).label_names_.tolist() == ["food", "game", "kitchen"]
    _, out, _ = command("predict", model, file, "--top", 2)
    assert out.splitlines()[1].startswith(("<food><kitchen>,<", "<kitchen><food>,<"))


def test_single_tags_with_commas_are_not_questioned(command, tmp_path):
    file = tmp_path / "data.csv"
    names = ['"Cars, used"', '"Boats, new"', "Trains"]
    file.write_text("x,tags\n" + "".join(f"{i},{names[i % 3]}\n" for i in range(30)))
    code, _, err = command("train", file, "-o", tmp_path / "m.sf", "--tags-column", "tags", *QUICK)
    assert (code, err) == (0, "")


# ---- the same options everywhere


def test_tune_reads_the_same_files_as_train(command, tmp_path):
    file = write_jsonl(tmp_path / "data.export")
    settings = ("--budget", "40 trees", "--n-estimators", 10, "--n-jobs", 1)
    columns = ("--format", "jsonl", "--tags-column", "tags", *MIXED)
    code, _, err = command("tune", file, "-o", tmp_path / "tuned", *columns, *settings)
    assert code == 0, err
    model = tmp_path / "tuned" / "model.sf"
    assert "site=chess" in load_forest(model).feature_names_
    code, out, err = command("predict", model, file, "--top", 1, "--json")
    assert code == 0, err
    assert json.loads(out.splitlines()[1])["labels"] == ["game"]

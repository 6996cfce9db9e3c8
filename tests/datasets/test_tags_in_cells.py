"""Cells of tags as people write them: lists, missing words, open quotes, other encodings."""

import re

import numpy as np
import pytest

from sketchforest.datasets import Columns, read_table
from sketchforest.datasets.columns import split_tags

COLUMNS = Columns(text="text", tags="tags")


@pytest.mark.parametrize(
    "cell", ["", " ", "NaN", "nan", "none", "None", "NA", "null", "n/a", "?", None]
)
def test_a_cell_that_is_missing_has_no_tags(cell):
    assert split_tags(cell, ";") == []


@pytest.mark.parametrize(
    "cell",
    [
        "['a', 'b c']",
        '["a", "b c"]',
        "['a' 'b c']",  # as NumPy writes it
        "('a', 'b c')",
        "{'a', 'b c'}",
        "[ 'a' , \"b c\" ]",
        "['a', None, nan, 'b c']",
        "['a',\n 'b c']",
        ["a", None, float("nan"), "b c"],
        "a;b c",
        " a ; b c ;; a",
    ],
)
def test_a_list_in_a_cell_is_read_as_a_list(cell):
    assert split_tags(cell, ";") == ["a", "b c"]


@pytest.mark.parametrize(
    ("cell", "tags"),
    [
        ("[]", []),
        ("['steak']", ["steak"]),
        (r"['it\'s', 'a\\b']", ["it's", r"a\b"]),
        ('["caf\\u00e9"]', ["café"]),
        ("['c++, sdk', 'x;y']", ["c++, sdk", "x;y"]),
        ("[1, 2]", ["1", "2"]),
        (["none"], ["none"]),  # a list says what it means
        ("(a)", ["(a)"]),
        ("[a][b]", ["[a][b]"]),
        ("['a'", ["['a'"]),
        ("c (language)", ["c (language)"]),
    ],
)
def test_other_cells_are_read_as_written(cell, tags):
    assert split_tags(cell, ";") == tags


def test_no_text_takes_long_to_be_recognized_as_no_list():
    for cell in ("['a'" + " " * 200_000 + "x", "['" + "\\'" * 100_000, "[" + "a " * 100_000 + "!"):
        assert split_tags(cell, ";") == [cell.strip()]


def test_lists_in_a_file_give_the_same_labels_as_separated_tags(tmp_path):
    rows = [["a", "b"], ["b"], [], ["c d"]]
    for name, write in {"lists": repr, "cells": ";".join}.items():
        cells = (write(row).replace('"', '""') for row in rows)
        text = "".join(f'x,"{cell}"\n' for cell in cells)
        (tmp_path / f"{name}.csv").write_text("text,tags\n" + text)
    lists, cells = (read_table(tmp_path / f"{n}.csv", COLUMNS)[0] for n in ("lists", "cells"))
    assert lists.label_names.tolist() == cells.label_names.tolist() == ["a", "b", "c d"]
    assert np.array_equal(lists.Y.toarray(), cells.Y.toarray())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('text,tags\n"open,a\nb,c\nd,e\n', "line 2: a quote opens in this row and is never closed"),
        ('text,tags\nx,y\n"open,a\nb,"e"\n', "line 3: a quote opens in this row and is not closed"),
        ('text,tags\n"open, a\nb",e,f\n', "line 2: the row has 3 cells, .* it ends in line 3"),
        ('text,tags\nx,"[a, b]"\ny,[c]\nz,[a]\n', "lists without quotes, such as '\\[a, b\\]'"),
    ],
)
def test_the_line_where_a_quote_opens_is_named(content, said, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(ValueError, match=said):
        read_table(tmp_path / "t.csv", COLUMNS)


TEXT = "text,tags\nfoo,a\nbar,b\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", TEXT.encode("utf-16"), "it is UTF-16 text; pass --encoding utf-16."),
        ("t.csv", TEXT.encode("utf-16-le"), "pass --encoding utf-16-le."),
        ("t.csv", b"PK\x03\x04 and more", "it is an Excel workbook or a zip archive; save"),
        ("t.csv", b"\xd0\xcf\x11\xe0 and more", "it is an Excel workbook; save it as CSV"),
    ],
)
def test_files_that_are_no_utf8_tables_are_recognized(name, content, said, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(said)):
        read_table(tmp_path / name, COLUMNS)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_the_encoding_that_the_message_names_works(encoding, tmp_path):
    (tmp_path / "t.csv").write_bytes(TEXT.encode(encoding))
    assert read_table(tmp_path / "t.csv", COLUMNS, encoding=encoding)[1] == ["foo", "bar"]

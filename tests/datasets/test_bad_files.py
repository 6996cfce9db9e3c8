"""A broken file gets one sentence: file, line number, reason. Nothing else ever comes out."""

import bz2
import gzip
import lzma
import random
import re

import numpy as np
import pytest
from scipy import sparse

from sketchforest.datasets import (
    FORMATS,
    Columns,
    Dataset,
    read,
    read_table,
    read_xc,
    write,
    write_table,
)

ARFF = """@relation 'x: -C 2'
@attribute 'l 1' {0,1}
@attribute l2 {NO,YES}
@attribute f1 numeric
@attribute "f 2" {a,'b c',"d,e"}
@attribute f3 {YES,NO}
@data
0,YES,1.5,a,NO
1,NO,?,'b c',YES
{2 -3e2, 3 'd,e'}
{0 1, 1 YES}
"""
CLUS = """@relation c
@attribute f1 numeric
@attribute class hierarchical root/A,root/B,A/C,B/C,C/D
@data
1,D@A
2,B
"""
XC = "3 5 4\n0,2 0:1 4:0.5\n 3:1\n3 1:2\n"
SVM = "1,5 3:0.5 8:1 # c\n# comment\n 2:1\n2 1:1e3\n"
FILES = {"a.arff": ARFF, "c.arff": CLUS, "x.txt": XC, "s.svm": SVM}

BROKEN = [
    ("a.arff", "1.5,a,NO", "1.5,a", 8, "the row has 4 values for 5 attributes"),
    ("a.arff", "1.5", "1.5x", 8, "'1.5x' is not a number (attribute 'f1')"),
    ("a.arff", "1.5", "nan", 8, "'nan' is not a number"),
    ("a.arff", "-3e2", "nan", 10, "'nan' is not a number"),
    ("a.arff", "1.5", "1_5", 8, "'1_5' is not a number"),
    ("a.arff", "1.5", "inf", 8, "the value of attribute 2 is inf, not a finite 32-bit number"),
    ("a.arff", "-3e2", "-1e39", 10, "is -1e+39, not a finite 32-bit number"),
    ("a.arff", "1.5,a", "1.5,z", 8, "'z' is not a declared value (attribute 'f 2')"),
    ("a.arff", "'b c',YES", "'b c,YES", 9, 'the quote in "\'b c,YES" is not closed'),
    ("a.arff", "'b c',YES", "'b c'd,YES", 9, "'d' follows a closing quote"),
    ("a.arff", "'d,e'}", "'d,e'", 10, "the row has no closing brace"),
    ("a.arff", "3 'd,e'}", "3 'd,e}", 10, "is not closed"),
    ("a.arff", "{2 -3e2", "{7 -3e2", 10, "'7' is not an attribute number (0 to 4)"),
    ("a.arff", "{2 -3e2", "{-2 -3e2", 10, "'-2' is not an attribute number"),
    ("a.arff", "{2 -3e2", "{2 -3e2, 2 1", 10, "attribute 2 appears twice"),
    ("a.arff", "{2 -3e2", "{2", 10, "attribute number '2' has no value"),
    ("a.arff", "1 YES}", "1 ?}", 11, "label 'l2' must be 0 or 1; it is missing"),
    ("a.arff", "f1 numeric", "f1 numerical", 4, "attribute 'f1' has unknown type 'numerical'"),
    ("a.arff", "f1 numeric", "f1", 4, "attribute 'f1' has no type"),
    ("a.arff", "'l 1' {", "'l 1 {", 2, "is not closed"),
    ("a.arff", "{0,1}", "{0,1", 2, "the values of attribute 'l 1' have no closing brace"),
    ("a.arff", "{0,1}", "{0,0}", 2, "attribute 'l 1' declares a value twice"),
    ("a.arff", "{0,1}", "{0,1,2}", 2, "label 'l 1' must have the two values 0 and 1"),
    ("a.arff", "@data", "@dat", 7, "expected @relation, @attribute or @data, got '@dat'"),
    ("a.arff", ARFF[ARFF.index("@data") :], "", 6, "the file ends before @data"),
    (
        "a.arff",
        "-C 2",
        "-C 5",
        None,
        "-C in @relation must be from 1 to 4 to leave features; got 5",
    ),
    ("a.arff", ": -C 2", "", None, "it does not say which attributes are labels; put a.xml beside"),
    ("c.arff", "D@A", "E@A", 5, "class 'E' is not in the hierarchy of line 3"),
    ("c.arff", "C/D", "C/D,D/A", 3, "the hierarchy has a cycle"),
    ("x.txt", "3 5 4", "4 5 4", 4, "the file ends after 3 of the 4 rows of line 1"),
    ("x.txt", "3 5 4", "2 5 4", 4, "there are more rows than the 2 of line 1"),
    ("x.txt", "4:0.5", "5:0.5", 2, "feature 5 is out of range: there are 5, from 0 to 4"),
    ("x.txt", "3 5 4", "3 9999999999999 4", 1, "9999999999999 features are more than"),
    ("x.txt", "3 5 4", "3 5 9999999999999", 1, "9999999999999 labels are more than"),
    (
        "s.svm",
        "1,5",
        f"# zero-based, 9 features, {10**17} labels\n1,5",
        1,
        "labels are more than the",
    ),
    ("s.svm", "8:1", "2147483647:1", None, "feature number 2147483647 is too large; pass n_feat"),
    ("s.svm", "8:1", "16777300:1", None, "feature number 16777300 is too large; pass n_features"),
    ("s.svm", "2 1:1e3", "4194400 1:1", None, "label number 4194400 is too large; pass n_labels"),
    ("x.txt", "3 5 4", "__label__a b", 1, "it is a table of format fasttext"),
    ("x.txt", "0,2", "0,4", 2, "label 4 is out of range: there are 4, from 0 to 3"),
    ("x.txt", "0,2", "0,0", 2, "label 0 appears twice"),
    ("x.txt", "4:0.5", "0:0.5", 2, "feature 0 appears twice"),
    ("x.txt", "4:0.5", "4", 2, "'4' has no colon: features are written as index:value"),
    ("x.txt", "4:0.5", "4:", 2, "'' is not a number"),
    ("x.txt", "4:0.5", "4:nan", 2, "the value of feature 4 is nan, not a finite"),
    ("x.txt", "4:0.5", "4:1_0", 2, "'1_0' is not a number"),
    ("x.txt", "4:0.5", "9" * 30 + ":1", 2, "an index has more than 63 bits"),
    ("s.svm", "1,5", "1,b", 1, "'b' is not a label number, as in 1,5,7"),
    ("s.svm", "3:0.5", "qid:3", 1, "qid belongs to ranking data and is not supported"),
    ("s.svm", " 2:1", " -2:1", 3, "feature -2 is out of range"),
    ("s.svm", "2 1:1e3", "9999999999 1:1", None, "label number 9999999999 is too large"),
]


@pytest.mark.parametrize(("name", "old", "new", "line", "reason"), BROKEN)
def test_the_sentence_has_file_line_and_reason(tmp_path, name, old, new, line, reason):
    assert old in FILES[name]
    path = tmp_path / name
    path.write_text(FILES[name])
    read(path)
    path.write_text(FILES[name].replace(old, new, 1))
    with pytest.raises(ValueError, match=re.escape(reason)) as error:
        read(path)
    place = f"{path}, line {line}: " if line else f"{path}: "
    assert str(error.value).startswith(place)
    assert str(error.value).endswith(".")


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.write_bytes(re.sub(rb"(\w)(\W*)\Z", b"\\1\xff\\2", text.encode()))
        with pytest.raises(ValueError, match=r"line \d+: byte 0xff is not UTF-8 text"):
            read(path)


def test_the_line_of_a_byte_that_is_not_utf8_is_that_of_a_text_editor(tmp_path):
    lines = [f"{n},text {n},a" for n in range(2000)]
    lines[1500] = "1500,caf\xe9,a"
    path = tmp_path / "latin.csv"
    path.write_text("\n".join(["id,body,tags", *lines]), encoding="latin-1")
    with pytest.raises(ValueError, match="line 1502: byte 0xe9 is not UTF-8 text; pass its --enc"):
        read_table(path, Columns(text="body", tags="tags"))


def test_so_many_columns_as_are_asked_for_are_read(tmp_path):
    (tmp_path / "s.svm").write_text("1 2147483647:1\n4194400 1:1\n")
    data = read(tmp_path / "s.svm", n_features=2**31 - 1, n_labels=5_000_000)
    assert (data.X.shape, data.Y.shape) == ((2, 2**31 - 1), (2, 5_000_000))


def test_values_that_sparse_rows_leave_out_are_not_made_by_the_million(tmp_path):
    """25 million ones of a file of 120 kB."""
    n = 5000
    header = [f"@attribute a{i} {{yes,no}}" for i in range(n)]
    text = ["@relation 'a: -C 1'", *header, "@data", *["{}"] * n]
    (tmp_path / "a.arff").write_text("\n".join(text))
    with pytest.raises(ValueError, match="5000 rows omit most of the 25000000 values"):
        read(tmp_path / "a.arff")
    lines = ['{"tags": "a"' + f', "c{i}": 1}}' for i in range(n)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"rows omit most of the \d+ values of 4097"):
        read_table(tmp_path / "a.jsonl", Columns(tags="tags"))


@pytest.mark.parametrize("format", [None, *FORMATS])
@pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing\n"])
def test_an_empty_file_is_refused(tmp_path, content, format):
    (tmp_path / "empty").write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / "empty"))):
        read(tmp_path / "empty", format=format)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_a_cut_compressed_file_is_refused(tmp_path, pack):
    packed = pack(ARFF.encode())
    for end in range(12, len(packed) - 1, 7):
        (tmp_path / "cut.arff").write_bytes(packed[:end])
        with pytest.raises(ValueError, match=r"cut\.arff"):
            read(tmp_path / "cut.arff")


def test_labels_of_the_xml_must_be_in_the_file(tmp_path):
    (tmp_path / "a.arff").write_text(ARFF)
    (tmp_path / "a.xml").write_text("<labels><label name='l2'/><label name='l3'/></labels>")
    with pytest.raises(ValueError, match=r"label 'l3' of .*a\.xml matches no attribute"):
        read(tmp_path / "a.arff")
    for text in ("<labels>", "<labels/>", "<labels><label/></labels>"):
        (tmp_path / "a.xml").write_text(text)
        with pytest.raises(ValueError, match=r"a\.xml"):
            read(tmp_path / "a.arff")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1\n4\n", "line 2: row 4 is out of range: rows are numbered from 1 to 3"),
        ("0\n", "line 1: row 0 is out of range"),
        ("1\n1\n", "line 2: row 1 appears twice, first in line 1"),
        ("x\n", "line 1: 'x' is not a row number"),
    ],
)
def test_rows_of_a_split_must_be_rows_of_the_file(tmp_path, text, reason):
    (tmp_path / "x.txt").write_text(XC)
    (tmp_path / "split.txt").write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"split.txt, {reason}")):
        read_xc(tmp_path / "x.txt", train_split=tmp_path / "split.txt")


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("X_indices", [0, 9, 1], "X is not a valid CSR matrix: index 9 is not in [0, 3)"),
        ("X_indices", [-1, 0, 1], "X is not a valid CSR matrix: index -1 is not in [0, 3)"),
        ("X_indices", [0, 0, 1], "a row of X repeats a column"),
        ("X_indptr", [0, 3], "X is not a valid CSR matrix: indptr is not 3 numbers"),
        ("X_indptr", [0, 4, 3], "X is not a valid CSR matrix: indptr decreases"),
        ("X_shape", [2], "X_shape must be two counts"),
        ("X_data", [1.0, np.inf, 1.0], "X_data must be numbers, or NaN"),
        ("Y_indptr", [0, 1], "Y is not a valid CSR matrix: indptr is not 3 numbers"),
        ("train_rows", [2], "train_rows must be row numbers from 0 to 1"),
        ("label_names", ["a"], "label_names must be 2 strings"),
        ("X_data", np.array([1, None, 2], object), "it is not a readable NumPy archive"),
    ],
)
def test_an_archive_whose_arrays_disagree_is_refused(tmp_path, key, value, reason):
    arrays = {
        "X_data": [1.0, 2.0, 3.0],
        "X_indices": [0, 2, 1],
        "X_indptr": [0, 2, 3],
        "X_shape": [2, 3],
        "Y_indices": [0, 1],
        "Y_indptr": [0, 1, 2],
        "Y_shape": [2, 2],
    }
    np.savez(tmp_path / "a.npz", **arrays)
    in_order = read(tmp_path / "a.npz")
    swapped = {"X_data": [2.0, 1.0, 3.0], "X_indices": [2, 0, 1]}
    np.savez(tmp_path / "a.npz", **(arrays | swapped))
    assert (read(tmp_path / "a.npz").X != in_order.X).nnz == 0
    np.savez(tmp_path / "a.npz", allow_pickle=True, **(arrays | {key: value}))
    with pytest.raises(ValueError, match=re.escape(reason)):
        read(tmp_path / "a.npz")


PIECES = (
    b"nan inf 1e400 99999999999999999999 -1 { } ' \" @data @attribute -C qid:3 1_0 , : ? / @ % # "
    b"\\ \xff \xc3 \x00 root/A D/A 0 9 e .".split(b" ")
)


def mutated(content: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(content) + 1)
        cut = at + rng.choice([0, 0, 1, 2, 15])
        piece = rng.choice([b"", b"\n", *PIECES])
        content = content[:at] + piece + content[cut:]
        if rng.random() < 0.1:
            content = content[:at]
    return content


@pytest.mark.parametrize("name", ["a.npz", "a.arff", "a.txt", "a.svm", "a.csv"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, np.nan])
def test_what_is_written_can_be_read(tmp_path, name, value):
    X, Y = sparse.csr_array([[1.0, 0], [0, value]]), sparse.csr_array(np.eye(2, dtype=np.uint8))
    is_table, path = name.endswith(".csv"), tmp_path / name
    write_it = write_table if is_table else write
    holds_it = {np.inf: (), -np.inf: (), 1e300: ("a.npz", "a.csv")}.get(
        value, ("a.npz", "a.arff", "a.csv")
    )
    if name not in holds_it:
        said = r"X must hold .*; got .* in row 1 and column 1\. Replace|X has missing values"
        with pytest.raises(ValueError, match=said):
            write_it(Dataset("a", X, Y), path)
        assert not path.exists()
        return
    write_it(Dataset("a", X, Y), path)
    again = read_table(path, Columns(tags="tags"))[0] if is_table else read(path)
    np.testing.assert_array_equal(again.X.toarray(), X.toarray())


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("name", [*FILES, "n.npz"])
def test_damage_anywhere_is_refused_or_read_but_never_crashes(tmp_path, name, pack):
    rng = random.Random(name)
    path = tmp_path / name
    if name == "n.npz":
        (tmp_path / "s.svm").write_text(SVM)
        write(read(tmp_path / "s.svm"), path)
        content = path.read_bytes()
    else:
        content = FILES[name].encode()
    sentences = []
    for round_ in range(150):
        damaged = mutated(content, rng) if round_ % 2 else mutated(pack(content), rng)
        path.write_bytes(pack(damaged) if round_ % 2 else damaged)
        try:
            data = read(path, format=rng.choice([None, None, *FORMATS]))
        except ValueError as error:
            sentences.append(str(error))
            continue
        for matrix in (data.X, data.Y):
            matrix.check_format()
            assert matrix.has_canonical_format
        assert data.X.shape[0] == data.Y.shape[0]
        assert not np.isinf(data.X.data).any()
    assert sentences
    assert not any("\n" in sentence for sentence in sentences)

"""Files of every format give the matrices that their text defines."""

import bz2
import gzip
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from sketchforest.datasets import (
    Dataset,
    load,
    read,
    read_arff,
    read_svmlight,
    read_xc,
    write,
    write_arff,
    write_svmlight,
)
from sketchforest.datasets.table_files import open_table

PACKERS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


def save(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def same_matrix(left, right) -> bool:
    left, right = sparse.csr_array(left, dtype=float), sparse.csr_array(right, dtype=float)
    return left.shape == right.shape and all(
        np.array_equal(getattr(left, part), getattr(right, part), equal_nan=part == "data")
        for part in ("indptr", "indices", "data")
    )


# --- ARFF ---------------------------------------------------------------------------------------

KINDS = {
    "numeric": None,
    "zero_one": ["0", "1"],
    "yes_first": ["YES", "NO"],
    "no_first": ["no", "yes"],
    "colours": ["red", "light blue", "a,b", "it's", "50%"],
    "one_value": ["only"],
}


def quoted(value: str) -> str:
    return value if value.isalnum() else "'" + value.replace("'", "\\'") + "'"


def random_table(rng, n_rows=30):
    """Attributes as (name, kind), and rows of values as they mean, None where missing."""
    kinds = [*KINDS, *rng.choice(list(KINDS), 4)]
    attributes = [(f"{kind} {at}", kind) for at, kind in enumerate(kinds)]
    rows = [
        [
            None
            if rng.random() < 0.1
            else str(rng.choice(KINDS[kind]))
            if KINDS[kind]
            else float(rng.choice([0.0, 0.0, 1.5, -3e-4, 12345.0]))
            for _, kind in attributes
        ]
        for _ in range(n_rows)
    ]
    return attributes, rows


def arff_text(attributes, rows, labels, is_sparse: bool) -> str:
    lines = [f"@RELATION 'random: -C -{labels.shape[1]}'", "% a comment", ""]
    for name, kind in attributes:
        values = KINDS[kind]
        declared = "{" + ", ".join(map(quoted, values)) + "}" if values else "REAL"
        lines.append(f"@attribute '{name}'\t{declared}")
    lines += [f"@attribute label{at} {{0,1}}" for at in range(labels.shape[1])]
    lines += ["@data", ""]
    for row, row_labels in zip(rows, labels, strict=True):
        tokens = ["?" if v is None else quoted(v) if isinstance(v, str) else repr(v) for v in row]
        tokens += [str(label) for label in row_labels]
        if is_sparse:
            zeros = ["0.0" if KINDS[k] is None else quoted(KINDS[k][0]) for _, k in attributes]
            zeros += ["0"] * len(row_labels)
            pairs = [f"{at} {t}" for at, t in enumerate(tokens) if t != zeros[at]]
            lines.append("{" + ",".join(pairs) + "}")
        else:
            lines.append(",".join(tokens))
    return "\n".join(lines) + "\n"


def expected_features(attributes, rows):
    """The definition: one column for numbers and for yes or no, one for each value otherwise."""
    columns, names = [], []
    for at, (name, kind) in enumerate(attributes):
        cells = [row[at] for row in rows]
        if kind == "numeric":
            columns.append([np.nan if cell is None else np.float32(cell) for cell in cells])
            names.append(name)
        elif len(KINDS[kind]) == 2:
            yes = {"1", "YES", "yes"}
            columns.append([np.nan if cell is None else float(cell in yes) for cell in cells])
            names.append(name)
        else:
            for value in KINDS[kind]:
                columns.append([float(cell == value) for cell in cells])
                names.append(f"{name}={value}")
    return np.array(columns, float).T, names


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_arff_rows_mean_what_their_attributes_declare(tmp_path, seed, is_sparse):
    rng = np.random.default_rng(seed)
    attributes, rows = random_table(rng)
    labels = (rng.random((len(rows), 5)) < 0.3).astype(int)
    path = save(tmp_path / "random.arff", arff_text(attributes, rows, labels, is_sparse))
    data = read(path)
    X, names = expected_features(attributes, rows)
    np.testing.assert_array_equal(data.X.toarray(), X)
    np.testing.assert_array_equal(data.Y.toarray(), labels)
    assert data.feature_names.tolist() == names
    assert data.label_names.tolist() == [f"label{at}" for at in range(5)]
    assert data.X.dtype == np.float32
    assert data.Y.dtype == np.uint8


SMALL = """@relation small
@attribute f1 numeric
@attribute a {0,1}
@attribute f2 numeric
@attribute b {0,1}
@data
1.5,1,0,0
{2 3,3 1}
"""


def test_labels_are_found_by_xml_by_name_or_by_count(tmp_path):
    path = save(tmp_path / "small-train.arff", SMALL)
    xml = '<labels xmlns="http://x.y/labels">{}</labels>'.format
    save(tmp_path / "other.xml", xml('<label name="b"/>'))
    for choice in ({"labels": ["b"]}, {"labels": 1}, {"xml": tmp_path / "other.xml"}):
        data = read_arff(path, **choice)
        assert data.feature_names.tolist() == ["f1", "a", "f2"]
        np.testing.assert_array_equal(data.Y.toarray(), [[0], [1]])
        assert same_matrix(read(path, **choice).X, data.X)
    assert read_arff(path, labels=str(tmp_path / "other.xml")).label_names.tolist() == ["b"]
    # Nested elements are labels, too; the order of the ARFF file counts.
    save(tmp_path / "small.xml", xml('<label name="b"><label name="a"></label></label>'))
    data = read(path)
    assert data.label_names.tolist() == ["a", "b"]
    np.testing.assert_array_equal(data.X.toarray(), [[1.5, 0], [0, 3]])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0], [0, 1]])


@pytest.mark.parametrize(("count", "labels"), [(2, ["f1", "a"]), (-1, ["b"])])
def test_meka_labels_are_the_first_or_the_last(tmp_path, count, labels):
    text = SMALL.replace("small", f"'small: -C {count} -I 0'").replace("1.5", "1")
    data = read(save(tmp_path / "small.arff", text))
    assert data.label_names.tolist() == labels


def test_an_xml_name_may_carry_the_backslash_of_arff(tmp_path):
    text = SMALL.replace("attribute b", r"attribute 'b\'s'")
    save(tmp_path / "q.xml", r"""<labels><label name="b\'s"/></labels>""")
    assert read(save(tmp_path / "q.arff", text)).label_names.tolist() == ["b's"]


def test_features_can_be_dropped_and_keys_are(tmp_path):
    text = SMALL.replace("f1 numeric", "f1 string").replace("f2 numeric", "f2 key")
    path = save(tmp_path / "small.arff", text.replace("1.5", "'a, b'"))
    assert read_arff(path, labels=["b"], drop=["f1"]).feature_names.tolist() == ["a"]
    with pytest.raises(
        ValueError, match=r"line 2: attribute 'f1' has type string; .* drop=\['f1'\]"
    ):
        read_arff(path, labels=["b"])


def clus_file(path, items, classes) -> Path:
    rows = "\n".join(f"{at},{c}" for at, c in enumerate(classes))
    return save(
        path,
        f"@relation c\n@attribute f numeric\n@attribute class hierarchical {','.join(items)}\n"
        f"@data\n{rows}\n",
    )


def test_a_tree_has_a_label_for_each_path_and_the_paths_above_it(tmp_path):
    path = clus_file(tmp_path / "t.arff", ["1/1", "1", "2/1/1"], ["1/1@2/1/1", "1", "?", "2"])
    data = read(path)
    assert data.label_names.tolist() == ["1", "1/1", "2", "2/1", "2/1/1"]
    np.testing.assert_array_equal(
        data.Y.toarray(), [[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [0] * 5, [0, 0, 1, 0, 0]]
    )
    np.testing.assert_array_equal(
        read(path, ancestors=False).Y.toarray(),
        [[0, 1, 0, 0, 1], [1, 0, 0, 0, 0], [0] * 5, [0, 0, 1, 0, 0]],
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_graph_gives_a_row_all_nodes_from_which_its_own_are_reached(tmp_path, seed):
    rng = np.random.default_rng(seed)
    n = 15
    edges = np.triu(rng.random((n, n)) < 0.2, k=1)
    items = [f"N{i}/N{j}" for i, j in np.argwhere(edges)]
    items += [f"root/N{j}" for j in range(n) if not edges[:, j].any()]
    rng.shuffle(items)
    chosen = rng.random((20, n)) < 0.15
    classes = ["@".join(f"N{j}" for j in np.flatnonzero(row)) or "?" for row in chosen]
    path = clus_file(tmp_path / "g.arff", items, classes)
    reaches = np.linalg.matrix_power(np.eye(n, dtype=int) + edges, n) > 0
    for ancestors, expected in ((True, chosen @ reaches.T), (False, chosen)):
        data = read(path, ancestors=ancestors)
        order = [int(name[1:]) for name in data.label_names]
        np.testing.assert_array_equal(data.Y.toarray(), expected[:, order])


# --- index:value text ---------------------------------------------------------------------------


def random_dataset(rng, *, n=40, p=30, d=12, names=True, dtype=np.float32) -> Dataset:
    X = sparse.random_array((n, p), density=0.1, rng=rng, format="csr", dtype=np.float32)
    X.data -= np.float32(0.5)
    if dtype == np.uint8:
        X = sparse.csr_array((np.ones(X.nnz, np.uint8), X.indices, X.indptr), shape=X.shape)
    Y = sparse.random_array((n, d), density=0.15, rng=rng, format="csr")
    Y = sparse.csr_array((np.ones(Y.nnz, np.uint8), Y.indices, Y.indptr), shape=Y.shape)
    for matrix in (X, Y):
        matrix.sort_indices()
    order = rng.permutation(n)
    return Dataset(
        name="random",
        X=X,
        Y=Y,
        feature_names=np.array([f"f {at}, 'x'\\" for at in range(p)]) if names else None,
        label_names=np.array([f"l{at}" for at in range(d)]) if names else None,
        splits={"train": np.sort(order[:30]), "test": np.sort(order[30:])},
    )


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path, seed, zero_based):
    data = random_dataset(np.random.default_rng(seed))
    path = tmp_path / "theirs.svm"
    dump_svmlight_file(
        data.X, data.Y, str(path), multilabel=True, zero_based=zero_based, comment="by them"
    )
    ours = read_svmlight(
        path, zero_based=zero_based, zero_based_labels=True, n_features=30, n_labels=12
    )
    # Rows without labels and features read as blank lines, for them and for us.
    X, labels = load_svmlight_file(str(path), multilabel=True, zero_based=zero_based, n_features=30)
    assert same_matrix(ours.X, X.astype(np.float32))
    assert [tuple(row.indices) for row in (ours.Y[[i]] for i in range(len(labels)))] == labels


def test_svmlight_numbers_start_from_one_where_no_zero_occurs(tmp_path):
    from_one = read(save(tmp_path / "one.svm", "# c\n1,3 2:0.5 1:1 # tail\n\n 2:1\n"))
    np.testing.assert_array_equal(from_one.X.toarray(), [[1, 0.5], [0, 1]])
    np.testing.assert_array_equal(from_one.Y.toarray(), [[1, 0, 1], [0, 0, 0]])
    assert from_one.label_names.tolist() == ["1", "2", "3"]
    from_zero = read(save(tmp_path / "zero.svm", "0, 2 2:0.5\n"))
    np.testing.assert_array_equal(from_zero.Y.toarray(), [[1, 0, 1]])
    np.testing.assert_array_equal(from_zero.X.toarray(), [[0, 0.5]])
    assert from_zero.label_names is None


def test_repository_text_has_its_counts_and_its_split_beside_it(tmp_path):
    path = save(tmp_path / "Tiny_data.txt", "3 4 5\n0,4 0:1 3:0.25\n 1:1\n2\n")
    data = read(path)
    np.testing.assert_array_equal(data.X.toarray(), [[1, 0, 0, 0.25], [0, 1, 0, 0], [0] * 4])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0, 0, 0, 1], [0] * 5, [0, 0, 1, 0, 0]])
    assert data.name == "Tiny"
    assert data.splits == {}
    train = save(tmp_path / "tiny_trSplit.txt", "1 3\n3 2\n")
    test = save(tmp_path / "tiny_tstSplit.txt", "2 1\n")
    for options in ({}, {"train_split": train, "test_split": test}):
        splits = read_xc(path, **options).splits
        assert {part: rows.tolist() for part, rows in splits.items()} == {
            "train": [0, 2],
            "test": [1],
        }
    assert read(path, split=1).splits["train"].tolist() == [2, 1]


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("name", ["d.arff", "d_data.txt", "d.svm", "d.npz"])
def test_what_is_written_is_read_back(tmp_path, name, dtype, seed, packing):
    data = random_dataset(np.random.default_rng(seed), dtype=dtype)
    path = tmp_path / (name + (packing if name != "d.npz" else ""))
    write(data, path)
    back = read(path)
    for part in ("X", "Y"):
        assert same_matrix(getattr(back, part), getattr(data, part))
        assert getattr(back, part).dtype == getattr(data, part).dtype
    if name in ("d.arff", "d.npz"):
        assert back.feature_names.tolist() == data.feature_names.tolist()
        assert back.label_names.tolist() == data.label_names.tolist()
    if name in ("d_data.txt", "d.npz"):
        assert {k: v.tolist() for k, v in back.splits.items()} == {
            k: v.tolist() for k, v in data.splits.items()
        }
    if packing and name != "d.npz":
        assert PACKERS[packing](b"")[:2] == path.read_bytes()[:2]
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_missing_values_are_written_where_the_format_has_them(tmp_path):
    data = random_dataset(np.random.default_rng(0), names=False)
    data.X.data[::3] = np.nan
    write_arff(data, tmp_path / "d.arff")
    back = read(tmp_path / "d.arff")
    assert same_matrix(back.X, data.X)
    assert back.feature_names[0] == "feature0"
    with pytest.raises(ValueError, match="X has missing values, which svmlight files cannot hold"):
        write_svmlight(data, tmp_path / "d.svm")
    assert [path.name for path in tmp_path.iterdir()] == ["d.arff"]


def test_a_name_that_says_no_format_is_refused(tmp_path):
    data = random_dataset(np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"must end in \.npz.*; got 'd\.dat'"):
        write(data, tmp_path / "d.dat")
    write(data, tmp_path / "d.dat", format="svmlight")
    assert same_matrix(read(tmp_path / "d.dat").X, data.X)
    with pytest.raises(ValueError, match=r"format must be one of .*; got 'csv'"):
        read(tmp_path / "d.dat", format="csv")
    with pytest.raises(ValueError, match="format 'svmlight' have no option 'ancestors'"):
        read(tmp_path / "d.dat", ancestors=True)


@pytest.mark.parametrize("packing", PACKERS)
def test_compression_is_told_by_the_bytes_not_by_the_name(tmp_path, packing):
    path = tmp_path / "small.data"
    path.write_bytes(PACKERS[packing](b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode()))
    assert read(path, labels=1).X.shape == (2, 3)


# --- the real files -----------------------------------------------------------------------------


def original(name: str) -> Path:
    path = Path(os.environ.get("SKETCHFOREST_DATA", ".")) / "original" / name
    if not path.exists():
        pytest.skip(f"{name} is not here; set SKETCHFOREST_DATA to the folder that holds original/")
    return path


@pytest.mark.parametrize(
    ("file", "name", "part", "options"),
    [
        ("mulan/delicious-test.arff.xz", "delicious", "test", {}),
        ("mulan/emotions-train.arff.xz", "emotions", "train", {}),
        ("mulan/genbase-test.arff.xz", "genbase", "test", {"drop": ["protein"]}),
        ("mulan/medical-test.arff.xz", "medical", "test", {}),
        ("meka/emotions-train.arff.xz", "emotions", "train", {}),
        ("clus/Diatoms_test.arff.xz", "diatoms-398", "test", {}),
        ("clus/Enron_corr_test.arff.xz", "enron-hierarchical", "test", {}),
    ],
)
def test_real_files_hold_the_rows_of_their_archives(file, name, part, options):
    data = read(original(file), **options)
    archive = load(name)
    rows = archive.splits[part]
    assert same_matrix(data.X, archive.X[rows])
    assert same_matrix(data.Y, archive.Y[rows])
    assert data.feature_names.tolist() == archive.feature_names.tolist()
    assert data.label_names.tolist() == archive.label_names.tolist()


def test_expression_go_has_its_annotated_terms_and_its_missing_values():
    data = read(original("clus/expr_GO.valid.arff.xz"), ancestors=False)
    archive = load("Expression-GO")
    rows = archive.splits["train"][1636:]  # the rows before are of another file
    assert same_matrix(data.X, archive.X[rows])
    columns = {name: at for at, name in enumerate(data.label_names)}
    order = [columns[name] for name in archive.label_names]
    assert same_matrix(data.Y[:, order], archive.Y[rows])
    assert data.Y.shape[1] == 4131


@pytest.mark.parametrize(
    ("file", "name"), [("xc/Bibtex_data.txt.xz", "bibtex"), ("meka/Enron.arff.xz", "enron")]
)
def test_real_files_in_another_order_hold_the_same_rows(file, name):
    def rows(data):
        whole = sparse.hstack([data.X, data.Y], format="csr")
        return sorted(map(bytes, np.split(whole.indices, whole.indptr[1:-1])))

    data, archive = read(original(file)), load(name)
    assert np.all(data.X.data == 1)
    assert rows(data) == rows(archive)
    if name == "bibtex":
        assert sorted(np.concatenate(list(data.splits.values()))) == list(range(7395))


def test_columns_are_found_by_name_in_one_pass(tmp_path):
    """A hundred thousand of them; compared with each other, they took minutes."""
    names = [f"column {i}" for i in range(100_000)]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names))
    table = open_table(tmp_path / "wide.csv", "csv")
    table.require(reversed(names))
    with pytest.raises(ValueError, match="there is no column 'column'"):
        table.require([*names, "column"])

"""A small file of every format."""

import csv

import numpy as np
import pytest

from sketchforest.datasets import Dataset, make_multilabel, write, write_table

DATA = make_multilabel(60, 12, 8, labels_per_row=2, features_per_row=5, random_state=0)
NAMED = Dataset(
    "small",
    DATA.X,
    DATA.Y,
    feature_names=np.array([f"feature {i}" for i in range(12)]),
    label_names=np.array([f"tag {i}" for i in range(8)]),
)


def mulan_file(folder):
    write(NAMED, folder / "data.arff")
    text = (folder / "data.arff").read_text().splitlines()
    text[0] = "@relation data"  # without MEKA's number of labels
    (folder / "data.arff").write_text("\n".join(text) + "\n")
    labels = "".join(f'<label name="{name}"></label>' for name in NAMED.label_names)
    xml = f'<labels xmlns="http://mulan.sourceforge.net/labels">{labels}</labels>'
    (folder / "data.xml").write_text(xml)
    return folder / "data.arff"


def clus_file(folder):
    lines = ["@relation data", *(f"@attribute f{i} numeric" for i in range(12))]
    lines += ["@attribute class hierarchical a/b,a/c,d,d/e", "@data"]
    for row, x in enumerate(DATA.X.toarray()):
        lines.append(",".join(map(str, x.tolist())) + "," + ("a/b@d", "a/c", "d/e")[row % 3])
    (folder / "data.arff").write_text("\n".join(lines) + "\n")
    return folder / "data.arff"


def label_columns_file(folder):
    header = [*NAMED.feature_names, *NAMED.label_names, "id"]
    rows = np.hstack([DATA.X.toarray(), DATA.Y.toarray(), np.zeros((60, 1))])
    with (folder / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows.tolist()])
    return folder / "data.csv"


def table_file(name, delimiter=","):
    def write_it(folder):
        write_table(NAMED, folder / name, delimiter)
        return folder / name

    return write_it


def parquet_file(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    tags = [NAMED.label_names[row.indices].tolist() for row in (DATA.Y[[i]] for i in range(60))]
    columns = dict(zip(NAMED.feature_names.tolist(), DATA.X.toarray().T, strict=True))
    parquet.write_table(pyarrow.table(columns | {"tags": tags}), folder / "data.parquet")
    return folder / "data.parquet"


def written(name):
    def write_it(folder):
        write(NAMED, folder / name)
        return folder / name

    return write_it


TAGS = ("--tags-column", "tags")
LABELS = ("--label-columns", ",".join(NAMED.label_names), "--ignore-columns", "id")
FILES = {
    "csv": (table_file("data.csv"), TAGS),
    "packed csv": (table_file("data.csv.gz"), TAGS),
    "tsv": (table_file("data.tsv", "\t"), TAGS),
    "label columns": (label_columns_file, LABELS),
    "parquet": (parquet_file, TAGS),
    "mulan": (mulan_file, ()),
    "meka": (written("data.arff"), ()),
    "clus": (clus_file, ()),
    "xc": (written("data.txt"), ()),
    "svmlight": (written("data.svm"), ()),
    "packed svmlight": (written("data.svm.xz"), ()),
    "npz": (written("data.npz"), ()),
}
QUICK = ("--n-estimators", "5", "--n-jobs", "1")

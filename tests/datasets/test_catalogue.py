"""The catalogue says what is true of the data, and finds or fetches them."""

import csv
import hashlib
import json
import os
import re
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sketchforest.cli import app
from sketchforest.datasets import (
    catalogue,
    describe,
    list_datasets,
    load,
    make_multilabel,
    read,
    write,
)
from sketchforest.datasets.catalogue import DatasetInfo, SourceFile, data_folders, how_to_get

TRAIN = "@relation t\n@attribute f numeric\n@attribute g {a,b,c}\n@attribute l {0,1}\n@data\n"
XML = "<labels><label name='l'/></labels>"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """No folder but those of the test, unless it asks for the real data."""
    real = os.environ.get("SKETCHFOREST_DATA")
    monkeypatch.delenv("SKETCHFOREST_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    return Path(real) if real else None


def test_the_catalogue_has_the_papers_sets_in_the_order_of_its_table():
    papers = [info.paper for info in catalogue().values() if info.paper]
    assert len(papers) == 24
    assert [paper.n_labels for paper in papers] == sorted(paper.n_labels for paper in papers)
    assert list(catalogue())[:24] == [name for name, info in catalogue().items() if info.paper]


@pytest.mark.parametrize("name", catalogue())
def test_entries_are_consistent(name):
    info = describe(name)
    if info.n_train is not None:
        assert info.n_train + info.n_test == info.n_samples
    assert info.cardinality is None or 1 <= info.cardinality <= info.n_labels
    assert info.citation
    for file in info.files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.url.startswith("https://")
        assert file.name.startswith(name)


def test_the_figures_are_those_of_the_real_data(home):
    here = [name for name in list_datasets(home) if name in catalogue()] if home else []
    if not here:
        pytest.skip("SKETCHFOREST_DATA names no folder of data sets")
    for name in here:
        data, info = load(name, home), describe(name)
        assert data.X.shape == (info.n_samples, info.n_features)
        assert data.Y.shape[1] == info.n_labels
        assert data.Y.nnz / info.n_samples == pytest.approx(info.cardinality, abs=1e-4)
        assert data.X.nnz / np.prod(data.X.shape) == pytest.approx(info.x_density, abs=1e-6)
        if info.n_train is not None:
            assert [len(data.splits[p]) for p in ("train", "test")] == [info.n_train, info.n_test]


@pytest.mark.parametrize("name", ["emotions", "medical"])
def test_training_and_test_files_make_the_data_set(home, name):
    folder = home / "original" / "mulan" if home else None
    if folder is None or not folder.is_dir():
        pytest.skip("SKETCHFOREST_DATA names no folder with original/mulan")
    data, archive = load(name, folder), load(name, home)
    for part in ("train", "test"):
        rows, expected = data.splits[part], archive.splits[part]
        assert (data.X[rows] != archive.X[expected]).nnz == 0
        assert (data.Y[rows] != archive.Y[expected]).nnz == 0
    assert data.name == name


def test_files_are_found_beside_each_other_or_in_a_folder_of_their_name(tmp_path):
    for folder in (tmp_path / "flat", tmp_path / "deep" / "emotions"):
        folder.mkdir(parents=True)
        (folder / "emotions-train.arff").write_text(TRAIN + "1,a,1\n2,b,0\n")
        assert "emotions" not in list_datasets(tmp_path / folder.relative_to(tmp_path).parts[0])
        (folder / "emotions-test.arff").write_text(TRAIN + "3,c,1\n")
        (folder / "emotions.xml").write_text(XML)
    for home in ("flat", "deep"):
        assert list_datasets(tmp_path / home) == ["emotions"]
        data = load("emotions", tmp_path / home)
        np.testing.assert_array_equal(data.X.toarray(), [[1, 1, 0, 0], [2, 0, 1, 0], [3, 0, 0, 1]])
        assert {k: v.tolist() for k, v in data.splits.items()} == {"train": [0, 1], "test": [2]}
    (folder / "emotions-test.arff").write_text(TRAIN.replace("{a,b,c}", "{a,c,b}") + "3,c,1\n")
    with pytest.raises(ValueError, match=r"its feature_names differ from those of emotions-train"):
        load("emotions", tmp_path / "deep")


@pytest.mark.parametrize("folder", [".", "mybib"])
@pytest.mark.parametrize("names", [("mybib-train.txt", "mybib-test.txt"), ("mybib.svm",)])
def test_every_data_set_that_can_be_loaded_is_listed(tmp_path, folder, names):
    data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    (tmp_path / folder).mkdir(exist_ok=True)
    for name in names:
        write(data, tmp_path / folder / name)
    (tmp_path / folder / "notes.txt").write_text("Made by hand.\n")
    assert list_datasets(tmp_path) == ["mybib"]
    assert load("mybib", tmp_path).X.shape == (20 * len(names), 10)


def test_the_sets_of_the_accuracy_table_have_a_source():
    table = Path(__file__).parents[2] / "docs" / "accuracy-100-trees.csv"
    with table.open() as file:
        names = {row["dataset"] for row in csv.DictReader(file)}
    assert len(names) > 20
    for name in names:
        assert describe(name).homepage.startswith("http")


def test_an_archive_keeps_the_hierarchy_of_the_labels(tmp_path):
    lines = ["@relation genes", "@attribute x numeric", "@attribute class hierarchical a,a/b,a/b/c"]
    (tmp_path / "genes.arff").write_text("\n".join([*lines, "@data", "1.5,a/b"]) + "\n")
    data = load("genes", tmp_path)
    assert data.ontology.parents == ((), (0,), (1,))
    write(data, tmp_path / "again.npz")
    again = load("again", tmp_path)
    assert again.ontology.parents == data.ontology.parents
    assert again.ontology.names.tolist() == ["a", "a/b", "a/b/c"]
    arrays = dict(np.load(tmp_path / "again.npz"))
    for edges, said in (([[0, 3]], "pairs of node numbers"), ([[0, 1], [1, 0]], "is not valid")):
        np.savez(tmp_path / "bad.npz", **{**arrays, "hierarchy_edges": np.array(edges)})
        with pytest.raises(ValueError, match=said):
            load("bad", tmp_path)


def test_hierarchical_sets_come_with_their_hierarchy(home):
    if home is None or "enron-hierarchical" not in list_datasets(home):
        pytest.skip("SKETCHFOREST_DATA names no folder with enron-hierarchical")
    data = load("enron-hierarchical", home)
    assert data.ontology.n_labels == data.Y.shape[1]
    assert data.ontology.depths.max() == 3


def test_the_folder_in_the_home_directory_is_the_last_resort(tmp_path, monkeypatch):
    monkeypatch.setenv("SKETCHFOREST_DATA", str(tmp_path / "env"))
    assert data_folders(tmp_path / "arg") == [
        tmp_path / "arg",
        tmp_path / "env",
        tmp_path / "nobody" / "sketchforest_data",
    ]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("bibtex", r"download=True.*put bibtex-train\.arff, .*bibtex\.xml into '.*here/bibtex'"),
        ("bookmarks", r"get it from http://mulan.*, and put bookmarks\.arff, .* into '.*here'"),
        ("Wiki10-31K", r"XMLRepository\.html, and put Wiki10-31K-train\.txt, .*-test\.txt"),
        ("WIPO", r"To use it, put WIPO\.npz into '.*here'"),
        ("mine", r"put mine\.npz, .* data_home .* SKETCHFOREST_DATA"),
    ],
)
def test_a_missing_data_set_says_which_file_to_put_where(tmp_path, name, pattern):
    with pytest.raises(FileNotFoundError, match=pattern):
        load(name, tmp_path / "here")
    assert how_to_get(name, tmp_path / "here").endswith(".")


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A data set of three files on a server of this machine, entered as 'tiny'."""
    folder = tmp_path / "served"
    folder.mkdir()
    contents = {"a.arff": TRAIN + "1,a,1\n", "b.arff": TRAIN + "2,b,0\n", "c.xml": XML}
    for name, text in contents.items():
        (folder / name).write_text(text)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            requests.append(self.path)

    requests: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    info = DatasetInfo(
        "tiny",
        2,
        1,
        1,
        4,
        1,
        0.5,
        None,
        "nobody",
        files=tuple(
            SourceFile(
                local,
                f"http://127.0.0.1:{server.server_port}/{name}",
                hashlib.sha256(text.encode()).hexdigest(),
            )
            for (name, text), local in zip(
                contents.items(), ["tiny-train.arff", "tiny-test.arff", "tiny.xml"], strict=True
            )
        ),
    )
    monkeypatch.setitem(catalogue(), "tiny", info)
    yield folder, requests
    server.shutdown()
    server.server_close()


def test_a_download_happens_only_when_asked_and_once(tmp_path, served):
    _, requests = served
    with pytest.raises(FileNotFoundError, match="download=True"):
        load("tiny", tmp_path / "home")
    assert requests == []
    (tmp_path / "other").mkdir()
    data = load("tiny", tmp_path / "home", download=True)
    assert data.X.shape == (2, 4)
    assert data.splits["test"].tolist() == [1]
    assert len(requests) == 3
    assert load("tiny", tmp_path / "home", download=True).name == "tiny"
    assert load("tiny", tmp_path / "home").name == "tiny"
    write(data, tmp_path / "other" / "tiny.npz")
    assert load("tiny", tmp_path / "other", download=True).name == "tiny"
    assert len(requests) == 3
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["tiny.npz"]
    assert sorted(path.name for path in (tmp_path / "home" / "tiny").iterdir()) == [
        "tiny-test.arff",
        "tiny-train.arff",
        "tiny.xml",
    ]


def test_a_file_of_another_sum_is_not_kept(tmp_path, served):
    folder, _ = served
    (folder / "a.arff").write_text(TRAIN + "9,a,1\n")
    with pytest.raises(ValueError, match=r"a\.arff has changed .* nothing was kep"):
        load("tiny", tmp_path / "home", download=True)
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []


def test_a_download_that_fails_says_where_the_file_goes(tmp_path, served):
    folder, _ = served
    (folder / "b.arff").unlink()
    with pytest.raises(OSError, match=r"b\.arff could not .* save it as '.*tiny/tiny-test\.arff'"):
        load("tiny", tmp_path / "home", download=True)


def test_without_pooch_the_extra_is_named(tmp_path, served, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"sketchforest\[data\]"):
        load("tiny", tmp_path / "home", download=True)


def test_the_command_lists_all_and_shows_one(tmp_path):
    run = partial(CliRunner().invoke, app)
    listed = run(["datasets", "--data-home", str(tmp_path)])
    assert listed.exit_code == 0
    assert all(name in listed.output for name in catalogue())
    assert f"0 of {len(catalogue())} data sets are on this machine" in listed.output
    rows = json.loads(run(["datasets", "--json"]).output)
    assert [row["name"] for row in rows] == list(catalogue())
    shown = run(["datasets", "bibtex", "--data-home", str(tmp_path)]).output
    for part in ("7,395 (4,880 for training, 2,515 for testing)", "2.402", "Katakis", "bibtex.xml"):
        assert part in shown
    assert f"into '{tmp_path / 'bibtex'}'." in shown
    assert json.loads(run(["datasets", "WIPO", "--json"]).output)["here"] == []
    assert run(["datasets", "--download"]).exit_code == 2


def test_the_command_downloads(tmp_path, served):
    done = CliRunner().invoke(
        app, ["datasets", "tiny", "--download", "--data-home", str(tmp_path), "--json"]
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["here"] == [
        str(tmp_path / "tiny" / f"tiny-{part}.arff") for part in ("train", "test")
    ]
    assert read(tmp_path / "tiny" / "tiny-train.arff").X.shape == (1, 4)

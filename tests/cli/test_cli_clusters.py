"""Trainings that take long: on a cluster, and killed on the way."""

import pytest
import reference
from data_files import FILES, QUICK

from sketchforest import SketchForestClassifier, load_forest
from sketchforest.datasets import make_multilabel, write


@pytest.fixture
def trained(command, tmp_path):
    """Trains on a file by some options; the model, and what was said."""
    file = tmp_path / "rows.npz"
    write(make_multilabel(60, 12, 8, labels_per_row=2, features_per_row=5), file)

    def train(*options):
        code, out, err = command("train", file, "--out", tmp_path / "model.sf", *QUICK, *options)
        assert code == 0, err
        return load_forest(tmp_path / "model.sf", mmap=False), out + err

    return train


@pytest.mark.slow
def test_processes_of_this_machine_train_the_same_model(trained, tmp_path):
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    plain, _ = trained()
    ours, _ = trained("--workers", 2)
    reference.assert_same_forest(ours, plain)
    assert "workers" not in (tmp_path / "model.sf.toml").read_text()


def test_a_cluster_trains_the_same_model(trained):
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    plain, _ = trained()
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        ours, _ = trained("--dask", cluster.scheduler_address)
    reference.assert_same_forest(ours, plain)


def test_a_killed_training_resumes(trained, tmp_path, monkeypatch):
    folder = tmp_path / "checkpoint"
    alone = ("--linear", 0, "--label-correlations", "false")  # whose weights need more trees
    plain, _ = trained(*alone)
    commit = SketchForestClassifier._commit

    def killed(*arguments):
        raise OSError("killed")

    monkeypatch.setattr(SketchForestClassifier, "_commit", killed)
    with pytest.raises(AssertionError, match="killed"):
        trained("--checkpoint", folder, *alone)
    assert len(list(folder.glob("*.tree"))) == 5
    monkeypatch.setattr(SketchForestClassifier, "_commit", commit)
    monkeypatch.setattr("sketchforest._trees.grow.grow_one", killed)  # not asked for any more
    ours, _ = trained("--checkpoint", folder, *alone)
    reference.assert_same_forest(ours, plain)
    assert not folder.exists()


def test_conflicting_cluster_options_are_refused(command, tmp_path):
    file = FILES["npz"][0](tmp_path)
    for options, message in (
        (("--dask", "tcp://127.0.0.1:9", "--workers", 2), "cannot be used together"),
        (("--workers", 2, "--tune"), "--checkpoint cannot be used"),
        (
            ("--checkpoint", tmp_path / "c", "--forest", "decision-tree"),
            "--checkpoint: is for forests",
        ),
        (("--workers", 0), "Invalid value for '--workers'"),
    ):
        code, _, err = command("train", file, "--out", tmp_path / "m.sf", "-q", *options)
        assert code == 2, err
        assert message in " ".join(err.split())
    assert not (tmp_path / "m.sf").exists()


def test_a_scheduler_that_does_not_answer_is_an_error(command, tmp_path):
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    file = FILES["npz"][0](tmp_path)
    code, _, err = command("train", file, "--out", tmp_path / "m.sf", "--dask", "nowhere")
    assert code == 2
    assert "must be the address of a running scheduler" in " ".join(err.split())

"""Checkpoints of processes that are killed, and of two fits in one folder."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import reference
from checkpoint_data import FORESTS
from sklearn.base import clone

from sketchforest import load_forest
from sketchforest._trees import grow as growing


def test_a_second_fit_in_the_folder_is_refused_and_the_first_goes_on(XY, monkeypatch, tmp_path):
    """Of a thread of this process, and of another one."""
    folder, grow_one = tmp_path / "checkpoint", growing.grow_one
    forest = clone(FORESTS["random forest"]).set_params(n_jobs=1)
    inside, may_end = threading.Event(), threading.Event()

    def waiting(*arguments):
        inside.set()
        assert may_end.wait(60)
        return grow_one(*arguments)

    monkeypatch.setattr(growing, "grow_one", waiting)
    first = threading.Thread(target=forest.fit, args=XY, kwargs={"checkpoint_dir": folder})
    first.start()
    try:
        assert inside.wait(60)
        with pytest.raises(ValueError, match="must not be in use by another fit") as error:
            clone(forest).fit(*XY, checkpoint_dir=folder)
        assert f"'{folder}'" in str(error.value)
        arguments = [str(folder), "4", str(tmp_path / "model.sf")]
        other = subprocess.run(
            [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False
        )
        assert "must not be in use by another fit" in other.stderr
    finally:
        may_end.set()
        first.join()
    monkeypatch.undo()
    assert not folder.exists()
    reference.assert_same_forest(forest, clone(forest).fit(*XY))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the platform has no SIGKILL")
def test_the_lock_of_a_killed_fit_is_free(XY, tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from sketchforest._saving.checkpoint import only_fit_in\n"
        "with only_fit_in(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    folder = tmp_path / "checkpoint"
    subprocess.run([sys.executable, "-c", code, folder], check=False)
    assert [path.name for path in folder.iterdir()] == ["checkpoint.lock"]
    clone(FORESTS["random forest"]).fit(*XY, checkpoint_dir=folder)
    assert not folder.exists()


SCRIPT = textwrap.dedent(
    """
    import sys
    import numpy as np
    from sketchforest import SketchForestClassifier
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    Y = (X[:, :20] + rng.normal(size=(400, 20)) > 1).astype(np.uint8)
    forest = SketchForestClassifier(int(sys.argv[2]), n_jobs=2, random_state=0)
    print("begins", flush=True)
    forest.fit(X, Y, checkpoint_dir=sys.argv[1])
    forest.save(sys.argv[3])
    """
)


def kill_until_done(folder, n_trees, n_kills, moments):
    """Fits in a process that is killed so many times, and then is not; which of them hit a fit
    that had finished trees."""
    hits = 0
    for kill in range(n_kills + 1):
        arguments = [str(folder / "checkpoint"), str(n_trees), str(folder / "model.sf")]
        with subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *arguments], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout.readline() == b"begins\n"
            if kill < n_kills:
                time.sleep(next(moments))
                os.kill(process.pid, signal.SIGKILL)
        if kill < n_kills and process.returncode == 0:
            break  # it was faster
        hits += kill < n_kills and bool(list((folder / "checkpoint").glob("*.tree")))
    assert process.returncode == 0
    assert not (folder / "checkpoint").exists()
    return hits


def fitted_at_once(folder, n_trees):
    arguments = [str(folder / "once"), str(n_trees), str(folder / "once.sf")]
    subprocess.run([sys.executable, "-c", SCRIPT, *arguments], check=True, stdout=subprocess.PIPE)
    return load_forest(folder / "once.sf")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the platform has no SIGKILL")
def test_kill_9_three_times(tmp_path):
    moments = iter([0.2, 0.35, 0.15])
    hits = kill_until_done(tmp_path, 300, 3, moments)
    assert hits > 0
    reference.assert_same_forest(load_forest(tmp_path / "model.sf"), fitted_at_once(tmp_path, 300))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the platform has no SIGKILL")
def test_kill_9_fifty_times(tmp_path):
    draw = random.Random(0)
    expected, kills, n_fits = fitted_at_once(tmp_path, 400), 0, 0
    while kills < 50:
        folder = tmp_path / str(n_fits)
        folder.mkdir()
        kills += kill_until_done(folder, 400, 5, iter(lambda: draw.uniform(0, 0.5), None))
        reference.assert_same_forest(load_forest(folder / "model.sf"), expected)
        n_fits += 1

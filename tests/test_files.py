"""What is written is there as a whole or not at all, and nothing else changes."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sketchforest import DecisionTreeRegressor, load_forest
from sketchforest._files import written_whole


def write(path, text):
    with written_whole(path) as draft:
        draft.write_text(text)


def test_a_device_is_written_to_and_stays_one(tmp_path):
    before = os.stat(os.devnull)
    write(os.devnull, "nothing")
    after = os.stat(os.devnull)
    assert stat.S_ISCHR(after.st_mode)
    assert (before.st_ino, before.st_rdev) == (after.st_ino, after.st_rdev)


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write(pipe, "through")
    reader.join()
    assert received == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_one_and_leads_to_what_was_written(tmp_path):
    (tmp_path / "folder").mkdir()
    link, target = tmp_path / "link", tmp_path / "folder" / "model.sf"
    link.symlink_to(target)
    for text in ("first", "second"):  # to nothing, and to a file
        write(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["folder", "link", "model.sf"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_the_mode_of_a_file_is_kept(mode, tmp_path):
    path = tmp_path / "model.sf"
    write(path, "first")
    path.chmod(mode)
    write(path, "second")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "second"


def test_a_new_file_has_the_mode_that_files_have(tmp_path):
    write(tmp_path / "ours", "")
    (tmp_path / "theirs").write_text("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode


KILLED = """
import os, signal, sys
from sketchforest._files import written_whole
with written_whole(sys.argv[1]) as draft:
    draft.write_text("half")
    print(flush=True)
    os.kill(os.getpid(), signal.SIGKILL) if sys.argv[2] == "kill" else sys.stdin.read()
"""


def test_drafts_of_killed_processes_are_swept_and_those_of_others_are_not(tmp_path):
    path = tmp_path / "model.sf"
    write(path, "old")
    command = [sys.executable, "-c", KILLED, path]
    for _ in range(3):
        killed = subprocess.run([*command, "kill"], stdout=subprocess.DEVNULL, check=False)
        assert killed.returncode == -signal.SIGKILL
        assert path.read_text() == "old"
    slow = subprocess.Popen([*command, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    slow.stdout.readline()
    write(tmp_path / "model.sf.other", "a name that begins alike")
    write(path, "new")
    assert path.read_text() == "new"
    assert len([p for p in tmp_path.iterdir() if p.name.endswith(".draft")]) == 1
    slow.communicate()
    assert slow.returncode == 0
    assert path.read_text() == "half"  # the last one that was whole
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.sf", "model.sf.other"]


def test_a_full_disk_is_told_with_the_name_of_the_file():
    tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [3.0, 4.0])
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        tree.save("/dev/full")


def test_a_file_that_may_not_grow_is_told_with_its_name_and_leaves_the_old_one(tmp_path):
    path = tmp_path / "model.sf"
    DecisionTreeRegressor().fit([[0.0], [1.0]], [3.0, 4.0]).save(path)
    code = (
        "import resource, signal, sys, numpy as np\n"
        "from sketchforest import RandomForestRegressor\n"
        "forest = RandomForestRegressor(9).fit(np.random.rand(99, 3), np.random.rand(99))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "forest.save(sys.argv[1])\n"
    )
    told = subprocess.run([sys.executable, "-c", code, path], stderr=subprocess.PIPE, text=True)
    assert f"File too large: '{path}'" in told.stderr.splitlines()[-1]
    assert load_forest(path).predict([[0.9]]) == 4.0
    assert [p.name for p in tmp_path.iterdir()] == ["model.sf"]


def test_errors_of_the_caller_are_not_taken_for_those_of_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), written_whole(tmp_path / "a"):
        Path("elsewhere").read_text()
    assert not list(tmp_path.iterdir())

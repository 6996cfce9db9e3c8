"""What is written is there as a whole or not at all, and nothing else changes."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sketchforest import DecisionTreeRegressor, load_forest
from sketchforest._utils.files import held, make_folder, written_whole


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
from sketchforest._utils.files import written_whole
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


@pytest.fixture
def synced(monkeypatch):
    """What was put on the disk, and what was renamed, in order: the name of each."""
    order, fsync, replace = [], os.fsync, Path.replace

    def noted_fsync(descriptor):
        order.append(("on the disk", Path(os.readlink(f"/proc/self/fd/{descriptor}"))))
        fsync(descriptor)

    def noted_replace(draft, target):
        order.append(("renamed", Path(target)))
        return replace(draft, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    return order


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="names of open files are not known")
def test_a_file_is_on_the_disk_before_its_name_and_the_name_before_the_end(synced, tmp_path):
    write(tmp_path / "model.sf", "text")
    (first, content), renamed, last = synced
    assert (first, content.name) == ("on the disk", "model.sf")
    assert content.parent != tmp_path
    assert renamed == ("renamed", tmp_path / "model.sf")
    assert last == ("on the disk", tmp_path)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="names of open files are not known")
def test_folders_that_are_made_are_on_the_disk_in_those_that_hold_them(synced, tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert {path for _, path in synced} == {tmp_path, tmp_path / "a"}


def test_a_folder_that_cannot_be_synced_is_no_error_and_a_broken_disk_is(monkeypatch, tmp_path):
    def fails_with(number):
        def fsync(descriptor):
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                raise OSError(number, os.strerror(number))

        return fsync

    monkeypatch.setattr(os, "fsync", fails_with(22))
    write(tmp_path / "model.sf", "first")
    monkeypatch.setattr(os, "fsync", fails_with(5))
    with pytest.raises(OSError, match=r"Input/output error: .*model\.sf"):
        write(tmp_path / "model.sf", "second")


KILLED_AT = """
import os, signal, sys
from pathlib import Path
from sketchforest._utils.files import written_whole
moments = 0
def dies_at(call):
    def wrapped(*arguments):
        global moments
        for do in (lambda: None, lambda: call(*arguments)):
            if moments == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
            moments += 1
            found = do()
        return found
    return wrapped
os.fsync, Path.replace, Path.chmod = map(dies_at, (os.fsync, Path.replace, Path.chmod))
with written_whole(sys.argv[1]) as draft:
    draft.write_text("new, and longer")
"""


def test_a_kill_at_any_step_leaves_the_old_or_the_new_file(tmp_path):
    """At each step before and after it: syncs, the mode, the rename."""
    path, found = tmp_path / "model.sf", []
    for moment in range(9):
        write(path, "old")
        command = [sys.executable, "-c", KILLED_AT, path, str(moment)]
        killed = subprocess.run(command, check=False)
        found.append((killed.returncode, path.read_text()))
    assert {code for code, _ in found[:-1]} == {-signal.SIGKILL}
    assert found[-1][0] == 0
    texts = [text for _, text in found]
    assert texts == sorted(texts, reverse=True)
    assert set(texts) == {"old", "new, and longer"}
    write(path, "last")
    assert [p.name for p in tmp_path.iterdir()] == ["model.sf"]


def test_a_lock_of_somebody_who_reads_the_folder_is_not_waited_for(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    writer = threading.Thread(target=write, args=(tmp_path / "model.sf", "text"), daemon=True)
    try:
        writer.start()
        writer.join(timeout=20)
        assert not writer.is_alive()
    finally:
        os.close(descriptor)
    assert (tmp_path / "model.sf").read_text() == "text"


def test_many_who_write_to_one_file_do_not_sweep_each_others_drafts(tmp_path):
    path, errors = tmp_path / "model.sf", []

    def write_often(text):
        try:
            for _ in range(40):
                write(path, text)
        except Exception as error:
            errors.append(error)

    writers = [threading.Thread(target=write_often, args=(str(n) * 1000,)) for n in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not errors
    assert len(set(path.read_text())) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["model.sf"]


def test_what_is_held_is_held_once_and_by_its_owner(tmp_path):
    path = tmp_path / "new" / "lock"
    with held(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(BlockingIOError), held(path):
            pass
    assert not path.exists()
    with held(path):
        pass


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

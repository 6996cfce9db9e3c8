"""A sign of life: stages, lines where there is no terminal, bars where there is one."""

import io
import os
import pty
import subprocess
import sys
import time

import pytest
from rich.console import Console

from sketchforest._utils import progress
from sketchforest._utils.progress import Display, Stage, clock, stage, watched

ROWS = "text,tags\n" + "red fox,a;b\nred cat,b\n" * 20


@pytest.fixture
def now(monkeypatch):
    """The time, in seconds, which only the test moves."""
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    return clock


def test_time_left_goes_by_the_average_speed_and_counts_down_between_steps(now):
    part = Stage("trees", 10)
    assert part.seconds_left is None
    now[0] += 8
    part.advance(2)
    assert part.seconds_left == 32
    now[0] += 5  # no step was done: less is left, not more
    assert part.seconds_left == 27
    assert str(part) == "trees: 2 of 10, 0:13, 0:27 left"
    part.finish()
    now[0] += 50
    assert part.seconds_left is None
    assert part.seconds == 13


def test_a_stage_that_knows_its_end_shows_it(now):
    part = Stage("runs", 4)
    part.update(1)
    part.ends_at = now[0] + 3725
    assert str(part) == "runs: 1 of 4, 0:00, 1:02:05 left"


def test_a_file_is_shown_by_the_share_that_is_read(now):
    place = [0]
    part = Stage("reading", 200, lambda: place[0])
    now[0] += 3
    place[0] = 50
    part.poll()
    assert str(part) == "reading: 25%, 0:03, 0:09 left"


def test_clock():
    assert [clock(s) for s in (0.4, 59.6, 3599, 3600)] == ["0:00", "1:00", "59:59", "1:00:00"]


def test_bars_show_every_stage_once(now):
    display = Display({"reading": "predicting"})
    for _ in range(2):  # a file is opened twice: to know its format, and to read it
        part = Stage("reading", 10)
        display.add(part)
        now[0] += 2
        part.update(10)
        part.finish()
    trees = Stage("growing trees", 100)
    display.add(trees)
    now[0] += 4
    trees.update(20)
    screen = Console(file=io.StringIO(), width=80)
    screen.print(display.bars())
    first, second = screen.file.getvalue().splitlines()
    assert first.split()[0] == "predicting"
    assert "10 of 10" in first
    assert second.startswith("growing trees")
    assert second.rstrip().endswith("20 of 100 0:04 0:16 left")


def test_lines_are_printed_now_and_then_where_there_is_no_terminal(monkeypatch, capfd):
    monkeypatch.setattr(progress, "FIRST_LINE", 0.01)
    seen = ""
    with watched(), stage("outer"), stage("growing trees", 100) as trees:
        trees.update(35)
        for _ in range(1000):
            time.sleep(0.01)
            seen += capfd.readouterr().err
            if "\n" in seen:
                break
    assert seen.startswith("growing trees: 35 of 100, 0:00")


def test_nobody_watches_unless_asked(capfd):
    with stage("reading", 5) as part:
        assert list(part.over("abc")) == ["a", "b", "c"]
    assert part.done == 3
    assert capfd.readouterr() == ("", "")


def run_in_terminal(*arguments):
    """What a terminal shows on standard error, and the exit code."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "sketchforest", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        process.communicate()
    os.close(ours)
    return process.returncode, shown.decode()


@pytest.fixture
def training(tmp_path):
    """The model, the file, and the command that trains it."""
    file, model = tmp_path / "data.csv", tmp_path / "model.sf"
    file.write_text(ROWS)
    columns = ("--text-column", "text", "--tags-column", "tags", "--holdout", "0.2")
    return model, file, ("train", file, "-o", model, *columns, "--n-estimators", 10)


def test_a_terminal_shows_all_stages(training):
    model, file, train = training
    code, shown = run_in_terminal(*train)
    assert code == 0
    for name in ("reading", "words", "fitting", "growing trees", "testing"):
        assert name in shown
    assert "10 of 10" in shown
    code, shown = run_in_terminal("predict", model, file)
    assert code == 0
    assert "predicting" in shown


@pytest.mark.slow
def test_quiet_commands_show_nothing(training):
    model, file, train = training
    for command in (train, ("predict", model, file), ("evaluate", model, file)):
        assert run_in_terminal(*command, "--quiet") == (0, "")

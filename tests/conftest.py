"""Real data are read from the folder ``shared/data`` beside the checkout, where there is one."""

import io
import os
import signal
import sys
from pathlib import Path

import joblib
import pytest

beside = Path(__file__).parents[2] / "shared" / "data"
if beside.is_dir():
    os.environ.setdefault("SKETCHFOREST_DATA", str(beside))

# A shell that starts the suite in the background has it ignore Ctrl-C, which tests send themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Threads take turns so often that races show, and work that names no n_jobs has eight of them.
if interval := os.environ.get("SKETCHFOREST_SWITCH_INTERVAL"):
    sys.setswitchinterval(float(interval))

    @pytest.fixture(autouse=True)
    def many_threads():
        with joblib.parallel_config("threading", n_jobs=8):
            yield


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs `sketchforest` with arguments in this process: exit code, output, errors."""
    from sketchforest import cli

    def run(*arguments, stdin=""):
        monkeypatch.setattr(sys, "argv", ["sketchforest", *map(str, arguments)])
        raw = io.BufferedReader(io.BytesIO(stdin.encode()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw, encoding="utf-8"))
        with pytest.raises(SystemExit) as exit:
            cli.main()
        captured = capsys.readouterr()
        return exit.value.code or 0, captured.out, captured.err

    return run

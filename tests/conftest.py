"""Set up the whole test suite: real data, threads, Ctrl-C, and a fixture that runs commands."""

import copy
import io
import os
import signal
import sys
from pathlib import Path

# The matrices of the tests are too small to share between threads, and test processes that run
# side by side would fight for the cores. This must be set before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import joblib
import numpy as np
import pytest

# --doctest-modules confuses files of one name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

shared_data = Path(__file__).parents[2] / "shared" / "data"
if shared_data.is_dir():
    os.environ.setdefault("SKETCHFOREST_DATA", str(shared_data))

# A shell that starts the suite in the background makes it ignore Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Switch threads very often to expose races, and run jobs without n_jobs on eight threads.
if interval := os.environ.get("SKETCHFOREST_SWITCH_INTERVAL"):
    sys.setswitchinterval(float(interval))

    @pytest.fixture(autouse=True)
    def many_threads():
        with joblib.parallel_config("threading", n_jobs=8):
            yield


@pytest.fixture(autouse=True)
def same_draws(request, monkeypatch):
    """A test draws the same numbers, whichever tests of its module ran before."""
    module = getattr(request.node, "module", None)
    for name in ("RNG", "rng"):
        if isinstance(generator := getattr(module, name, None), np.random.Generator):
            monkeypatch.setattr(module, name, copy.deepcopy(generator))


@pytest.fixture
def command(monkeypatch, capsys):
    """Run `sketchforest` in this process; returns its exit code, output and errors."""
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

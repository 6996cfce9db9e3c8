"""Ctrl-C (or a kill) at moments that are drawn, while commands train, search, predict and serve.

    python tests/reliability/interrupted_commands.py --count 100
    python tests/reliability/interrupted_commands.py --count 100 --kill

A command ends with 130 (or by the signal, before Python takes it), or with 0 where it was done; it
prints no traceback; the model is whole; nothing but results is in the folder. What a killed command
leaves there is gone after the next one.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from interrupted import say

from sketchforest import load_forest

COLUMNS = ("--text-column", "text", "--tags-column", "tags")
COMMANDS = {
    "train": ("train", "rows.csv", *COLUMNS, "--out", "model.sf", "--n-estimators", "300"),
    "train --tune": ("train", "rows.csv", *COLUMNS, "--out", "model.sf", "--tune"),
    "predict": ("predict", "old.sf", "rows.csv", "--out", "answers.csv"),
    "serve": ("serve", "old.sf", "--port", "0", "--workers", "2"),
}
RESULTS = {"rows.csv", "old.sf", "old.sf.toml", "model.sf", "model.sf.toml", "answers.csv"}
MOST_SECONDS = 20
GOOD = tuple(f"exit {code}" for code in (0, 130, -signal.SIGINT, -signal.SIGKILL))


def start(folder: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sketchforest", *COMMANDS[name]],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # as a terminal has a group of processes for each command
        env={**os.environ, "COLUMNS": "80"},
    )


def write_rows(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(300)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(n_rows)]
    tags = [";".join(sorted({text.split()[i][-1] for i in range(3)})) for text in texts]
    pd.DataFrame({"text": texts, "tags": tags}).to_csv(path, index=False)


def drafts(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name not in RESULTS)


def how_it_ended(code: int, said: str, folder: Path) -> str:
    faults = [word for word in ("Traceback", "goes on") if word in said]
    if code != -signal.SIGKILL and (left := drafts(folder)):
        faults.append(f"left {left}")
    try:
        if (folder / "model.sf").exists():
            load_forest(folder / "model.sf")
    except Exception as error:
        faults.append(f"broken model: {error}")
    return ", ".join([*faults, f"exit {code}"])


def run_cases(
    count: int,
    sent: signal.Signals = signal.SIGINT,
    names: tuple[str, ...] = tuple(COMMANDS),
    *,
    seed: int = 0,
    n_rows: int = 4000,
) -> tuple[Counter[str], list[float]]:
    """How the commands ended, and the seconds from the signal to the end."""
    rng, outcomes, seconds = random.Random(seed), Counter[str](), []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_rows(folder / "rows.csv", n_rows)
        start(folder, "train").communicate()
        for name in ("model.sf", "model.sf.toml"):
            (folder / name).rename(folder / name.replace("model", "old"))
        for number in range(count):
            name = names[number % len(names)]
            child = start(folder, name)
            time.sleep(rng.random() * 3)
            at = time.monotonic()
            os.killpg(child.pid, sent)
            try:
                said, _ = child.communicate(timeout=MOST_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                said, _ = child.communicate()
                said = f"goes on: {said}"
            seconds.append(time.monotonic() - at)
            outcome = f"{name}: {how_it_ended(child.returncode, said, folder)}"
            if seconds[-1] > 0.5 or outcome.removeprefix(f"{name}: ") not in GOOD:
                print(f"{outcome}: {seconds[-1]:.2f} s\n{said[-600:]}", flush=True)
            outcomes[outcome] += 1
        for name in ("train", "predict"):  # what kills have left is swept
            start(folder, name).communicate()
        outcomes["files left after the next command"] = len(drafts(folder))
    return outcomes, seconds


def is_clean(outcomes: Counter[str]) -> bool:
    left = outcomes["files left after the next command"]
    return not left and all(
        name.partition(": ")[2] in GOOD for name in outcomes if not name.startswith("files left")
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--kill", action="store_true")
    given = parser.parse_args()
    outcomes, seconds = run_cases(given.count, signal.SIGKILL if given.kill else signal.SIGINT)
    say(outcomes, seconds)
    sys.exit(not is_clean(outcomes))

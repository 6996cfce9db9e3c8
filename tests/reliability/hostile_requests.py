"""Explanations of 100 labels of texts as long as they may be, from 50 clients, beside normal
requests, which are answered; and how long the service takes to end while it works on them.

python tests/reliability/hostile_requests.py --hostile 50 --seconds 30
"""

import argparse
import asyncio
import contextlib
import csv
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "serve"))

from load import request
from services import serving

from sketchforest import Tagger
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.training import train_file
from sketchforest.datasets import Columns

WORST_SECONDS = 0.5  # that 99% of the normal requests may take
WORST_END = 5.0  # seconds from SIGTERM to the end
N_WORDS, N_LABELS = 5000, 200


def write_model(folder, n_rows, n_trees):
    """A model of made-up texts: the more often a word stands in them, the more labels it has."""
    rng = random.Random(0)
    with (folder / "texts.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text", "tags"])
        for _ in range(n_rows):
            words = [int(N_WORDS * rng.random() ** 2) for _ in range(40)]
            tags = {f"tag{word % N_LABELS}" for word in words[:4]}
            table.writerow([" ".join(f"word{word}" for word in words), ";".join(sorted(tags))])
    columns = Columns(text=("text",), tags="tags", tag_separator=";")
    params = {"n_estimators": n_trees, "random_state": 0, "n_jobs": 2}
    tagger = Tagger(keep_texts=True)
    train_file(
        DataFile(folder / "texts.csv", columns=columns),
        folder / "texts.sf",
        params=params,
        tagger=tagger,
    )
    return folder / "texts.sf"


def long_text(n_bytes):
    rng = random.Random(1)
    words = [f"word{rng.randrange(N_WORDS)}" for _ in range(n_bytes // 5)]
    return " ".join(words)[:n_bytes]


async def answer(reader):
    """Status and sentence of the next answer; no sentence if it is a good one."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    body = await reader.readexactly(length)
    return int(head[9:12]), "" if head[9:12] == b"200" else body.decode()


async def hostile_client(port, question, pause, outcomes):
    """One explanation after the other, each on a connection of its own, until the service ends."""
    while True:
        outcome = "closed"
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(question)
            try:
                outcome = (await asyncio.wait_for(answer(reader), 60))[0]
            except TimeoutError:
                outcome = "no answer in 60 s"
            finally:
                writer.close()
        outcomes[outcome] += 1
        if outcome == "closed":
            return
        if outcome == 503:
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))


def attack(port, n_clients, pause, n_bytes):
    """Outcomes of hostile requests, from a process of their own."""
    question = request("/explain", {"row": long_text(n_bytes), "k": 100, "n_rows": 100})
    outcomes = Counter()

    async def run():
        clients = [hostile_client(port, question, pause, outcomes) for _ in range(n_clients)]
        await asyncio.gather(*clients)

    asyncio.run(run())
    return dict(outcomes)


async def normal_client(port, questions, end, times, outcomes):
    """Short requests one after the other, with a pause, as people and programs ask."""
    while time.perf_counter() < end:
        asked = time.perf_counter()
        outcome = "closed"
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(random.choice(questions))
            try:
                outcome = (await asyncio.wait_for(answer(reader), 60))[0]
            except TimeoutError:
                outcome = "no answer in 60 s"
            finally:
                writer.close()
        times.append(time.perf_counter() - asked)
        outcomes[outcome] += 1
        await asyncio.sleep(0.05)


async def ask_normally(port, n_clients, seconds):
    """Times and outcomes of normal requests."""
    rng = random.Random(2)
    texts = [" ".join(f"word{rng.randrange(N_WORDS)}" for _ in range(30)) for _ in range(200)]
    questions = [request("/suggest", {"row": text}) for text in texts]
    end = time.perf_counter() + seconds
    times, outcomes = [], Counter()
    clients = [normal_client(port, questions, end, times, outcomes) for _ in range(n_clients)]
    await asyncio.gather(*clients)
    return times, dict(outcomes)


def run(
    seconds=30.0,
    n_hostile=50,
    n_normal=8,
    workers=2,
    pause=1.0,
    n_bytes=200_000,
    n_rows=4000,
    n_trees=100,
    model=None,
):
    """Figures by name."""
    spawn = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, mp_context=spawn) as others,
    ):
        model = model or write_model(Path(folder), n_rows, n_trees)
        with serving(folder, model, "--workers", workers) as service:
            attacking = others.submit(attack, service.port, n_hostile, pause, n_bytes)
            time.sleep(2)
            times, normal = asyncio.run(ask_normally(service.port, n_normal, seconds))
            started = time.perf_counter()
            code, logged = service.stop(signal.SIGTERM)
            took = time.perf_counter() - started
            hostile = attacking.result(timeout=90)
    return {
        "normal": normal,
        "p50_s": round(float(np.quantile(times, 0.5)), 3),
        "p99_s": round(float(np.quantile(times, 0.99)), 3),
        "max_s": round(max(times), 3),
        "hostile": {str(outcome): n for outcome, n in hostile.items()},
        "end_s": round(took, 2),
        "exit_code": code,
        "log_lines": logged.count("\n"),
        "tracebacks": logged.count("Traceback"),
    }


def is_good(found):
    is_answered = set(found["normal"]) == {200}
    is_quiet = found["exit_code"] == 0 and not found["tracebacks"]
    return is_answered and is_quiet


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hostile", type=int, default=50, help="clients that ask for explanations")
    parser.add_argument("--normal", type=int, default=8, help="clients that ask for labels")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pause", type=float, default=1.0, help="of hostile clients after a 503")
    parser.add_argument("--bytes", type=int, default=200_000, help="of a text to explain")
    parser.add_argument("--rows", type=int, default=4000, help="texts that the model is trained on")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--model", help="another model of texts")
    given = parser.parse_args()
    found = run(
        *(given.seconds, given.hostile, given.normal, given.workers, given.pause, given.bytes),
        *(given.rows, given.trees, given.model),
    )
    print(found, "load of the machine", os.getloadavg())
    is_fast = found["p99_s"] <= WORST_SECONDS and found["end_s"] <= WORST_END
    sys.exit(not (is_good(found) and is_fast))

"""Fresh processes for measurements: no method profits or suffers from the one before it."""

import json
import os
import subprocess
import sys
from typing import Any

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


class MeasurementError(ChildProcessError):
    """A method failed; the message says how, in one line."""


def in_own_process(task: str, n_threads: int, **request: object) -> dict[str, Any]:
    """The answer of a worker that lives for this one request, held to so many threads."""
    environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, str(n_threads))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench.worker"],
        input=json.dumps({"task": task, **request}),
        capture_output=True,
        text=True,
        env=environment,
    )
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise MeasurementError(_reason(done)) from None
    if "error" in answer:
        raise MeasurementError(answer["error"])
    return answer


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode == -9:
        return "killed, most likely for want of memory"
    last_words = done.stderr.strip().splitlines()
    return last_words[-1] if last_words else f"ended with exit code {done.returncode}"

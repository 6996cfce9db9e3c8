"""Measurements in separate processes, so that no method affects the next.

A worker reads one request in JSON from standard input and answers in JSON.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, TextIO

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
)
# Where each task is defined; modules are imported on demand to keep other libraries out.
_TASKS = {
    "measure": "benchmarks.bench.measure_method",
    "trial": "benchmarks.bench.measure_method",
    "measure_point": "benchmarks.bench.measure_sizes",
    "measure_large": "benchmarks.bench.measure_sizes",
    "measure_extreme": "benchmarks.bench.measure_extreme",
    "measure_costs": "benchmarks.studies.costs",
    "measure_boosting": "benchmarks.studies.boosting",
}


class MeasurementError(ChildProcessError):
    """A method failed; the message gives the reason in one line."""


def in_own_process(
    task: str, n_threads: int, timeout: float | None = None, **request: object
) -> dict[str, Any]:
    """Run a task in a new process, limited to so many threads and seconds, and return its
    answer."""
    environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, str(n_threads))
    try:
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name],
            input=json.dumps({"task": task, **request}),
            capture_output=True,
            text=True,
            env=environment,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise MeasurementError(f"took longer than {timeout:g} s") from None
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise MeasurementError(_reason(done)) from None
    if "error" in answer:
        raise MeasurementError(answer["error"])
    return answer


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode == -9:
        return "killed, most likely because memory ran out"
    last_words = done.stderr.strip().splitlines()
    return last_words[-1] if last_words else f"ended with exit code {done.returncode}"


def main() -> None:
    """Answer one request."""
    answers = _answers_apart_from_noise()
    request = json.load(sys.stdin)
    task = request.pop("task")
    try:
        work: Callable[..., Mapping[str, object]] = getattr(import_module(_TASKS[task]), task)
        answer = work(**request)
    except (Exception, SystemExit) as error:
        message = str(error).strip().splitlines()
        answer = {"error": message[0] if message else type(error).__name__}
    json.dump(answer, answers)
    answers.flush()


def _answers_apart_from_noise() -> TextIO:
    """Return the standard output, and discard whatever libraries print there from now on."""
    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    return answers


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):  # the parent process reports it
        main()

"""One measurement in a process of its own: a request in JSON comes in, the answer goes out.

echo '{"task": "measure", "method": "rf", ...}' | python -m benchmarks.bench.worker
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TextIO


def main() -> None:
    answers = _answers_apart_from_noise()
    request = json.load(sys.stdin)
    try:
        answer = _task(request.pop("task"))(**request)
    except (Exception, SystemExit) as error:
        message = str(error).strip().splitlines()
        answer = {"error": message[0] if message else type(error).__name__}
    json.dump(answer, answers)
    answers.flush()


def _task(name: str) -> Callable[..., Mapping[str, object]]:
    # Imported when asked for, so that no task pays for another's libraries.
    tasks: dict[str, Callable[..., Mapping[str, object]]]
    if name in ("scaling", "large"):
        from benchmarks.bench.measure_sizes import measure_large, measure_point

        tasks = {"scaling": measure_point, "large": measure_large}
    elif name == "extreme":
        from benchmarks.bench.measure_extreme import measure_extreme

        tasks = {"extreme": measure_extreme}
    else:
        from benchmarks.bench.measure_method import measure, trial

        tasks = {"measure": measure, "trial": trial}
    return tasks[name]


def _answers_apart_from_noise() -> TextIO:
    """Where standard output went; from now on, what libraries print there goes nowhere."""
    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    return answers


if __name__ == "__main__":
    # The parent says what has been interrupted.
    with suppress(KeyboardInterrupt):
        main()

"""Threads that work at once, what they find, and a process for each kind of model."""

import argparse
import faulthandler
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Raised:
    """An exception as an answer."""

    kind: str
    message: str
    trace: str = field(compare=False, repr=False)


def raised(error: Exception) -> Raised:
    trace = "".join(traceback.format_exception(error))
    return Raised(type(error).__name__, str(error), trace)


class Findings:
    """Calls, answers that are wrong, and exceptions, each with its first traceback."""

    def __init__(self) -> None:
        self.calls, self.wrong, self.exceptions = 0, Counter[str](), Counter[str]()
        self.examples: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, what: str, is_right: bool, found: object = None) -> None:
        with self._lock:
            self.calls += 1
            if is_right:
                return
            if isinstance(found, Raised):
                what = f"{what}: {found.kind}: {found.message[:100]}"
                self.exceptions[what] += 1
                self.examples.setdefault(what, found.trace)
            else:
                self.wrong[what] += 1

    @property
    def has_hang(self) -> bool:
        return any("Hang" in what for what in self.exceptions)

    @property
    def n_failures(self) -> int:
        return self.wrong.total() + self.exceptions.total()

    def __repr__(self) -> str:
        lines = [
            f"{self.calls} calls, {self.wrong.total()} wrong results, "
            f"{self.exceptions.total()} exceptions"
        ]
        lines += [f"{count:6} wrong: {what}" for what, count in self.wrong.most_common()]
        for what, count in self.exceptions.most_common():
            lines += [f"{count:6} raised: {what}", self.examples[what]]
        return "\n".join(lines)


def run_threads(tasks: list[Callable[[], None]], findings: Findings, seconds: float) -> None:
    """All at once; a thread that is at work after so many seconds more counts as a hang."""
    barrier = threading.Barrier(len(tasks))

    def run(task: Callable[[], None]) -> None:
        barrier.wait()
        try:
            task()
        except Exception as error:
            findings.add("in the thread itself", False, raised(error))

    threads = [threading.Thread(target=run, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(end - time.monotonic(), 0))
        frame = sys._current_frames().get(thread.ident) if thread.is_alive() else None
        if frame is not None:
            hang = Raised("Hang", "", "".join(traceback.format_stack(frame)))
            findings.add(f"no end after {seconds:.0f} s", False, hang)


def main(
    description: str,
    file: str,
    kinds: Iterable[str],
    run: Callable[[int, float, str, list[str]], Findings],
) -> None:
    """`run(threads, seconds, seed, kinds)`, in a process of its own for each kind: one that dies
    is a failure of that kind alone. Kinds that are named are run in this process."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--kinds", nargs="+", choices=list(kinds))
    given = parser.parse_args()
    seconds = given.minutes * 60
    if given.kinds:
        faulthandler.enable()
        warnings.simplefilter("ignore")
        sys.setswitchinterval(1e-6)
        findings = run(given.threads, seconds, given.seed, given.kinds)
        print(findings)
        sys.exit(findings.n_failures > 0)
    failed = 0
    for kind in kinds:
        minutes = str(given.minutes / len(list(kinds)))
        command = [sys.executable, file, "--threads", str(given.threads), "--minutes", minutes]
        print(f"{kind}: ", end="", flush=True)
        code = subprocess.run([*command, "--seed", given.seed, "--kinds", kind]).returncode
        if code < 0:
            print(f"the process died of signal {-code}")
        failed += code != 0
    print(f"{failed} of {len(list(kinds))} kinds of models failed")
    sys.exit(failed > 0)

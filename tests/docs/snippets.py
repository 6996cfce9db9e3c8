"""Run the code blocks of Markdown pages.

All ``python`` blocks of a page share one namespace; blocks with prompts (>>>) must print what the
page shows. ``console`` blocks contain commands after "$ " with their output, and ``sh`` blocks only
commands; all commands of a page run in one shell. "..." in an output matches any text. Setup code
that readers do not need is in a comment, <!-- setup ... -->. Other blocks are not run.

`python tests/docs/snippets.py PAGE...` updates the outputs shown on pages.
"""

import contextlib
import doctest
import io
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_BLOCKS = re.compile(
    r"^```(python|console|sh)\n(.*?)^```$|^<!-- setup\n(.*?)^-->$", re.DOTALL | re.MULTILINE
)
_VARYING = re.compile(r"\d[\d.]* (m?s|[kMG]?B)\b")
_DECIMAL = re.compile(r"-?\d+\.\d+")
_PORT = re.compile(r"(localhost:|--port )(\d{4,5})\b")
_END = "-- end of command, exit code"


@dataclass
class Snippet:
    language: str  # python, console, sh
    source: str
    line: int
    start: int  # offset of the source in the page


@dataclass
class SnippetError(Exception):
    line: int
    source: str
    expected: str
    printed: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.source}\nexpected:\n{self.expected}\ngot:\n{self.printed}"


def snippets_of(text):
    for found in _BLOCKS.finditer(text):
        group = 2 if found[1] else 3
        line = text.count("\n", 0, found.start(group)) + 1
        yield Snippet(found[1] or "python", found[group], line, found.start(group))


class Page:
    """Run the snippets of a page, in order, in an empty folder with a link to the examples."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "examples").symlink_to(ROOT / "examples")
        self.names = {"__name__": "__main__"}
        self._shell = None
        self._ports = {}  # of services on the page, and the free ports used instead
        self._errors = folder / ".errors"  # also receives progress

    def run(self, snippet):
        """Return line, source, expected and actual output of each command or expression."""
        if snippet.language == "python":
            with contextlib.chdir(self.folder):
                return self._run_python(snippet)
        return self._run_commands(snippet)

    def close(self):
        if self._shell is not None:
            os.killpg(self._shell.pid, signal.SIGKILL)  # including processes left by a failed page
            self._shell.communicate()

    def _run_python(self, snippet):
        if ">>>" not in snippet.source:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = compile(snippet.source, f"line {snippet.line}", "exec")
                exec(code, self.names)
            return []
        examples = doctest.DocTestParser().get_examples(snippet.source)
        return [self._run_example(snippet, example) for example in examples]

    def _run_example(self, snippet, example):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "example", "single"), self.names)
        return snippet.line + example.lineno, example.source, example.want, printed.getvalue()

    def _run_commands(self, snippet):
        found = []
        lines = snippet.source.splitlines(keepends=True)
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        if snippet.language == "sh":
            follows = [False, *(line.endswith("\\\n") for line in lines)]
            starts = [i for i, line in enumerate(lines) if line.strip() and not follows[i]]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            command = lines[start].removeprefix("$ ")
            first = start + 1
            while command.endswith("\\\n"):
                command, first = command + lines[first], first + 1
            wanted = "".join(lines[first:end]) if snippet.language == "console" else None
            printed, code = self._command(command)
            if code != "0":
                printed += self._errors.read_text()
                raise SnippetError(snippet.line + start, command, "exit code 0", printed)
            found.append((snippet.line + start, command, wanted, printed))
        return found

    def _command(self, command):
        if self._shell is None:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            # Page width; no colours and no progress bars.
            environment = {"PATH": path, "COLUMNS": "90", "NO_COLOR": "1", "TERM": "dumb"}
            self._shell = subprocess.Popen(
                ["bash", "--norc"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=self.folder,
                env=os.environ | environment,
                text=True,
                start_new_session=True,
            )
            self._shell.stdin.write(f"exec 2>{self._errors}\n")
        command = _PORT.sub(lambda found: found[1] + self._free_port(found[2]), command)
        self._shell.stdin.write(f"{command}\nprintf '\\n%s %s\\n' '{_END}' $?\n")
        self._shell.stdin.flush()
        lines = []
        for line in self._shell.stdout:
            if line.startswith(_END):
                break
            lines.append(line)
        # We printed the newline before the mark, even if the output already ended with one.
        printed = "".join(lines)
        printed = printed.removesuffix("\n")
        return printed, line.split()[-1]

    def _free_port(self, shown):
        """The free port that stands for a port on the page."""
        if shown not in self._ports:
            with socket.create_server(("127.0.0.1", 0)) as server:
                self._ports[shown] = str(server.getsockname()[1])
        return self._ports[shown]


def check_page(path, folder):
    """Raise SnippetError at the first snippet whose output differs from the page."""
    page = Page(folder)
    try:
        for snippet in snippets_of(path.read_text(encoding="utf-8")):
            for line, source, wanted, printed in page.run(snippet):
                if wanted is not None and not is_as_wanted(wanted, printed):
                    raise SnippetError(line, source, wanted, printed)
    finally:
        page.close()


def is_as_wanted(wanted, printed, is_exact=False):
    """Compare outputs, ignoring times and file sizes, which vary. Unless `is_exact`, decimals may
    differ slightly, because pages do not test results bit by bit."""
    texts = [_VARYING.sub("#", text or "\n") for text in (wanted, printed)]
    if doctest.OutputChecker().check_output(*texts, FLAGS) or is_exact:
        return doctest.OutputChecker().check_output(*texts, FLAGS)
    numbers = [[float(number) for number in _DECIMAL.findall(text)] for text in texts]
    if len(numbers[0]) != len(numbers[1]):
        return False
    are_near = all(abs(a - b) <= max(0.02, 0.03 * abs(a)) for a, b in zip(*numbers, strict=True))
    blanked = [_DECIMAL.sub("#", text) for text in texts]
    return are_near and doctest.OutputChecker().check_output(*blanked, FLAGS)


def renew(path):
    """Update the outputs in a page, except where "..." already matches them."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        page = Page(Path(folder))
        shift = 0
        try:
            for snippet in snippets_of(text):
                source = snippet.source
                for _, command, wanted, printed in page.run(snippet):
                    if wanted is None or is_as_wanted(wanted, printed, is_exact=True):
                        continue
                    at = _end_of_command(source, command)
                    output = "".join(line.rstrip() + "\n" for line in printed.splitlines())
                    source = source[:at] + output + source[at + len(wanted) :]
                start = snippet.start + shift
                text = text[:start] + source + text[start + len(snippet.source) :]
                shift += len(source) - len(snippet.source)
        finally:
            page.close()
    path.write_text(text, encoding="utf-8")


def _end_of_command(source, command):
    lines = command.splitlines(keepends=True)
    prompted = [">>> " + lines[0], *("... " + line for line in lines[1:])]
    for form in ("".join(prompted), "$ " + command):
        at = source.find(form)
        if at >= 0:
            return at + len(form)
    raise ValueError(f"{command!r} is not in the snippet")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        renew(Path(argument))

"""Run scikit-learn's own tests of trees and forests on the estimators of this library.

The tests are those of the installed scikit-learn. A line added after the imports of each file
replaces its estimators with ours.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import sklearn

import sketchforest

PACKAGE = Path(sklearn.__file__).parent
FILES = [PACKAGE / "ensemble/tests/test_forest.py", PACKAGE / "tree/tests/test_tree.py"]


def are_installed() -> bool:
    return all(file.exists() for file in FILES)


def with_our_estimators(source: str) -> str:
    """Source of a test file, with the estimators that it imports replaced by ours."""
    imports = [
        node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {alias.name for node in imports for alias in node.names}
    ours = ", ".join(sorted(names & set(sketchforest.__all__)))
    lines = source.splitlines(keepends=True)
    lines.insert(max(node.end_lineno for node in imports), f"from sketchforest import {ours}\n")
    return "".join(lines)


def outcomes(folder: Path, *options: str, not_run: Sequence[str] = ()) -> dict[str, str]:
    """Run the tests; returns "passed", "skipped" or the first line of the error for each."""
    for file in FILES:
        source = file.read_text(encoding="utf-8")
        (folder / file.name).write_text(with_our_estimators(source), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n")
    report = folder / "report.xml"
    plugins = ("-p", "sklearn.conftest", "-p", "no:cacheprovider")
    left_out = [f"--deselect={test.replace('::', '.py::', 1)}" for test in not_run]
    where = (f"--rootdir={folder}", f"--junitxml={report}", str(folder))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=no", *plugins, *left_out, *options, *where],
        cwd=folder,
        env={**os.environ, "SKLEARN_TESTS_GLOBAL_RANDOM_SEED": "42"},
        capture_output=True,
        text=True,
    )
    assert report.exists(), run.stdout + run.stderr
    cases = ElementTree.parse(report).iter("testcase")
    return {f"{case.get('classname')}::{case.get('name')}": _outcome(case) for case in cases}


def _outcome(case: ElementTree.Element) -> str:
    for kind in ("failure", "error"):
        for found in case.iter(kind):
            return (found.get("message") or kind).splitlines()[0]
    return "skipped" if case.find("skipped") is not None else "passed"

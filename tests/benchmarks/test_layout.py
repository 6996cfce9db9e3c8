"""The benchmarks use the package, and the package does not know them."""

import ast
import tomllib
from pathlib import Path

import sketchforest

ROOT = Path(__file__).parents[2]
PACKAGE = Path(sketchforest.__file__).parent


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


def test_nothing_in_the_package_imports_the_benchmarks():
    assert not [p for p in PACKAGE.rglob("*.py") if "benchmarks" in imported(p)]


def test_the_wheel_holds_the_package_alone():
    with (ROOT / "pyproject.toml").open("rb") as file:
        settings = tomllib.load(file)["tool"]["scikit-build"]
    assert settings["wheel"]["packages"] == ["src/sketchforest"]


def test_no_file_has_more_than_400_lines():
    lines = {p: len(p.read_text().splitlines()) for p in (ROOT / "benchmarks").rglob("*.py")}
    assert {path: n for path, n in lines.items() if n > 400} == {}

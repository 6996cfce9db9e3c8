"""The layers: which part may import which. CONTRIBUTING.md has the picture."""

import ast
from pathlib import Path

import pytest

import sketchforest

PACKAGE = Path(sketchforest.__file__).parent
TOOLS = {"_utils"}
# Each part with what it may import besides itself and the tools, from the bottom to the top.
MAY_IMPORT = {
    "_core": set(),
    "_pages": set(),
    "ontology": set(),
    "datasets": {"ontology"},
    "metrics": {"_core", "ontology"},
    "projection": {"_core"},
    "_trees": {"_core", "projection"},
    "_selection": {"_core", "_trees", "metrics", "projection"},
    "_boosting": {"_core", "_trees", "metrics", "projection"},
    "_saving": {"_boosting", "_core", "_trees", "projection"},
    "_estimators": {
        "_boosting",
        "_selection",
        "_saving",
        "_trees",
        "metrics",
        "ontology",
        "projection",
    },
}
PUBLIC = {"tree", "forest", "extra_trees", "sketch_forest", "boosting", "explain"}
PUBLIC |= {"evaluation", "export"}
FEATURES = {"_estimators", "_saving", "datasets", "explain"}
MAY_IMPORT |= {
    "tree": {"_estimators", "_trees", "projection"},
    "forest": {"_estimators", "_saving", "projection", "tree"},
    "extra_trees": {"_estimators", "projection", "tree"},
    "boosting": {"_estimators"},
    "sketch_forest": {"_estimators", "projection", "tree"},
    "explain": {"_estimators"},
    "_evaluation": {"_estimators", "_features", "metrics"},
    "evaluation": {"_estimators", "_evaluation", "metrics"},
    "export": {"_boosting", "_estimators", "_trees"},
    "_features": FEATURES,
    "tagger": {"_evaluation", "_features", "evaluation", "metrics", "sketch_forest", *FEATURES},
    "tuning": {*MAY_IMPORT, *PUBLIC} - {"datasets"},
}
MAY_IMPORT["dask"] = {*MAY_IMPORT} - {"tuning"}
MAY_IMPORT["_workflows"] = {*MAY_IMPORT}
MAY_IMPORT["report"] = {*MAY_IMPORT} - {"_workflows", "tuning", "datasets"}
MAY_IMPORT["serve"] = {*MAY_IMPORT} - {"report"}
MAY_IMPORT["cli"] = {*MAY_IMPORT}


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path):
    """Names directly below the package that a file imports, wherever in the file, except for the
    sake of types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            skipped.update(ast.walk(node))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the arrows"
            if node.module == "sketchforest":
                yield from (alias.name for alias in node.names)
            elif node.module.startswith("sketchforest."):
                yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (name.split(".")[1] for name in names if name.startswith("sketchforest."))


FILES = sorted(p for p in PACKAGE.rglob("*.py") if p.parent != PACKAGE or "__" not in p.name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_imports_only_from_the_layers_below_it(path):
    part = part_of(path)
    if part in TOOLS:
        assert not set(imported_parts(path)) - TOOLS
        return
    allowed = MAY_IMPORT[part] | TOOLS | {part, "__version__"}
    if "forest" in allowed:  # the estimators themselves, by the name that users import
        allowed |= set(sketchforest.__all__)
    assert not set(imported_parts(path)) - allowed


def test_the_table_names_every_part_and_no_other():
    parts = {part_of(path) for path in FILES} - TOOLS
    assert parts == set(MAY_IMPORT) - {"_core"}


def test_the_top_of_the_package_holds_public_modules_alone():
    private = {path.name for path in PACKAGE.glob("*.py") if path.name.startswith("_")}
    assert private == {"__init__.py", "__main__.py"}


def test_a_file_can_be_held_in_the_head():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: n for path, n in lines.items() if n > 400} == {}


def test_no_class_but_the_public_estimators_has_more_than_15_methods():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name not in sketchforest.__all__:
                methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
                assert len(methods) <= 15, f"{path.name}: {node.name}"

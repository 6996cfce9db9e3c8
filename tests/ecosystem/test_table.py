"""docs/ecosystem.md has a line for each test of a tool, and a test for each line."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "ecosystem.md"
FILES = ("test_scikit_learn_tools.py", "test_other_libraries.py")


def test_each_line_of_the_page_has_a_test_and_each_test_a_line():
    sources = [(HERE / name).read_text(encoding="utf-8") for name in FILES]
    tests = re.findall(r"^def (test_\w+)", "".join(sources), flags=re.MULTILINE)
    lines = re.findall(r"\| `(test_\w+)` \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert lines == sorted(lines, key=tests.index)
    assert lines == tests
    assert len(lines) >= 40

"""Every snippet of README and of the guide runs as it is written."""

import shutil

import pytest
from docs.snippets import ROOT, SnippetError, check_page, is_as_wanted, renew, snippets_of

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Made by studies, which run for hours; or parts of other pages.
PAGES = [page for page in PAGES if not {"study", "gallery", "api"} & set(page.parts)]
WITH_CODE = [page for page in PAGES if any(snippets_of(page.read_text(encoding="utf-8")))]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_of_a_page_run_and_print_what_it_says(page, tmp_path):
    if "curl " in page.read_text(encoding="utf-8") and shutil.which("curl") is None:
        pytest.skip("curl is not here")
    check_page(page, tmp_path)


def write(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def folder(tmp_path, name="work"):
    (tmp_path / name).mkdir()
    return tmp_path / name


@pytest.mark.parametrize(
    "block",
    [
        "python\n>>> 1 + 1\n3\n",
        "python\n>>> 1 + 1\n",
        "console\n$ echo two\nthree\n",
        "console\n$ echo two\n",
        "console\n$ false\n",
        "sh\nfalse\n",
    ],
)
def test_another_output_than_the_page_has_is_an_error(block, tmp_path):
    page = write(tmp_path, f"text\n\n```{block}```\n")
    with pytest.raises(SnippetError):
        check_page(page, folder(tmp_path))
    if "false" not in block:
        renew(page)
        check_page(page, folder(tmp_path, "again"))


@pytest.mark.parametrize(
    ("wanted", "printed", "is_same"),
    [
        ("LRAP 0.8312 ± 0.0122\n", "LRAP 0.8325 ± 0.0123\n", True),
        ("LRAP 0.8312\n", "LRAP 0.7312\n", False),
        ("error 9.05\n", "error 9.2\n", True),
        ("error 9.05\n", "error 11.2\n", False),
        ("542 rows in 1.8 s, 10.3 MB\n", "542 rows in 23 ms, 9 kB\n", True),
        ("542 rows\n", "541 rows\n", False),
        ("a 0.5 b 0.4\n", "b 0.5 a 0.4\n", False),
    ],
)
def test_decimals_may_be_off_by_a_little_and_nothing_else(wanted, printed, is_same):
    assert is_as_wanted(wanted, printed) == is_same


def test_a_page_has_one_namespace_and_one_shell(tmp_path):
    page = write(
        tmp_path,
        "<!-- setup\nstart = 40\n-->\n\n```python\nx = start + 2\n```\n\n"
        "```python\n>>> print(f'{x} and more')\n42 ... more\n```\n\n"
        "```console\n$ word=heard\n$ echo $word; \\\n  pwd\nheard\n...work\n```\n",
    )
    check_page(page, folder(tmp_path))

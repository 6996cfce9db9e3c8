"""What pages say of others: links, figures, names."""

import re
import sys
from html import unescape
from pathlib import Path

import pytest
import typer
from docs.snippets import ROOT

import sketchforest
from benchmarks.readme import paper_table, study_pages, with_tables
from benchmarks.reproduce.page import render_page
from benchmarks.reproduce.tables_page import NAMES
from sketchforest import cli

DOCS = ROOT / "docs"
# What the build of the site makes.
MADE = {"gallery", "generated", "backreferences"}
PAGES = sorted(
    path
    for folder, pattern in ((ROOT, "*.md"), (DOCS, "**/*.md"), (ROOT / "examples", "*.md"))
    for path in folder.glob(pattern)
    if not MADE & set(path.parts)
)
_FENCES = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINKS = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|<a href=\"([^\"]+)\"")


def anchors(path):
    """Of the headings of a page, as GitHub and the site make them."""
    text = _FENCES.sub("", path.read_text(encoding="utf-8"))
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
        yield words.replace(" ", "-")


def links_of(path):
    text = _FENCES.sub("", path.read_text(encoding="utf-8"))
    return [found[1] or found[2] for found in _LINKS.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(page):
    for link in links_of(page):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor and target.suffix == ".md":
            assert anchor in set(anchors(target)), f"{page.name}: {link}"
        elif anchor and target.suffix == ".html":
            assert f'id="{anchor}"' in target.read_text(encoding="utf-8"), f"{page.name}: {link}"


def test_each_command_has_a_page_in_the_table_of_contents():
    program = typer.main.get_command(cli.app)
    context = program.make_context("sketchforest", [], resilient_parsing=True)
    commands = [n for n in program.list_commands(context) if not program.commands[n].hidden]
    index = (DOCS / "commands" / "index.md").read_text(encoding="utf-8")
    assert index.partition(":hidden:")[2].split()[:-1] == commands
    for name in commands:
        page = (DOCS / "commands" / f"{name}.md").read_text(encoding="utf-8")
        assert f".. command-line:: {name}\n" in page


def test_the_figures_of_the_readme_are_those_of_the_measurements():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text == with_tables(text, DOCS), "run: python -m benchmarks readme"
    assert "ahead on" in text


def test_links_to_examples_lead_to_the_gallery_on_the_site():
    sys.path.insert(0, str(DOCS / "_extensions"))
    from gallery_links import to_gallery

    assert to_gallery("[a](../examples/) b") == "[a](gallery/index.rst) b"
    deep = "[a](../../examples/plot_04_relabel.py)"
    assert to_gallery(deep) == "[a](../gallery/plot_04_relabel.rst)"
    assert to_gallery("[a](examples/DATA.md)") == "[a](examples/DATA.md)"


def test_what_tuning_gains_is_said_as_it_was_measured():
    gains = re.compile(r"[+-]\d\.\d{4} on average over \d+ data sets, better on \d+, worse on \d+")
    said = " ".join((DOCS / "tuning.md").read_text(encoding="utf-8").split())
    found = gains.findall(said)
    assert len(found) == 2
    assert set(found) <= set(gains.findall((DOCS / "accuracy.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", study_pages(DOCS), ids=lambda page: page.stem)
def test_the_page_of_a_study_is_that_of_its_measurements(page):
    made = study_pages(DOCS)[page]
    assert page.read_text(encoding="utf-8") == made, "run: python -m benchmarks readme"


@pytest.mark.parametrize("forest", NAMES)
def test_the_tables_on_the_page_of_the_paper_are_those_of_their_files(forest):
    made = render_page("", [], [paper_table(DOCS, forest)])
    page = unescape((DOCS / "paper" / "index.html").read_text(encoding="utf-8"))
    tables = re.findall(r"^<details>.*</details>$", unescape(made), re.MULTILINE)
    assert len(tables) == 1
    assert tables[0] in page


def public_names():
    modules = [getattr(sketchforest, name) for name in sketchforest._SUBMODULES]
    for module in (sketchforest, *modules):
        for name in module.__all__:
            # Aliases and constants need no page.
            if callable(getattr(module, name)) and name != "Metric":
                yield module.__name__, name


@pytest.mark.parametrize(("module", "name"), list(public_names()))
def test_the_api_reference_has_every_public_name(module, name):
    text = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    assert re.search(rf"^   (\w+\.)*{name}$", text, re.MULTILINE)


def test_the_guide_has_every_page_and_the_site_every_page_of_the_folder():
    trees = [path.read_text(encoding="utf-8") for path in PAGES if "{toctree}" in path.read_text()]
    listed = set(re.findall(r"^(?:\w+ <)?([\w./*\[\]-]+)>?$", "\n".join(trees), re.MULTILINE))
    patterns = [Path(name).name.replace("*", r"\w*") for name in listed]
    for page in PAGES:
        if page.is_relative_to(DOCS) and page != DOCS / "index.md":
            name = page.parent.name if page.stem == "index" else page.stem
            assert any(re.fullmatch(p, name) or p == page.stem for p in patterns), page

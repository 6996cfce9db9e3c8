"""Renew the screenshots of docs/: the page of a service, and the report on a model.

    python tests/docs/screenshots.py serve report

Needs chromium; `report` also needs Bibtex and Delicious in SKETCHFOREST_DATA.
"""

import random
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "serve")]

from browser import open_browser
from services import serving

from sketchforest import RandomForestClassifier, SketchForestClassifier, Tagger
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.training import train_file
from sketchforest.datasets import Columns, load
from sketchforest.report import make_report

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "examples" / "questions.csv"
QUESTION = "How long does chicken soup keep in the fridge, and can I freeze it with the noodles?"


@contextmanager
def open_page(size, scheme="light"):
    with open_browser(size, scheme) as driver:
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        yield driver


def write_posts(path):
    """Texts in two columns, a number and a category."""
    rng = random.Random(0)
    lines = ["title,body,year,site,tags"]
    for row in range(80):
        dish = ("cake", "soup")[row % 2]
        tags = f"{dish};hot" if dish == "soup" else dish
        site = rng.choice(["home", "away"])
        lines.append(f"My {dish} {row},how to cook {dish},{2000 + rng.randrange(20)},{site},{tags}")
    path.write_text("\n".join(lines) + "\n")


def type_into(driver, selector, text):
    driver.find_element("css selector", selector).send_keys(text)
    time.sleep(3)


def shoot_service(folder):
    params = {"random_state": 0}
    columns, tagger = Columns(text=("question",), tags="tags"), Tagger(keep_texts=True)
    train_file(
        DataFile(QUESTIONS, columns=columns), folder / "questions.sf", params=params, tagger=tagger
    )
    write_posts(folder / "posts.csv")
    columns = Columns(text=("title", "body"), tags="tags", categories=("site",), numbers=("year",))
    train_file(
        DataFile(folder / "posts.csv", columns=columns),
        folder / "posts.sf",
        params=params,
        tagger=tagger,
    )
    with serving(folder, folder / "questions.sf", folder / "posts.sf") as service:
        with open_page((1100, 950)) as driver:
            driver.get(service.url)
            type_into(driver, "textarea", QUESTION)
            driver.save_screenshot(str(ROOT / "docs" / "serve-light.png"))
        with open_page((390, 1500), "dark") as driver:
            driver.get(f"{service.url}/?model=posts")
            type_into(driver, "[data-field=title]", "My cake and soup")
            driver.save_screenshot(str(ROOT / "docs" / "serve-narrow.png"))


def shoot_report(folder):
    for name, forest, size, scheme, section, picture in (
        ("bibtex", SketchForestClassifier(random_state=0), (960, 1560), "light", "", "scores"),
        (
            "delicious",
            RandomForestClassifier(random_state=0, oob_score=True, threshold="f1"),
            (1100, 1000),
            "dark",
            "#labels",
            "labels",
        ),
    ):
        data = load(name)
        train, test = data.splits["train"], data.splits["test"]
        forest.fit(data.X[train], data.Y[train])
        forest.attach(label_names=data.label_names, feature_names=data.feature_names)
        about = {"file": f"{name}-test.npz"}
        report = make_report(forest, data.X[test], data.Y[test], title=name, about_data=about)
        report.save(folder / f"{name}.html")
        with open_page(size, scheme) as driver:
            driver.get((folder / f"{name}.html").as_uri() + section)
            time.sleep(1)
            driver.save_screenshot(str(ROOT / "docs" / f"report-{picture}.png"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for part in sys.argv[1:] or ("serve", "report"):
            {"serve": shoot_service, "report": shoot_report}[part](Path(name))

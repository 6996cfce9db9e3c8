"""Model files of several kinds, and a service with all of them."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs sketchforest[serve]")
pytest.importorskip("uvicorn", reason="needs sketchforest[serve]")
pytest.importorskip("httptools", reason="needs sketchforest[serve]")

from services import LIMITS, serving

from sketchforest import SketchForestClassifier, Tagger, load_forest
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.training import train_file
from sketchforest.datasets import Columns, make_multilabel

QUESTIONS = Path(__file__).parents[2] / "examples" / "questions.csv"


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Model files by name: trained on text, on a sparse matrix with names, and on a table."""
    folder = tmp_path_factory.mktemp("models")
    params = {"n_estimators": 20, "random_state": 0, "n_jobs": 1}
    columns, tagger = Columns(text=("question",), tags="tags"), Tagger(keep_texts=True)
    train_file(
        DataFile(QUESTIONS, columns=columns), folder / "questions.sf", params=params, tagger=tagger
    )
    data = make_multilabel(80, 60, 8, labels_per_row=2, features_per_row=6, random_state=0)
    forest = SketchForestClassifier(20, random_state=0, n_jobs=1).fit(data.X, data.Y)
    forest.attach(
        feature_names=[f"word{i}" for i in range(60)], label_names=[f"tag{i}" for i in range(8)]
    )
    forest.save(folder / "matrix.sf")
    rng = np.random.default_rng(0)
    lines = ["title,body,year,site,tags"]
    for row in range(60):
        kind = ("cake", "soup", "rice")[row % 3]
        site = ("home", "away")[row % 2]
        lines.append(f"My {kind},about {kind} and {site},{2000 + rng.integers(20)},{site},{kind}")
    (folder / "posts.csv").write_text("\n".join(lines) + "\n")
    columns = Columns(text=("title", "body"), tags="tags", categories=("site",), numbers=("year",))
    train_file(DataFile(folder / "posts.csv", columns=columns), folder / "posts.sf", params=params)
    return {path.stem: path for path in sorted(folder.glob("*.sf"))}


@pytest.fixture(scope="session")
def forests(models):
    return {name: load_forest(path) for name, path in models.items()}


@pytest.fixture(scope="session")
def service(models, tmp_path_factory):
    """Two workers and three models; the default is questions."""
    paths = [models[name] for name in ("questions", "matrix", "posts")]
    folder = tmp_path_factory.mktemp("service")
    with serving(folder, *paths, "--workers", "2", *LIMITS) as running:
        yield running

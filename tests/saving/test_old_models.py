"""A file that an earlier version wrote is read by this one, and predicts what it did then.

Run as a script, this writes the golden files anew: when the format changes on purpose, and under
another number.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import (
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._trees.model import SparseRows

GOLDEN = Path(__file__).parent / "golden"
FORMAT = 3
TEXTS = ["a red fox", "a red hen", "the grey fox", "the grey goose", "no animal", "red and grey"]
TAGS = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]])
X = np.arange(24, dtype=float).reshape(8, 3) % 7
_RNG = np.random.default_rng(5)
OBLIQUE_X = _RNG.random((40, 3))
OBLIQUE_Y = (OBLIQUE_X[:, [0, 1, 2, 0]] + OBLIQUE_X[:, [1, 2, 0, 2]] > 1).astype(int)


def texts_model():
    vectorizer = TfidfVectorizer()
    words = vectorizer.fit_transform(TEXTS)
    forest = RandomForestClassifier(12, threshold="f1-per-label", oob_score=True, random_state=3)
    forest.fit(words, TAGS).vectorizer_ = vectorizer
    return forest


def save_golden_files():
    forest = texts_model()
    names = ["red", "grey", "fox"]
    forest.save(GOLDEN / f"texts-{FORMAT}.sf", label_names=names, notes={"made": "here"})
    expected = forest.predict_proba(forest.vectorizer_.transform(TEXTS)).tolist()
    outputs = RandomForestRegressor(4, random_state=3).fit(X, X[:, :2], X[:, 2] + 1)
    outputs.save(GOLDEN / f"outputs-{FORMAT}.sf", compact=True)
    oblique = SketchForestClassifier(6, random_state=3).fit(OBLIQUE_X, OBLIQUE_Y)
    oblique.save(GOLDEN / f"oblique-{FORMAT}.sf")
    content = {
        "texts": expected,
        "outputs": outputs.predict(X).tolist(),
        "oblique": oblique.predict_proba(OBLIQUE_X).tolist(),
    }
    (GOLDEN / f"models-{FORMAT}.json").write_text(json.dumps(content) + "\n")


@pytest.mark.parametrize("version", [1, 3])
def test_models_of_every_format_are_read_and_predict_the_same(version):
    expected = json.loads((GOLDEN / f"models-{version}.json").read_text())
    texts = load_forest(GOLDEN / f"texts-{version}.sf")
    assert texts.label_names_.tolist() == ["red", "grey", "fox"]
    assert texts.notes_ == {"made": "here"}
    assert texts.thresholds_.shape == (3,)
    assert texts.get_params()["threshold"] == "oob-f1"
    probabilities = texts.predict_proba(texts.vectorizer_.transform(TEXTS))
    assert probabilities.tolist() == expected["texts"]
    outputs = load_forest(GOLDEN / f"outputs-{version}.sf")
    assert outputs.predict(X).tolist() == expected["outputs"]


@pytest.mark.parametrize("version", [2, 3])
def test_models_with_oblique_trees_are_read_and_predict_the_same(version):
    expected = json.loads((GOLDEN / f"models-{version}.json").read_text())
    oblique = load_forest(GOLDEN / f"oblique-{version}.sf")
    assert oblique.predict_proba(OBLIQUE_X).tolist() == expected["oblique"]


def test_a_model_that_does_not_say_what_its_rows_were_does_not_grow_on():
    outputs = load_forest(GOLDEN / "outputs-1.sf").set_params(n_estimators=5, warm_start=True)
    with pytest.raises(ValueError, match="warm_start must be False for a model file from an"):
        outputs.fit(X, X[:, :2], X[:, 2] + 1)


def test_labels_in_pickles_of_earlier_versions_have_other_names():
    rows = SparseRows.from_csr(sparse.csr_array([[0, 2.0, 1], [3, 0, 0]]))
    former = {"row_start": rows.indptr, "columns": rows.indices, "values": rows.data}
    again = SparseRows(**former, n_columns=3)
    assert (again.to_csr() != rows.to_csr()).nnz == 0


if __name__ == "__main__":
    save_golden_files()

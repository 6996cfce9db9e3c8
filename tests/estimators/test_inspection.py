"""Fitted estimators that show themselves, and that take and give names."""

import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import (
    DecisionTreeRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)

WORDS = ["queen", "pawn", "rook", "bread", "salt", "oven"]
RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice(WORDS[3 * (i % 2) :][:3], 4)) for i in range(60)]
TAGS = np.array([[i % 2 == 0, i % 2 == 1, "rook" in text] for i, text in enumerate(TEXTS)])
NAMES = ["chess", "cooking", "rooks"]


@pytest.fixture(scope="module")
def forest():
    vectorizer = TfidfVectorizer().fit(TEXTS)
    forest = SketchForestClassifier(10, random_state=0)
    forest.fit(vectorizer.transform(TEXTS), sparse.csr_array(TAGS.astype(int)))
    return forest.attach(vectorizer=vectorizer, label_names=NAMES, row_texts=TEXTS)


def test_suggestions_are_the_best_labels_by_name(forest):
    labels, scores = forest.predict_topk(forest.vectorizer_.transform(TEXTS), 3)
    for found, best, values in zip(forest.suggest(TEXTS, k=9), labels, scores, strict=True):
        expected = [(NAMES[at], v) for at, v in zip(best, values.tolist(), strict=True) if v > 0]
        assert found == expected
    assert [len(found) for found in forest.suggest(TEXTS[:2], k=1)] == [1, 1]
    with pytest.raises(ValueError, match="k must be an int from 1"):
        forest.suggest(TEXTS, k=0)
    classes = RandomForestClassifier(5).fit(np.eye(4), ["a", "b", "a", "b"])
    assert {name for name, _ in classes.suggest(np.eye(4)[:1])[0]} <= {"a", "b"}


def test_a_text_model_takes_texts_wherever_it_takes_rows(forest, tmp_path):
    forest.save(tmp_path / "model.sf")
    for model in (forest, load_forest(tmp_path / "model.sf")):
        rows = model.vectorizer_.transform(TEXTS)
        assert np.array_equal(model.predict_proba(TEXTS), model.predict_proba(rows))
        assert (model.predict(np.array(TEXTS)) != model.predict(rows)).nnz == 0
        assert model.suggest(["pawn pawn rook"])[0][0][0] == "chess"
        found = model.explain(["pawn queen"], label="cooking")
        assert set(found.feature_names[found.is_present]) <= {"pawn", "queen"}
        assert found.row_texts == [TEXTS[row] for row in found.rows]
        with pytest.raises(ValueError, match=r"list of texts; got one text, 'pawn'. Use \[text\]"):
            model.suggest("pawn")


def test_a_description_says_what_was_fitted(forest):
    found = forest.describe()
    text = repr(found)
    assert max(map(len, text.splitlines())) <= 80
    for words in (
        "10, 7 of them oblique",
        "60",
        " terms",
        "3: chess, cooking, rooks",
        "f1",
    ):
        assert words in text
    assert set(found.features) == set(WORDS)
    assert np.all(np.diff(found.importances) <= 0)
    frame = forest.to_frame()
    assert frame["importance"].sum() == pytest.approx(1)
    assert len(forest.plot(4).patches) == 4
    assert "oblique" in forest._repr_html_()
    assert "oblique" in forest._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert not hasattr(forest, "_repr_html_")


def test_every_kind_describes_itself(tmp_path):
    tree = DecisionTreeRegressor().fit(np.eye(5), np.arange(5.0))
    assert "outputs" in repr(tree.describe())
    assert "oblique" not in SketchForestClassifier()._repr_html_()[-200:]  # not fitted
    for threshold in (0.3, "top-2", "f1", np.full(3, 0.2)):
        forest = RandomForestClassifier(20, random_state=0, oob_score=True, threshold=threshold)
        assert "predicted" in repr(forest.fit(np.eye(60)[:, :7], TAGS).describe())
    forest.save(tmp_path / "model.sf", compact=True)
    compact = load_forest(tmp_path / "model.sf")
    assert not len(compact.describe().importances)
    with pytest.raises(ValueError, match="a model saved with compact=True lacks"):
        compact.plot()


class LateNames(list):
    """Names whose length is asked once; a thread then fits the forest to other data."""

    def __init__(self, forest, n_rows):
        super().__init__(map(str, range(n_rows)))
        self.thread = threading.Thread(target=forest.fit, args=(np.eye(7), np.eye(7, dtype=int)))

    def __len__(self):
        if self.thread.ident is None:
            self.thread.start()
            self.thread.join(0.5)  # long enough, unless the fit waits for `attach`
        return super().__len__()


def test_names_are_attached_to_the_model_they_were_checked_against():
    forest = RandomForestClassifier(2, random_state=0).fit(np.eye(5), np.eye(5, dtype=int))
    names = LateNames(forest, 5)
    forest.attach(row_ids=names)
    names.thread.join()
    assert forest.fitted_.labels.shape[0] == 7
    assert not hasattr(forest, "row_ids_")

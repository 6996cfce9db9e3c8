"""The rows and the pairs of labels that a model gets most wrong."""

from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import RandomForestClassifier
from sketchforest._evaluation.mistakes import confused_pairs, most_wrong_rows
from sketchforest.evaluation import evaluate
from sketchforest.metrics import row_values
from sketchforest.report import make_report

NAMES = np.array(list("abcdef"))


def random_case(seed):
    rng = np.random.default_rng(seed)
    truth, scores = rng.random((40, 6)) < 0.3, rng.integers(0, 9, (40, 6)) / 8
    return truth, scores.astype(np.float32), scores > 0.5


@pytest.mark.parametrize("seed", range(20))
def test_the_rows_with_the_lowest_lrap_come_first(seed):
    truth, scores, predicted = random_case(seed)
    found = most_wrong_rows(*map(sparse.csr_array, (truth, scores, predicted)), NAMES, n=5)
    lrap = row_values("lrap", truth, scores)
    n_wrong = (truth != predicted).sum(axis=1)
    candidates = [row for row in range(40) if truth[row].any() and n_wrong[row]]
    expected = sorted(candidates, key=lambda row: (lrap[row], -n_wrong[row]))[:5]
    assert [each.row for each in found] == expected
    for each in found:
        for listed, own, other in (
            (each.true, truth, predicted),
            (each.predicted, predicted, truth),
        ):
            assert {label.name for label in listed} == set(NAMES[own[each.row]])
            assert [label.score for label in listed] == sorted(scores[each.row, own[each.row]])[
                ::-1
            ]
            for label in listed:
                assert label.is_right == other[each.row, "abcdef".index(label.name)]


@pytest.mark.parametrize("seed", range(20))
def test_confused_labels_are_counted_over_rows(seed):
    truth, _, predicted = random_case(seed)
    counts = Counter(
        (NAMES[a], NAMES[b])
        for true, said in zip(truth, predicted, strict=True)
        for a in np.flatnonzero(true & ~said)
        for b in np.flatnonzero(said & ~true)
    )
    expected = sorted(((-n, *pair) for pair, n in counts.items() if n >= 2))[:7]
    found = confused_pairs(*map(sparse.csr_array, (truth, predicted)), NAMES, n=7)
    assert [(-each.n_rows, each.true, each.predicted) for each in found] == expected


def test_wrong_rows_are_numbered_as_given_and_show_their_texts():
    whens = ("today", "tomorrow", "often", "never", "slowly")
    texts = [f"{what} {when}" for what in ("fry an egg", "bake bread") for when in whens]
    vectorizer = TfidfVectorizer()
    Y = np.array([[1, 0]] * 5 + [[0, 1]] * 5)
    forest = RandomForestClassifier(9, random_state=0).fit(vectorizer.fit_transform(texts), Y)
    forest.attach(label_names=["eggs", "bread"], vectorizer=vectorizer)
    more = [*texts, "bread and cheese", "an egg on bread"]
    wrong = np.vstack([Y, [[1, 0], [0, 1]]])  # labels of the two new rows that fit badly
    found = evaluate(forest, more, wrong)
    assert found.basis == "held-out rows"
    assert (found.wrong_rows[0].row, found.wrong_rows[0].text) == (10, "bread and cheese")
    report = make_report(forest, more, wrong)
    assert "bread and cheese" in report.to_html()


def test_the_report_escapes_texts_and_marks_wrong_labels():
    X = np.arange(8.0).reshape(-1, 1)
    Y = np.array([[1, 0]] * 4 + [[0, 1]] * 4)
    forest = RandomForestClassifier(9, random_state=0).fit(X, Y)
    forest.attach(label_names=["<b>low</b>", "high"])
    report = make_report(forest, [[0.1], [0.2], [0.3]], [[0, 1], [0, 1], [1, 0]])
    page, card = report.to_html(), report.to_markdown()
    assert '<li class="wrong"><span>&lt;b&gt;low&lt;/b&gt;</span>' in page
    assert "<b>low</b>" not in page
    assert "| high | &lt;b&gt;low&lt;/b&gt; | 2 |" in card

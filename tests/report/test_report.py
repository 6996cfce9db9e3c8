"""Reports: numbers equal those of the metrics, and names are escaped."""

import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score

from sketchforest import RandomForestClassifier, RandomForestRegressor, SketchForestClassifier
from sketchforest._pages import FOLDER, environment
from sketchforest.datasets import make_multilabel
from sketchforest.metrics import coverage_error, lrap, ndcg_at_k, precision_at_k
from sketchforest.report import make_report

EVIL = "<script>alert(1)</script>"
DATA = make_multilabel(400, 40, 30, labels_per_row=3, features_per_row=8, random_state=0)
TRAIN, TEST = slice(0, 250), slice(250, None)


class Page(HTMLParser):
    """Parse a page: its elements, and the cells of its tables."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.tables, self._open, self._script = [], [], None, ""
        self.scripts = {}
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._open = []
        elif tag == "br" and self._open is not None:
            self._open.append("\n")
        elif tag == "script":
            self._script = attributes.get("id", "own")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append("".join(self._open).strip())
            self._open = None
        elif tag == "script":
            self._script = ""

    def handle_data(self, data):
        if self._script:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        elif self._open is not None:
            self._open.append(data)

    def table(self, first_head):
        (found,) = [table for table in self.tables if table[0][0] == first_head]
        return found[1:]


@pytest.fixture(scope="module")
def forest():
    forest = SketchForestClassifier(20, random_state=0, threshold="f1")
    return forest.fit(DATA.X[TRAIN], DATA.Y[TRAIN])


@pytest.fixture(scope="module")
def report(forest):
    return make_report(forest, DATA.X[TEST], DATA.Y[TEST], title="A forest")


@pytest.fixture(scope="module")
def page(report):
    return Page(report.to_html())


def scores_on(page):
    found = {}
    for titles, values, better, says in page.table("score"):
        assert says
        for title, value in zip(titles.split("\n"), values.split("\n"), strict=True):
            found[title] = float(value.replace(",", "")), better
    return found


def test_scores_equal_those_of_the_metrics(forest, page):
    truth, scores = DATA.Y[TEST], forest.predict_sparse(DATA.X[TEST])
    decided = forest.predict(DATA.X[TEST]).toarray()
    there = (truth.toarray() + decided).any(axis=0)
    found = scores_on(page)
    up, down = "↑ higher is better", "↓ lower is better"
    expected = {
        "LRAP": (lrap(truth, scores), up),
        "P@1": (precision_at_k(truth, scores, 1), up),
        "P@5": (precision_at_k(truth, scores, 5), up),
        "nDCG@3": (ndcg_at_k(truth, scores, 3), up),
        "coverage error": (coverage_error(truth, scores), down),
        "micro F1": (f1_score(truth.toarray(), decided, average="micro"), up),
        "macro F1": (
            f1_score(truth.toarray()[:, there], decided[:, there], average="macro"),
            up,
        ),
    }
    for title, (value, better) in expected.items():
        digits = 0.05 if value >= 10 else 0.00005
        assert found[title] == (pytest.approx(value, abs=1.01 * digits), better), title


def test_the_label_table_equals_scikit_learns_metrics(forest, page):
    truth = DATA.Y[TEST].toarray()
    scores = forest.predict_proba(DATA.X[TEST])
    decided = forest.predict(DATA.X[TEST]).toarray()
    lines = json.loads(page.scripts["lines"])
    assert sorted(int(line[0]) for line in lines) == list(range(30))
    assert [line[1] for line in lines] == sorted((line[1] for line in lines), reverse=True)
    for name, n_true, n_predicted, precision, recall, f1, ap, _ in lines:
        label = int(name)
        pair = truth[:, label], decided[:, label]
        assert (n_true, n_predicted) == (pair[0].sum(), pair[1].sum())
        metrics = (precision_score, precision), (recall_score, recall), (f1_score, f1)
        for metric, value in metrics:
            if value is not None:
                assert value == pytest.approx(metric(*pair, zero_division=0), abs=1e-4)
        assert (precision is None) == (not n_predicted)
        assert (recall is None) == (ap is None) == (not n_true)
        if n_true:
            assert ap == pytest.approx(average_precision_score(pair[0], scores[:, label]), abs=1e-4)
    [shown] = [table[1:] for table in page.tables if "calibration error" in table[0]]
    assert shown[0][0] == lines[0][0]
    assert [row[1] for row in shown] == [f"{line[1]:,}" for line in lines]


def test_the_threshold_in_use_has_the_f1_of_the_scores(forest, page):
    (own,) = [row for row in page.table("threshold") if "in use" in row[0]]
    assert float(own[0][:5]) == pytest.approx(float(forest.thresholds_), abs=5e-4)
    assert float(own[3]) == pytest.approx(scores_on(page)["micro F1"][0], abs=6e-4)
    f1 = [float(row[3]) for row in page.table("threshold")]
    (best,) = [row for row in page.table("threshold") if "best F1" in row[0]]
    assert float(best[3]) == max(f1)


def test_the_page_loads_nothing(page):
    for tag, attributes in page.elements:
        for name in ("src", "href", "data", "action", "srcset"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:")), (tag, value)
    (policy,) = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert policy.startswith("default-src 'none'")


def test_names_are_escaped(forest):
    names = np.array([f"{EVIL}|*{at}*" for at in range(30)])
    named = RandomForestClassifier(5, random_state=0).fit(DATA.X[TRAIN], DATA.Y[TRAIN])
    named.attach(label_names=names, feature_names=[f"</table>{EVIL}{at}" for at in range(40)])
    evil = {EVIL: EVIL}
    report = make_report(
        named, DATA.X[TEST], DATA.Y[TEST], title=EVIL, about_model=evil, about_data=evil
    )
    html = report.to_html()
    assert EVIL not in html
    page = Page(html)
    assert [a for tag, a in page.elements if tag == "script"] == [
        {"type": "application/json", "id": "lines"},
        {},
    ]
    assert {line[0] for line in json.loads(page.scripts["lines"])} == set(names)
    assert page.tables[-1][1][0].startswith(f"</table>{EVIL}")
    card = report.to_markdown()
    assert EVIL not in card
    rows = [line for line in card.splitlines() if line.startswith("| &lt;script")]
    cells = [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]
    assert {len(row) for row in cells} == {6, 3, 2}  # no name splits a cell
    assert all(r"\|\*" in row[0] for row in cells if len(row) == 6)


def test_a_page_with_three_thousand_labels_stays_small():
    data = make_multilabel(600, 50, 3000, labels_per_row=20, features_per_row=8, random_state=0)
    names = np.array([f"a label with a usual name {at}" for at in range(3000)])
    forest = RandomForestClassifier(3, random_state=0).fit(data.X[:400], data.Y[:400])
    forest.attach(label_names=names)
    html = make_report(forest, data.X[400:], data.Y[400:]).to_html()
    assert len(html) < 600_000
    page = Page(html)
    assert len(json.loads(page.scripts["lines"])) == 3000
    assert all(len(table) <= 51 for table in page.tables)


def test_a_page_with_too_many_labels_says_how_many_are_shown(monkeypatch, forest):
    monkeypatch.setattr("sketchforest.report.report.MAX_LABELS", 12)
    html = make_report(forest, DATA.X[TEST], DATA.Y[TEST]).to_html()
    assert len(json.loads(Page(html).scripts["lines"])) == 12
    assert "The 12 most frequent of 30 labels." in html


def test_a_regressor_has_a_page_without_labels():
    rng = np.random.default_rng(0)
    X = rng.random((80, 4))
    forest = RandomForestRegressor(5, random_state=0).fit(X[:60], X[:60, :2])
    report = make_report(forest, X[60:], X[60:, :2])
    page = Page(report.to_html())
    assert scores_on(page).keys() == {"R²", "mean absolute error", "RMSE"}
    assert scores_on(page)["R²"][0] == pytest.approx(forest.score(X[60:], X[60:, :2]), abs=5e-5)
    assert "lines" not in page.scripts
    assert "R²" in report.to_markdown()


def test_classes_have_an_accuracy_and_no_threshold():
    rng = np.random.default_rng(0)
    X = rng.random((150, 4))
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [0.3, 0.6])]
    forest = RandomForestClassifier(9, random_state=0).fit(X[:100], y[:100])
    html = make_report(forest, X[100:], y[100:]).to_html()
    tiles = dict(re.findall(r"<span>([^<]*)</span> <span class=\"value\">([\d.]*)", html))
    assert float(tiles["accuracy"]) == pytest.approx(forest.score(X[100:], y[100:]), abs=5e-5)
    assert 'id="threshold"' not in html
    assert {line[0] for line in json.loads(Page(html).scripts["lines"])} == {
        "low",
        "middle",
        "high",
    }


ONE_LABEL = (np.arange(60) % 3 == 0).astype(int)[:, None]
ONE = {
    "label": sparse.csr_array(ONE_LABEL),
    "label that all rows have": sparse.csr_array(np.ones((60, 1), int)),
    "label beside an empty one": np.hstack([ONE_LABEL, np.zeros((60, 1), int)]),
    "class": np.full(60, "only"),
}


@pytest.mark.parametrize("target", ONE.values(), ids=ONE)
def test_a_single_class_or_label_is_reported(target):
    X = np.random.default_rng(0).random((60, 3))
    forest = RandomForestClassifier(3, random_state=0).fit(X[:40], target[:40])
    report = make_report(forest, X[40:], target[40:])
    assert 0 < scores_on(Page(report.to_html()))["LRAP"][0] <= 1
    assert report.to_markdown().startswith("# RandomForestClassifier\n")


def test_absent_labels_have_no_scores(forest):
    truth = DATA.Y[TEST].toarray()
    truth[:, np.arange(30) != truth.sum(axis=0).argmax()] = 0
    html = make_report(forest, DATA.X[TEST], truth).to_html()
    assert "29 of 30 labels do not occur in the data" in html
    lines = json.loads(Page(html).scripts["lines"])
    assert all(line[4] is None and line[6] is None for line in lines[1:])


def test_a_compact_model_has_no_importances(forest, tmp_path):
    from sketchforest import load_forest

    forest.save(tmp_path / "model.sf", compact=True)
    report = make_report(load_forest(tmp_path / "model.sf"), DATA.X[TEST], DATA.Y[TEST])
    assert "saved compact" in report.to_html()
    assert "## Feature importance" not in report.to_markdown()


def test_changed_settings_come_first(report, forest):
    (threshold,) = [s for s in report.settings if s.name == "threshold"]
    assert threshold.value == "'f1'"
    names = [s.name for s in report.settings if not s.is_default]
    assert names[: len(names)] == [s.name for s in report.settings][: len(names)]
    usual = type(forest)().get_params()
    assert set(names) == {n for n, v in forest.get_params().items() if v != usual[n]}


@pytest.mark.parametrize("threshold", [np.linspace(0.1, 0.9, 30), "f1-per-label", "top-3", 0.4])
def test_every_kind_of_threshold_is_reported(threshold):
    forest = RandomForestClassifier(20, random_state=0, oob_score=True, threshold=threshold)
    forest.fit(DATA.X[TRAIN], DATA.Y[TRAIN])
    page = Page(make_report(forest, DATA.X[TEST], DATA.Y[TEST]).to_html())
    marks = [row[0] for row in page.table("threshold") if "in use" in row[0]]
    assert len(marks) == (threshold == 0.4 if isinstance(threshold, float) else 0)


def test_remarks_speak_of_classes_or_labels():
    X = np.zeros((40, 2))
    y = np.array(["often"] * 30 + ["rare"] * 10)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    html = make_report(forest, X, y).to_html()
    assert "1 class occurs in the data but is never predicted.</p>" in html
    forest = RandomForestClassifier(5, random_state=0).fit(X, y[:, None] == ["often", "rare"])
    html = make_report(forest, X, y[:, None] == ["often", "rare"]).to_html()
    assert "1 label occurs in the data but is never predicted. A lower threshold" in html


def test_the_file_extension_chooses_the_format(report, tmp_path):
    report.save(tmp_path / "card.md")
    report.save(tmp_path / "page.html")
    report.save(tmp_path / "other.md", "html")
    assert (tmp_path / "card.md").read_text("utf-8").startswith("# A forest\n")
    for name in ("page.html", "other.md"):
        assert (tmp_path / name).read_text("utf-8").startswith("<!doctype html>")
    with pytest.raises(ValueError, match="format must be 'html' or 'markdown'; got 'pdf'"):
        report.save(tmp_path / "page.pdf", "pdf")
    assert not (tmp_path / "page.pdf").exists()


def test_a_notebook_shows_the_page_in_a_frame(report):
    (frame,) = [a for tag, a in Page(report._repr_html_()).elements if tag == "iframe"]
    assert unescape(frame["srcdoc"]).startswith("<!doctype html>")
    assert "LRAP" in repr(report)


def test_long_names_break_between_words_and_stay_escaped():
    template = environment(FOLDER).from_string("{{ name | breakable }}")
    assert template.render(name="sam/dean_x") == "sam/<wbr>dean_<wbr>x"
    assert template.render(name="<b>c++ & 'd'") == "&lt;b&gt;c++ &amp; &#39;d&#39;"

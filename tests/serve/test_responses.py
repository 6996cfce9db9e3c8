"""Responses of the service equal the results of the library."""

import numpy as np
import pytest

from sketchforest import DecisionTreeClassifier, RandomForestClassifier, __version__, load_forest
from sketchforest._trees.targets import F1Thresholds

SOUP = "How long does soup keep in the fridge?"


def test_labels_of_a_text_equal_those_of_suggest(service, forests):
    status, answer = service.ask("/suggest", {"row": SOUP, "k": 3})
    assert status == 200
    assert answer["model"] == "questions"
    found = [(label["label"], label["score"]) for label in answer["labels"]]
    [expected] = forests["questions"].suggest([SOUP], k=3)
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert [score for _, score in found] == pytest.approx([s for _, s in expected], abs=1e-6)


def test_predicted_labels_equal_those_of_predict(service, forests):
    texts = [SOUP, "cake", "", "eggs and bread and pasta in a pan", "which pan for rice?"]
    status, answer = service.ask("/suggest", {"rows": texts, "k": 100})
    assert status == 200
    predicted = forests["questions"].predict(texts)
    for row, expected in zip(answer["rows"], predicted, strict=True):
        assert [label["label"] for label in row["labels"] if label["predicted"]] == expected
    assert [bool(row) for row in predicted] == [bool(text) for text in texts]


@pytest.mark.parametrize("threshold", [0.3, "top-2", "f1", "f1-per-label"])
def test_every_kind_of_threshold_predicts_what_the_forest_predicts(models, threshold, tmp_path):
    from sketchforest.serve.served_model import ModelSource, ServedModel

    forest = load_forest(models["matrix"]).set_params(threshold=threshold)
    # High enough that some rows have no label above them and get their best label.
    high = F1Thresholds(np.float32(0.6), np.linspace(0.5, 0.7, 8).astype(np.float32))
    forest._publish(forest.fitted_.but(f1_thresholds=high))
    forest.save(tmp_path / "model.sf")
    served = ServedModel.load(ModelSource("matrix", tmp_path / "model.sf"))
    rows = [{f"word{i}": 1, f"word{i * 7 % 60}": 1} for i in range(40)]
    load_forest(tmp_path / "model.sf").set_params(threshold=0.9).save(tmp_path / "other.sf")
    told = ServedModel.load(ModelSource("other", tmp_path / "other.sf", threshold))
    assert told.suggest(rows, 8) == served.suggest(rows, 8)
    assert (
        told.info()["predicts"] == served.info()["predicts"] == forest.describe().facts["predicted"]
    )
    predicted = np.asarray(forest.predict(served.reader.read(rows)).toarray(), bool)
    for row, expected in zip(served.suggest(rows, 8), predicted, strict=True):
        found = {label["label"] for label in row if label["predicted"]}
        assert found == set(forest.label_names_[expected])
    if isinstance(threshold, str) and threshold.startswith("f1"):
        assert (forest.predict_proba(served.reader.read(rows)).max(axis=1) < 0.5).any()


def test_single_trees_and_multiclass_forests_are_served(tmp_path):
    from sketchforest.serve.served_model import ModelSource, ServedModel

    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    DecisionTreeClassifier().fit(X, np.eye(4, dtype=int)).save(tmp_path / "labels.sf")
    RandomForestClassifier(5, random_state=0).fit(X, ["a", "a", "b", "b"]).save(
        tmp_path / "classes.sf"
    )
    for name, best in (("labels", "3"), ("classes", "b")):
        served = ServedModel.load(ModelSource(name, tmp_path / f"{name}.sf"))
        [row] = served.suggest([[3.0]], 2)
        assert [label["label"] for label in row if label["predicted"]] == [best]
        assert served.explain([3.0], [best], 1, 2)["labels"][0]["label"] == best


def test_requests_larger_than_a_block_keep_their_order(models, forests):
    from sketchforest.serve.served_model import BLOCK_ROWS, ModelSource, ServedModel

    served = ServedModel.load(ModelSource("matrix", models["matrix"]))
    rows = [{f"word{i % 60}": 1, f"word{i * 7 % 60}": 2} for i in range(2 * BLOCK_ROWS + 3)]
    found = served.suggest(rows, 3)
    assert found == [served.suggest([row], 3)[0] for row in rows]


def test_a_row_is_an_object_or_a_list_of_all_numbers(service, forests):
    row = {"word3": 1.0, "word10": 2}
    whole = [0.0] * 60
    whole[3], whole[10] = 1.0, 2
    _, by_name = service.ask("/suggest", {"row": row, "model": "matrix"})
    _, as_list = service.ask("/suggest", {"row": whole, "model": "matrix"})
    assert by_name == as_list
    [expected] = forests["matrix"].suggest([whole], k=5)
    found = [(label["label"], label["score"]) for label in by_name["labels"]]
    assert found == [(name, pytest.approx(score, abs=1e-6)) for name, score in expected]


def test_a_table_row_has_text_numbers_and_categories(service, command, models, tmp_path):
    row = {"title": "My soup", "body": "about soup", "year": 2010, "site": "home"}
    status, answer = service.ask("/suggest", {"row": row, "model": "posts", "k": 3})
    assert status == 200
    (tmp_path / "new.csv").write_text("title,body,year,site\nMy soup,about soup,2010,home\n")
    _, printed, _ = command("predict", models["posts"], tmp_path / "new.csv", "--top", "3")
    for label in answer["labels"]:
        assert f"{label['label']}" in printed
    assert answer["labels"][0]["label"] == "soup"
    # An absent or null field is missing, like an empty cell of the table.
    part = {"title": "My soup", "site": "home"}
    _, left_out = service.ask("/suggest", {"row": part, "model": "posts"})
    full = {**part, "body": None, "year": None}
    assert service.ask("/suggest", {"row": full, "model": "posts"})[1] == left_out


def test_contributions_add_up_and_name_words_and_training_rows(service, forests):
    status, answer = service.ask("/explain", {"row": SOUP, "label": "soup", "n_rows": 4})
    assert status == 200
    [label] = answer["labels"]
    added = sum(feature["adds"] for feature in label["features"])
    assert label["base"] + added == pytest.approx(label["score"], abs=1e-6)
    assert label["score"] == pytest.approx(
        dict(forests["questions"].suggest([SOUP], k=11)[0])["soup"], abs=1e-6
    )
    words = {SOUP[word["start"] : word["end"]]: word["adds"] for word in label["words"]["question"]}
    by_term = {feature["feature"]: feature["adds"] for feature in label["features"]}
    assert words["soup"] == by_term["soup"]
    rows, weights = forests["questions"].similar([SOUP], k=4)
    assert [row["row"] for row in answer["similar"]] == rows[0].tolist()
    assert [row["weight"] for row in answer["similar"]] == pytest.approx(weights[0], abs=1e-6)
    assert all(row["labels"] for row in answer["similar"])
    kept = forests["questions"].row_texts_
    assert [row["text"] for row in answer["similar"]] == [kept[row] for row in rows[0]]


def test_explanations_show_numbers_before_scaling(service):
    row = {"title": "My soup", "body": "about soup", "year": 2013, "site": "home"}
    _, answer = service.ask("/explain", {"row": row, "model": "posts", "k": 3})
    shown = [
        f["value"]
        for label in answer["labels"]
        for f in label["features"]
        if f["feature"] == "year"
    ]
    assert shown
    assert set(shown) == {2013}


def test_the_best_labels_are_explained_by_default(service):
    _, answer = service.ask("/explain", {"row": SOUP, "k": 2, "n_rows": 0})
    _, best = service.ask("/suggest", {"row": SOUP, "k": 2})
    assert [l["label"] for l in answer["labels"]] == [l["label"] for l in best["labels"]]  # noqa: E741
    assert answer["similar"] == []


def test_info_lists_models_fields_and_limits_but_no_path(service, models):
    status, answer = service.ask("/info")
    assert status == 200
    assert [model["name"] for model in answer["models"]] == ["questions", "matrix", "posts"]
    assert answer["limits"]["rows"] == 50
    posts = answer["models"][2]
    kinds = {field["name"]: field["kind"] for field in posts["fields"]}
    assert kinds == {"title": "text", "body": "text", "year": "number", "site": "category"}
    assert str(models["posts"].parent) not in str(answer)
    status, whole = service.ask("/info?model=matrix")
    assert whole["label_names"] == [f"tag{i}" for i in range(8)]


def test_pages_and_scripts_load_nothing_from_other_sites(service):
    assert service.ask("/health") == (
        200,
        {"status": "ok", "models": ["questions", "matrix", "posts"]},
    )
    for path in ("/", "/?model=matrix", "/?model=posts", "/docs"):
        status, page = service.ask(path)
        assert status == 200
        assert "default-src 'none'" in service.headers["content-security-policy"]
        assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in page
    for path in ("/model.js", "/docs.js"):
        assert service.ask(path)[0] == 200


def test_the_openapi_document_matches_the_responses(service):
    status, about = service.ask("/openapi.json")
    assert status == 200
    assert about["openapi"].startswith("3.1")
    assert about["info"]["version"] == __version__
    assert set(about["paths"]) == {"/suggest", "/explain", "/info", "/health"}
    for path, methods in about["paths"].items():
        for method, endpoint in methods.items():
            body = endpoint.get("requestBody")
            content = body and body["content"]["application/json"]["example"]
            status, answer = service.ask(path, content, method=method.upper())
            assert status == 200
            schema = endpoint["responses"]["200"]["content"]["application/json"]["schema"]
            check_schema(about, schema, answer)


def check_schema(about, schema, value):
    """Check that required properties exist and that every property is described."""
    if "$ref" in schema:
        schema = about["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "properties" in schema:
        assert set(schema.get("required", ())) <= set(value) <= set(schema["properties"])
        for name, part in value.items():
            check_schema(about, schema["properties"][name], part)
    elif schema.get("type") == "array" and "items" in schema:
        for part in value:
            check_schema(about, schema["items"], part)


def test_words_are_located_in_the_original_text(forests):
    from sklearn.feature_extraction.text import TfidfVectorizer

    from sketchforest.serve.highlights import TokenizedText, Word

    vectorizer = TfidfVectorizer(ngram_range=(1, 2), stop_words=["the"]).fit(["ab cd"])
    text = "🍲 Soup, the POT soup İstanbul pot"
    added = {"soup": 0.2, "soup pot": 0.1, "none": 1.0}
    found = TokenizedText.of(vectorizer, text, added).highlights(added)
    soup, pot = 0.2 + 0.05, 0.05
    assert found == [
        Word(2, 6, pytest.approx(soup)),
        Word(12, 15, pytest.approx(pot)),
        Word(16, 20, pytest.approx(soup)),
        Word(30, 33, pytest.approx(pot)),
    ]
    assert text[12:15] == "POT"
    letters = TfidfVectorizer(analyzer="char").fit(["ab"])
    assert TokenizedText.of(letters, text, {"s"}).highlights({"s": 1.0}) == []

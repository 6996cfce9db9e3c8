"""Text in, tags out: the same results as a vectorizer and a forest by hand, from any input."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MultiLabelBinarizer

from sketchforest import RandomForestClassifier, SketchForestClassifier, Tagger, load_forest
from sketchforest import evaluate as cross_validate
from sketchforest.evaluation import evaluate
from sketchforest.metrics import lrap, lrap_scorer, psp_at_k, psp_at_k_scorer

WORDS = ["egg", "bread", "soup", "rice", "fry", "bake", "boil", "freeze"]
FOREST = SketchForestClassifier(10, random_state=0)


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS, 5)) for _ in range(120)]


@pytest.fixture(scope="module")
def tags(texts):
    return [sorted({word for word in text.split() if word in WORDS[:5]}) for text in texts]


@pytest.fixture(scope="module")
def tagger(texts, tags):
    return Tagger(FOREST).fit(texts, tags)


@pytest.fixture
def frame(texts):
    n = len(texts)
    return pd.DataFrame(
        {
            "body": texts,
            "length": [float(len(text)) for text in texts],
            "site": pd.Categorical(["a", "b", "c"] * (n // 3)),
            "is_new": [True, False] * (n // 2),
        }
    )


def test_a_tagger_predicts_what_a_vectorizer_and_a_forest_by_hand_do(texts, tags, tagger):
    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float32)
    binarizer = MultiLabelBinarizer(sparse_output=True)
    Y = binarizer.fit_transform(tags[:90])
    forest = clone(FOREST).fit(vectorizer.fit_transform(texts[:90]), Y)
    made = Tagger(FOREST).fit(texts[:90], tags[:90])
    X_new = vectorizer.transform(texts[90:])
    assert made.label_names_.tolist() == list(binarizer.classes_)
    np.testing.assert_array_equal(made.predict_proba(texts[90:]), forest.predict_proba(X_new))
    by_hand = evaluate(forest, X_new, binarizer.transform(tags[90:]))
    assert made.evaluate(texts[90:], tags[90:]).scores == by_hand.scores
    assert made.score(texts[90:], tags[90:]) == by_hand.scores["lrap"]


def test_settings_of_the_vectorizer_reach_it(texts, tags):
    settings = {
        "analyzer": "char_wb",
        "ngram_range": (2, 3),
        "min_df": 3,
        "max_df": 0.9,
        "max_features": 40,
        "strip_accents": "unicode",
        "sublinear_tf": False,
    }
    made = Tagger(FOREST, **settings).fit(texts, tags)
    params = made.estimator_.vectorizer_.get_params()
    assert {name: params[name] for name in settings} == settings
    assert made.estimator_.n_features_in_ == 40


def as_polars(values):
    return pytest.importorskip("polars").Series(values)


def as_objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


FORMS_OF_TAGS = {
    "tuples": lambda tags: [tuple(row) for row in tags],
    "sets": lambda tags: [set(row) for row in tags],
    "pandas": pd.Series,
    "polars": as_polars,
    "objects": as_objects,
    "arrays": lambda tags: pd.Series([np.array(row, dtype=str) for row in tags]),
    "missing": lambda tags: [row or None for row in tags],
    "nan": lambda tags: pd.Series([row or np.nan for row in tags]),
    "gaps": lambda tags: [[*row, None, float("nan")] for row in tags],
}


@pytest.mark.parametrize("form", FORMS_OF_TAGS)
def test_tags_are_accepted_in_many_forms(texts, tags, tagger, form):
    rows = [[], *tags[1:]]
    made, expected = (Tagger(FOREST).fit(texts, t) for t in (FORMS_OF_TAGS[form](rows), rows))
    assert made.suggest(texts[:20]) == expected.suggest(texts[:20])


@pytest.mark.parametrize("n_tags", [1, 2])
@pytest.mark.parametrize("form", ["pandas", "polars", "objects", "tuples"])
def test_tag_lists_of_equal_length_are_tags_and_not_columns_of_classes(texts, form, n_tags):
    tags = [WORDS[i % 3 : i % 3 + n_tags] for i in range(len(texts))]
    made = Tagger(FOREST).fit(texts, FORMS_OF_TAGS[form](tags))
    assert made.label_names_.tolist() == sorted(WORDS[: 2 + n_tags])


def test_strings_of_tags_are_split_at_the_separator_or_refused(texts, tags, tagger):
    strings = [";".join(row) for row in tags]
    made = Tagger(FOREST, tag_separator=";").fit(texts, strings)
    assert made.suggest(texts[:20]) == tagger.suggest(texts[:20])
    with pytest.raises(ValueError, match=r"got the string '.*' in row 0. Use tag_separator=';'"):
        Tagger(FOREST).fit(texts, strings)


def test_an_indicator_matrix_has_the_tags_as_column_names(texts, tags, tagger):
    binarizer = MultiLabelBinarizer()
    Y = binarizer.fit_transform(tags)
    names = list(binarizer.classes_)
    for given in (pd.DataFrame(Y, columns=names), Y, sparse.csr_array(Y), sparse.csc_matrix(Y)):
        label_names = None if isinstance(given, pd.DataFrame) else names
        made = Tagger(FOREST).fit(texts, given, label_names=label_names)
        assert made.suggest(texts[:20]) == tagger.suggest(texts[:20])
    with pytest.raises(ValueError, match="label_names must have 5 entries; got 1"):
        Tagger(FOREST).fit(texts, Y, label_names=["a"])
    with pytest.raises(ValueError, match="zeros and ones; got 3"):
        Tagger(FOREST).fit(texts, 3 * Y, label_names=names)


@pytest.mark.parametrize("form", [list, tuple, pd.Series, np.array, as_polars, as_objects])
def test_texts_are_accepted_in_many_forms(texts, tagger, form):
    assert tagger.suggest(form(texts[:9])) == tagger.suggest(texts[:9])


def test_a_missing_text_is_an_empty_one(tagger):
    expected = tagger.suggest([""])
    for missing in (None, np.nan, pd.NA):
        assert tagger.suggest([missing]) == expected


def test_without_names_of_tags_predictions_are_an_indicator_matrix(texts, tags, tagger):
    Y = MultiLabelBinarizer(sparse_output=True).fit_transform(tags)
    predicted = Tagger(FOREST).fit(texts, Y).predict(texts[:9])
    found = [sorted(tagger.label_names_[predicted[[row]].indices]) for row in range(9)]
    assert found == [sorted(row) for row in tagger.predict(texts[:9])]
    assert cross_validate(Tagger(FOREST), texts, Y, cv=3).mean["lrap"] > 0.5


def test_a_row_that_says_nothing_has_no_tags(frame, tags):
    made = Tagger(FOREST).fit(frame, tags)
    blank = pd.DataFrame({"body": ["xyzzy", None], "length": np.nan, "site": None, "is_new": None})
    assert made.predict(blank) == [[], []]
    assert made.predict(blank.assign(site="a")) != [[], []]


def test_suggestions_come_best_first_and_predictions_exceed_the_threshold(texts, tagger):
    for found, predicted in zip(
        tagger.suggest(texts, k=5), tagger.predict(texts, threshold=0.4), strict=True
    ):
        assert all(a >= b for (_, a), (_, b) in pairwise(found))
        assert predicted == [tag for tag, score in found if score > 0.4]
    assert all(len(row) == 2 for row in tagger.predict(texts, threshold="top-2"))


def test_columns_of_a_frame_are_read_by_their_type(frame, tags):
    made = Tagger(FOREST).fit(frame, tags)
    assert made.feature_names_in_.tolist() == ["body", "length", "is_new", "site"]
    names = made.estimator_.feature_names_.tolist()
    assert names[-5:] == ["length", "is_new", "site=a", "site=b", "site=c"]
    shuffled = frame.assign(other=1)[["other", "site", "length", "is_new", "body"]]
    assert made.suggest(shuffled) == made.suggest(frame)


def test_a_pandas_and_a_polars_frame_give_the_same_model(frame, tags):
    polars = pytest.importorskip("polars")
    other = polars.DataFrame(frame.astype({"site": str}).to_dict("list")).with_columns(
        polars.col("site").cast(polars.Categorical)
    )
    expected = Tagger(FOREST).fit(frame, tags).suggest(frame)
    made = Tagger(FOREST).fit(other, tags)
    assert made.suggest(other) == made.suggest(frame) == expected


def test_an_unknown_or_missing_category_is_no_category(frame, tags):
    made = Tagger(FOREST).fit(frame, tags)
    unknown = frame.assign(site=pd.Categorical(["z"] * len(frame)))
    missing = frame.assign(site=pd.Categorical([None] * len(frame)))
    assert made.suggest(unknown) == made.suggest(missing)
    assert made.suggest(frame) != made.suggest(missing)


def test_missing_numbers_of_any_kind_are_missing(frame, tags):
    frame.loc[::7, "length"] = np.nan
    expected = Tagger(FOREST).fit(frame, tags).suggest(frame)
    nullable = frame.convert_dtypes()
    assert nullable.dtypes["length"] == "Int64"
    assert Tagger(FOREST).fit(nullable, tags).suggest(nullable) == expected


def test_roles_of_columns_can_be_named(frame, tags):
    roles = {"text_columns": ["site"], "category_columns": ["body"], "analyzer": "char"}
    made = Tagger(FOREST, **roles).fit(frame[["site", "body"]], tags)
    names = made.estimator_.feature_names_.tolist()
    assert names == ["a", "b", "c", *sorted(f"body={text}" for text in set(frame.body))]


def test_a_row_of_numbers_is_explained_in_units_of_the_table(frame, tags):
    made = Tagger(FOREST).fit(frame, tags)
    found = made.explain(frame[:1])
    values = dict(zip(found.feature_names, found.values, strict=True))
    assert values["length"] == pytest.approx(frame.length[0])


def test_explanations_and_similar_rows_refer_to_the_training_texts(texts, tags):
    made = Tagger(FOREST, keep_texts=True).fit(texts, tags)
    found = made.explain(texts[7], label="egg")
    assert found.label_names.tolist() == ["egg"]
    assert [texts[row] for row in found.rows] == list(found.row_texts)
    rows, weights = made.similar([texts[7]], k=3)
    assert rows.shape == weights.shape == (1, 3)


def test_unknown_tags_are_counted_in_an_evaluation(texts, tags, tagger):
    more = [[*row, "new"] for row in tags]
    found = tagger.evaluate(texts, more)
    assert found.n_unknown == 1
    assert found.scores == tagger.evaluate(texts, tags).scores
    with pytest.raises(ValueError, match="one that the model knows, such as bread, egg"):
        tagger.evaluate(texts, [["new"]] * len(texts))


def test_the_rows_that_are_most_wrong_are_shown_with_their_texts(texts, tags, frame):
    swapped = [["egg"] if "egg" not in row else ["bread"] for row in tags]
    for rows in (texts, frame):
        tagger = Tagger(FOREST).fit(rows[:90], tags[:90])
        found = tagger.evaluate(rows[90:], swapped[90:]).wrong_rows
        assert [wrong.text for wrong in found] == [texts[90 + wrong.row] for wrong in found] != []


def test_rare_tags_can_be_left_out(texts, tags):
    tags = [[*tags[0], "rare"], *tags[1:]]
    assert "rare" in Tagger(FOREST).fit(texts, tags).label_names_
    assert "rare" not in Tagger(FOREST, min_label_count=2).fit(texts, tags).label_names_
    with pytest.raises(ValueError, match="min_label_count must leave some labels; got 1000"):
        Tagger(FOREST, min_label_count=1000).fit(texts, tags)


def test_a_saved_tagger_is_loaded_as_a_tagger(frame, tags, tmp_path):
    made = Tagger(FOREST, keep_texts=True, ngram_range=(1, 2)).fit(frame, tags)
    made.save(tmp_path / "model.sf")
    loaded = load_forest(tmp_path / "model.sf")
    assert isinstance(loaded, Tagger)
    assert loaded.suggest(frame) == made.suggest(frame)
    params = made.get_params(deep=False), loaded.get_params(deep=False)
    assert {**params[0], "estimator": None} == {**params[1], "estimator": None}
    refitted = clone(loaded).fit(frame, tags)
    assert refitted.suggest(frame) == made.suggest(frame)


def test_a_tagger_follows_the_conventions_of_scikit_learn(texts, tags, tagger):
    assert clone(tagger).set_params(estimator__n_estimators=3).estimator.n_estimators == 3
    assert "estimator_" in tagger._repr_html_() or "Tagger" in tagger._repr_html_()
    for other in (copy.deepcopy(tagger), pickle.loads(pickle.dumps(tagger))):
        assert other.suggest(texts[:5]) == tagger.suggest(texts[:5])
    scores = cross_val_score(Tagger(FOREST), texts, tags, cv=3)
    assert (scores > 0.5).all()
    lower = FunctionTransformer(lambda rows: [row.lower() for row in rows])
    pipeline = make_pipeline(lower, Tagger(FOREST)).fit(texts, tags)
    assert pipeline.predict([text.upper() for text in texts[:5]]) == tagger.predict(texts[:5])


def test_fit_does_not_change_the_estimator_given(texts, tags):
    forest = RandomForestClassifier(5, random_state=0)
    Tagger(forest).fit(texts, tags)
    assert not forest.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ("one text", "texts must be a list of texts; got one text, 'one text'"),
        (np.eye(3), "texts must be a list of texts or a data frame; got a matrix"),
        ([1, 2, 3], "texts must hold strings; got '1' of type int in row 0"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"] * 3)}), "got column 'day' of datetime"),
        (["a b", "a b"], "the same number of rows; got 2 and 3"),
        (["", "", ""], "texts must have words that occur in at least 2 texts; found none"),
    ],
)
def test_bad_texts_are_refused_with_the_reason(texts, said):
    with pytest.raises(ValueError, match=said):
        Tagger(FOREST).fit(texts, [["a"], ["b"], ["a"]])


def test_columns_that_lack_are_named(frame, tags):
    made = Tagger(FOREST).fit(frame, tags)
    with pytest.raises(ValueError, match="texts must have the column 'site'"):
        made.suggest(frame.drop(columns="site"))
    with pytest.raises(ValueError, match="must be a data frame with the columns 'body', 'length'"):
        made.suggest(["a text"])
    with pytest.raises(ValueError, match=r"text_columns must name columns of the .* got 'title'"):
        Tagger(FOREST, text_columns=["title"]).fit(frame, tags)


def test_estimators_of_other_libraries_are_refused(texts, tags):
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(TypeError, match=r"classifier of sketchforest; got a LogisticRegression"):
        Tagger(LogisticRegression()).fit(texts, tags)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"estimators": 3}, "unknown field tagger.estimators"),
        ({"ngram_range": [2, 1]}, "invalid value of tagger.ngram_range"),
        ({"text_columns": [1]}, "invalid value of tagger.text_columns"),
        ({"min_label_count": -1}, "invalid value of tagger.min_label_count"),
    ],
)
def test_a_file_with_invalid_settings_is_refused(params, said, texts, tags, tmp_path):
    made = Tagger(FOREST).fit(texts, tags)
    made.estimator_.tagger_ = params
    made.save(tmp_path / "model.sf")
    with pytest.raises(ValueError, match=f"not a valid sketchforest model: {said}"):
        load_forest(tmp_path / "model.sf")


@pytest.mark.parametrize("rows", ["texts", "frame"])
def test_cross_validation_of_lists_and_of_their_indicators_agree(texts, tags, frame, rows):
    X = texts if rows == "texts" else frame
    Y = MultiLabelBinarizer(sparse_output=True).fit_transform(tags)
    found, of_matrix = (
        cross_validate(Tagger(FOREST), X, given, cv=3, random_state=0).scores for given in (tags, Y)
    )
    for name in found.keys() - {"fit_seconds", "predict_seconds"}:
        assert found[name] == pytest.approx(of_matrix[name]), name


def test_cross_validation_counts_tags_that_training_rows_lack_as_missed(texts):
    halves = [["first"]] * 60 + [["second"]] * 60
    split = [(np.arange(60), np.arange(60, 120))]
    found = cross_validate(Tagger(FOREST), texts, halves, cv=split, metrics=["lrap", "macro_f1"])
    assert found.mean["lrap"] == 0.5  # of two tags, the true one is last
    assert found.mean["macro_f1"] == 0


def test_cross_validation_splits_strings_of_tags_and_leaves_out_rare_ones(texts, tags):
    joined = [";".join(row) for row in tags]
    tagger = Tagger(FOREST, tag_separator=";", min_label_count=30)
    of_strings, of_lists = (
        cross_validate(tagger, texts, given, cv=3, random_state=0, metrics=["lrap"]).mean["lrap"]
        for given in (joined, tags)
    )
    assert of_strings == of_lists


def test_cross_validation_of_forests_refuses_lists_of_tags(texts, tags):
    with pytest.raises(ValueError, match=r"got lists of labels.*or Tagger, which takes them"):
        cross_validate(FOREST, np.zeros((len(texts), 1)), tags)


@pytest.mark.parametrize("scorer", [lrap_scorer, "psp"], ids=["lrap", "psp"])
def test_scorers_take_lists_of_tags(texts, tags, scorer):
    scorer = psp_at_k_scorer(tags, k=3) if scorer == "psp" else scorer
    grid = {"min_df": [1, 2], "estimator__n_estimators": [5]}
    search = GridSearchCV(Tagger(FOREST), grid, scoring=scorer, cv=2).fit(texts, tags)
    Y = search.best_estimator_.indicators(tags)
    scores = search.best_estimator_.predict_sparse(texts)
    by_hand = lrap(Y, scores) if scorer is lrap_scorer else psp_at_k(Y, scores, k=3, Y_train=Y)
    assert scorer(search.best_estimator_, texts, tags) == pytest.approx(by_hand)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()

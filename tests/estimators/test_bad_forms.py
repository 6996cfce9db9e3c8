"""What people try first, and the error that shows how to fix it."""

import warnings

import numpy as np
import pytest
from bad_input import N_FEATURES, N_ROWS, X, Y, one_sentence, refuse_to_fit, small
from every_kind import CLASSIFIERS
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

TRIED = {
    "lists of tags": ([["a", "b"], ["b"]] * 20, "MultiLabelBinarizer"),
    "sets of tags": (
        [{"a", "b"}, {"b"}] * 20,
        r"such as .*MultiLabelBinarizer\(sparse_output=True",
    ),
    "lists of equal length": ([["a", "b"], ["b", "c"]] * 20, "such as \\['a', 'b'\\].* or Tagger"),
    "sparse columns of classes": (
        sparse.csr_array([[0, 2], [1, 1]] * 20),
        "got the value 2. Use toarray",
    ),
}


@pytest.mark.parametrize(("y", "way_out"), TRIED.values(), ids=TRIED)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_other_forms_of_labels_name_the_way_out(kind, y, way_out):
    refuse_to_fit(kind, f"Y must .*{way_out}", y=y)


def test_a_series_of_lists_names_the_way_out():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    tags = [["a"], ["b"]] * 20
    for series in (pandas.Series(tags), polars.Series(tags), polars.Series([[], *tags[1:]])):
        refuse_to_fit(ExtraTreesClassifier, "such as .*MultiLabelBinarizer.* or Tagger", y=series)


@pytest.mark.parametrize("separator", [";", ",", "|"])
def test_classes_that_look_like_joined_labels_give_a_warning(separator):
    y = [separator.join(row) for row in (["a", "b"], ["b", "c"], ["a", "c"], ["c"])] * 10
    with pytest.warns(UserWarning, match=f"4 classes, .* split into 3 labels at '[{separator}]'"):
        small(RandomForestClassifier).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(RandomForestClassifier).fit(X, ["Paris, France", "Rome, Italy", "Lima", "Oslo"] * 10)


@pytest.mark.parametrize("dtype", ["string", "category", "object"])
def test_a_column_of_strings_is_named_where_the_model_has_numbers(dtype):
    pandas = pytest.importorskip("pandas")
    numbers = pandas.DataFrame({"size": X[:, 0], "colour": X[:, 1]})
    forest = small(RandomForestClassifier).fit(numbers, Y)
    strings = numbers.assign(colour=pandas.Series(["red"] * N_ROWS, dtype=dtype))
    with one_sentence("X must hold numbers; .*column 'colour'"):
        forest.predict(strings)


COLUMNS = {
    "datetime": (lambda p: p.date_range("2020-01-01", periods=N_ROWS), "of datetime64.*its year"),
    "with a zone": (lambda p: p.date_range("2020", periods=N_ROWS, tz="UTC"), "of datetime64"),
    "timedelta": (lambda p: p.to_timedelta(range(N_ROWS), unit="s"), "of timedelta64.*seconds"),
    "period": (lambda p: p.period_range("2020", periods=N_ROWS, freq="D"), r"of period\[D\]"),
}


@pytest.mark.parametrize("which", COLUMNS)
def test_a_column_that_is_no_number_is_named(which):
    pandas = pytest.importorskip("pandas")
    made, reason = COLUMNS[which]
    frame = pandas.DataFrame({"size": X[:, 0], "other": made(pandas)})
    refuse_to_fit(RandomForestClassifier, f"got column 'other' {reason}", X=frame)


def test_a_text_among_objects_is_named_by_its_column():
    pandas = pytest.importorskip("pandas")
    cells = np.array([1, 2.5, None, "red"] * 10, dtype=object)
    frame = pandas.DataFrame({"size": X[:, 0].astype(object), "colour": cells})
    refuse_to_fit(RandomForestClassifier, "in column 'colour', could not .*: 'red'", X=frame)


def test_categories_that_are_numbers_are_categories():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"code": pandas.Categorical([1, 2] * 20)})
    taken = small(RandomForestClassifier).fit(frame, Y)
    assert taken.fitted_.feature_names.tolist() == ["code=1", "code=2"]


@pytest.mark.parametrize("layout", [list, tuple, np.array])
def test_texts_without_a_vectorizer_name_the_way_out(layout):
    texts, said = (
        layout(["cannot login"] * N_ROWS),
        r"got texts, such as 'cannot login'.*attach\(vector",
    )
    refuse_to_fit(RandomForestClassifier, said, X=texts)
    fitted = small(RandomForestClassifier).fit(X, Y)
    for rows in (texts, "cannot login"):
        with one_sentence(said):
            fitted.suggest(rows)


def test_strings_of_numpy_are_shown_as_strings():
    strings = np.array([[np.str_("z")] * N_FEATURES] * N_ROWS, dtype=object)
    refuse_to_fit(RandomForestClassifier, "could not convert string to float: 'z'", X=strings)
    fitted = small(RandomForestClassifier).fit(X, Y)
    with one_sentence(r"label must be a name or a number .*; got 'z'\."):
        fitted.explain(X[:1], label=np.str_("z"))


def test_a_lazy_frame_names_the_way_out():
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"a": [1.0] * N_ROWS, "b": [0] * N_ROWS})
    for kind in (RandomForestClassifier, RandomForestRegressor):
        refuse_to_fit(kind, r"X must hold rows; got a LazyFrame, .* Call its collect\(\)", X=lazy)
        refuse_to_fit(kind, r"Y must hold rows; got a LazyFrame, .* Call its collect\(\)", y=lazy)


@pytest.mark.parametrize("largest", [2**53 + 1, -(2**60)])
def test_whole_numbers_that_fall_together_are_told(largest):
    X = np.array([[largest], [largest + 1], [0]])
    with pytest.warns(UserWarning, match=r"X has integers beyond 2\*\*53"):
        DecisionTreeClassifier().fit(X, [0, 1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTreeClassifier().fit(np.array([[2**53], [1], [0]]), [0, 1, 0])

"""Data frames with categories: one-hot encoded inside, and shown as "colour=red"."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest.cli import app

KINDS = (RandomForestClassifier, SketchForestClassifier, ExtraTreesRegressor)
N = 120


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(rng.choice(["red", "blue", "green"], N)),
            "size": rng.normal(size=N),
            "shape": pd.Series(rng.choice(["round", "flat"], N), dtype="string"),
            "is_new": rng.random(N) < 0.5,
        }
    )
    frame.loc[3, "size"] = np.nan
    frame.loc[4, "colour"] = None
    return frame


@pytest.fixture
def y(frame):
    return ((frame["colour"] == "red") & (frame["shape"] == "round")).to_numpy().astype(int)


def encoded(frame):
    """One-hot columns after the numbers, by hand."""
    columns = {"size": frame["size"], "is_new": frame["is_new"]}
    columns |= {f"colour={c}": frame["colour"] == c for c in ("blue", "green", "red")}
    columns |= {f"shape={s}": frame["shape"] == s for s in ("flat", "round")}
    return pd.DataFrame(columns).astype(float)


def small(kind):
    return kind(10, random_state=0)


@pytest.mark.parametrize("kind", KINDS)
def test_categories_are_encoded_one_hot(kind, frame, y):
    forest = small(kind).fit(frame, y)
    by_hand = small(kind).fit(encoded(frame), y)
    assert np.array_equal(forest.predict(frame), by_hand.predict(encoded(frame)))
    assert np.array_equal(forest.feature_importances_, by_hand.feature_importances_)
    names = by_hand.feature_names_in_.tolist()
    assert forest.fitted_.feature_names.tolist() == names
    assert forest.to_frame().feature.iloc[0] in ("colour=red", "shape=round", "shape=flat")


def test_names_and_numbers_of_features_are_those_of_the_frame(frame, y):
    forest = small(RandomForestClassifier).fit(frame, y)
    assert forest.feature_names_in_.tolist() == frame.columns.tolist()
    assert forest.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names should match"):
        forest.predict(frame[["size", "colour", "shape", "is_new"]])
    assert not hasattr(small(RandomForestClassifier).fit(frame[["size"]], y), "input_columns")


@pytest.mark.parametrize("dtype", ["Categorical", "Enum", "String"])
def test_a_polars_frame_gives_the_same_forest(dtype, frame, y):
    polars = pytest.importorskip("polars")
    kind = polars.Enum(["blue", "green", "red"]) if dtype == "Enum" else getattr(polars, dtype)
    cells = frame.astype(object).where(frame.notna(), None).to_dict("list")
    other = polars.DataFrame(cells).with_columns(polars.col("colour").cast(kind))
    forest, expected = (small(RandomForestClassifier).fit(X, y) for X in (other, frame))
    assert np.array_equal(forest.predict_proba(other), expected.predict_proba(frame))


def test_unknown_and_missing_categories_are_zeros(frame, y):
    forest = small(RandomForestClassifier).fit(frame, y)
    new = frame[:3].assign(colour=pd.Categorical(["pink", None, np.nan]))
    X = encoded(frame[:3]).assign(**{f"colour={c}": 0.0 for c in ("blue", "green", "red")})
    by_hand = small(RandomForestClassifier).fit(encoded(frame), y)
    assert np.array_equal(forest.predict_proba(new), by_hand.predict_proba(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_forest_of_categories_is_saved_with_them(kind, frame, y, tmp_path):
    forest = small(kind).fit(frame, y)
    forest.save(tmp_path / "m.sf")
    for other in (load_forest(tmp_path / "m.sf"), pickle.loads(pickle.dumps(forest))):
        assert np.array_equal(other.predict(frame), forest.predict(frame))
        assert other.feature_names_in_.tolist() == frame.columns.tolist()
        assert other.fitted_.input_columns == forest.fitted_.input_columns
        assert np.array_equal(clone(other).fit(frame, y).predict(frame), forest.predict(frame))


def test_an_explanation_names_columns_and_values(frame, y):
    forest = small(RandomForestClassifier).fit(frame, y)
    row = frame[frame["colour"] == "blue"][:1]
    found = forest.explain(row, label=1)
    values = dict(zip(found.feature_names, found.values, strict=True))
    assert values["colour=red"] == 0
    assert "colour=red" in repr(found)
    assert found.base + found.contributions.sum(axis=0) == pytest.approx(found.scores)


def test_everything_that_takes_rows_takes_the_frame(frame, y):
    forest = RandomForestClassifier(30, random_state=0, oob_score=True).fit(frame, y)
    assert forest.apply(frame).shape == (N, len(forest))
    assert forest.leaf_weights(frame).shape == (N, N)
    assert len(forest.suggest(frame[:2])) == 2
    assert forest.similar(frame[:2])[0].shape == (2, 5)
    assert forest.score(frame, y) > 0.9
    tree = forest.estimators_[0]
    assert len(tree.predict(frame)) == N
    assert np.array_equal(forest.relabel(1 - y).predict(frame), 1 - forest.predict(frame))
    more = forest.set_params(warm_start=True, n_estimators=32).fit(frame, y)
    assert len(more.predict(frame)) == N
    assert len(DecisionTreeClassifier(random_state=0).fit(frame, y).predict(frame)) == N


def test_a_converted_forest_takes_the_encoded_features(frame, y):
    forest = small(RandomForestClassifier).fit(frame, y)
    X = encoded(frame).astype(np.float32)
    converted = forest.to_sklearn()
    assert converted.feature_names_in_.tolist() == X.columns.tolist()
    assert np.array_equal(converted.predict(X), forest.predict(frame))


def test_commands_read_the_columns_of_the_frame(frame, y, tmp_path):
    forest = small(RandomForestClassifier).fit(frame, y)
    forest.save(tmp_path / "m.sf")
    frame.astype({"is_new": int}).to_csv(tmp_path / "rows.csv", index=False)
    words = ["predict", str(tmp_path / "m.sf"), str(tmp_path / "rows.csv"), "--json"]
    printed = CliRunner().invoke(app, words).stdout.splitlines()
    assert [json.loads(line)["labels"][0] for line in printed] == forest.predict(frame).astype(
        str
    ).tolist()


def test_a_column_of_texts_gives_a_warning(frame, y):
    frame["note"] = [f"note {row}" for row in range(N)]
    with pytest.warns(
        UserWarning, match="120 categories in column 'note' of 120 rows.* use Tagger"
    ):
        small(RandomForestClassifier).fit(frame, y)


def test_n_jobs_does_not_change_the_forest_and_fit_leaves_the_frame_alone(frame, y):
    before = frame.copy(deep=True)
    one, two = (RandomForestClassifier(10, random_state=0, n_jobs=n).fit(frame, y) for n in (1, 2))
    assert np.array_equal(one.predict_proba(frame), two.predict_proba(frame))
    pd.testing.assert_frame_equal(frame, before)


def test_a_file_whose_columns_do_not_match_is_refused(frame, y, tmp_path):
    forest = small(RandomForestClassifier).fit(frame, y)
    forest._publish(forest.fitted_.but(input_columns={"size": None}))
    forest.save(tmp_path / "m.sf")
    with pytest.raises(ValueError, match="feature_names_in do not match the input columns"):
        load_forest(tmp_path / "m.sf")

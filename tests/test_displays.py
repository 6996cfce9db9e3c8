"""Displays: plots of evaluations, of any estimator and of predictions."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier as ScikitLearnForest

from sketchforest import RandomForestClassifier
from sketchforest.datasets import make_multilabel
from sketchforest.evaluation import (
    CalibrationDisplay,
    FeatureImportancesDisplay,
    LabelFrequencyDisplay,
    PrecisionAtKDisplay,
    ThresholdCurveDisplay,
    evaluate,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

DATA = make_multilabel(160, 25, 12, labels_per_row=2, features_per_row=8, random_state=0)
TRAIN, TEST = slice(110), slice(110, None)
X, Y = DATA.X[TEST], DATA.Y[TEST]
DISPLAYS = [PrecisionAtKDisplay, ThresholdCurveDisplay, CalibrationDisplay, LabelFrequencyDisplay]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(20, random_state=0, threshold=0.3).fit(
        DATA.X[TRAIN], DATA.Y[TRAIN]
    )


def points(display):
    return [line.get_xydata() for line in display.ax_.get_lines()]


@pytest.mark.parametrize("kind", DISPLAYS)
def test_a_display_is_the_same_from_estimator_evaluation_and_predictions(kind, forest):
    decided = kind is LabelFrequencyDisplay
    predicted = forest.predict(X) if decided else forest.predict_proba(X)
    found = [
        kind.from_estimator(forest, X, Y),
        kind.from_evaluation(evaluate(forest, X, Y)),
        kind.from_predictions(Y, predicted),
        kind.from_predictions(Y.toarray(), predicted),
    ]
    first, *others = map(points, found)
    assert first
    for other in others:
        assert all(np.allclose(a[:90], b[:90]) for a, b in zip(first, other, strict=True))
    assert all(display.figure_ is display.ax_.figure for display in found)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_a_display_leaves_training_rows_out(kind, forest):
    whole = kind.from_estimator(forest, DATA.X, DATA.Y)
    expected = kind.from_estimator(forest, X, Y)
    assert all(map(np.array_equal, points(whole), points(expected)))


@pytest.mark.parametrize("kind", DISPLAYS)
def test_other_estimators_are_displayed_on_given_axes(kind):
    other = ScikitLearnForest(5, random_state=0).fit(DATA.X[TRAIN], DATA.Y[TRAIN].toarray())
    _, ax = pyplot.subplots()
    assert kind.from_estimator(other, X, Y, ax=ax).ax_ is ax


def test_importances_are_sorted_and_named(forest):
    found = FeatureImportancesDisplay.from_estimator(forest, n=5)
    order = np.argsort(-forest.feature_importances_)[:5]
    assert found.names == list(map(str, order))
    assert found.importances.tolist() == forest.feature_importances_[order].tolist()
    widths = [patch.get_width() for patch in found.ax_.patches]
    assert widths == pytest.approx(found.importances.tolist())

"""calibrate=: scores of labels become probabilities, by a curve fitted to out-of-bag scores."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from sketchforest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._saving.arrays import check_arrays
from sketchforest._saving.container import CorruptModelError
from sketchforest._saving.estimators import _calibration
from sketchforest._trees.calibration import calibrate, fit_isotonic, fit_sigmoid
from sketchforest.datasets import make_multilabel
from sketchforest.metrics import log_loss, lrap

DATA = make_multilabel(500, 30, 40, labels_per_row=3, features_per_row=8, n_topics=8)
X, Y, X_NEW, Y_NEW = DATA.X[:350], DATA.Y[:350], DATA.X[350:], DATA.Y[350:]
METHODS = ("sigmoid", "isotonic")
KINDS = (RandomForestClassifier, SketchForestClassifier)


def fitted(kind=RandomForestClassifier, **params):
    return kind(30, random_state=0, **params).fit(X, Y)


def biased(seed, n=20_000):
    """Scores, and labels that are more probable than that: the logit of p is 2 u + 1."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.01, 0.9, n).round(3)
    p = 1 / (1 + np.exp(-(2 * np.log(scores / (1 - scores)) + 1)))
    return scores, rng.random(n) < p, p


@pytest.mark.parametrize("fit", [fit_sigmoid, fit_isotonic])
def test_a_known_bias_is_found_and_removed(fit):
    scores, is_true, p = biased(0)
    assert np.abs(p - scores).mean() > 0.1
    assert np.abs(fit(scores, is_true).apply(scores) - p).mean() < 0.015


@pytest.mark.parametrize("fit", [fit_sigmoid, fit_isotonic])
@pytest.mark.parametrize("case", ["none", "all", "one", "reversed", "apart", "constant", "ends"])
def test_curves_ascend_strictly_from_zero_whatever_the_labels_are(fit, case):
    scores = np.linspace(0.01, 0.99, 99)
    is_true = {
        "none": np.zeros(99, bool),
        "all": np.ones(99, bool),
        "one": np.arange(99) == 40,
        "reversed": scores < 0.5,
        "apart": scores > 0.5,
        "constant": np.arange(99) % 3 == 0,
        "ends": np.arange(99) % 2 == 0,
    }[case]
    if case == "constant":
        scores = np.full(99, 0.3)
    if case == "ends":
        scores[:20], scores[-20:] = 1e-9, 1.0
    curve = fit(scores, is_true)
    for values in (curve.scores, curve.probabilities):
        assert values[0] == 0
        assert (np.diff(values) > 0).all()
        assert values[-1] <= 1
    assert curve.scores[-1] == 1
    given = np.linspace(0, 1, 1000)
    assert curve.inverse(curve.apply(given)) == pytest.approx(given, abs=1e-4)


def test_labels_without_a_score_do_not_count():
    truth = sparse.csr_array([[0, 1, 0], [1, 1, 0]])
    scores = sparse.csr_array([[0.2, 0.5, 0.0], [0.0, 0.6, 0.4]])
    found = calibrate("isotonic", truth, scores)
    expected = fit_isotonic(np.array([0.2, 0.5, 0.6, 0.4]), np.array([False, True, True, False]))
    assert np.array_equal(found.scores, expected.scores)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_calibrated_scores_keep_the_order_of_labels_and_their_zeros(kind, method):
    plain, calibrated = (
        fitted(kind, max_samples=0.7),
        fitted(kind, max_samples=0.7, calibrate=method),
    )
    scores, probabilities = (forest.predict_proba(X_NEW) for forest in (plain, calibrated))
    assert np.array_equal(scores == 0, probabilities == 0)
    assert lrap(Y_NEW, probabilities) == pytest.approx(lrap(Y_NEW, scores), abs=2e-3)
    assert not np.allclose(scores, probabilities, atol=0.01)
    curve = calibrated.fitted_.calibration
    assert probabilities == pytest.approx(curve.apply(scores), abs=1e-6)
    rows = calibrated.predict_sparse(X_NEW)
    assert rows.toarray() == pytest.approx(probabilities, abs=1e-6)
    labels, best = calibrated.predict_topk(X_NEW, 3)
    assert np.array_equal(labels, plain.predict_topk(X_NEW, 3)[0])
    assert best == pytest.approx(np.take_along_axis(probabilities, labels, axis=1), abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_calibration_lowers_the_log_loss_of_scores_that_are_too_timid(method):
    """Labels told by single words: trees that do not ask for the word pull to the mean."""
    told = sparse.csr_array((DATA.X[:, :20] > 0).astype(np.uint8))
    losses = []
    for how in (None, method):
        forest = RandomForestClassifier(30, random_state=0, calibrate=how).fit(X, told[:350])
        losses.append(log_loss(told[350:], forest.predict_proba(X_NEW)))
    assert losses[1] < 0.9 * losses[0]


@pytest.mark.parametrize("threshold", [0.3, "f1", "f1-per-label", "top-2"])
@pytest.mark.parametrize("to_Y", [sparse.csr_array, lambda Y: Y.toarray()])
def test_labels_are_predicted_where_their_probability_exceeds_the_threshold(threshold, to_Y):
    forest = RandomForestClassifier(30, random_state=0, calibrate="sigmoid", threshold=threshold)
    forest.fit(X, to_Y(Y))
    found = sparse.csr_array(forest.predict(X_NEW)).toarray().astype(bool)
    probabilities = forest.predict_proba(X_NEW)
    if threshold == "top-2":
        assert (found.sum(axis=1) == 2).all()
        return
    above = probabilities > forest.thresholds_
    has_any = above.any(axis=1)
    is_near = np.abs(probabilities - forest.thresholds_) < 1e-6
    assert ((found == above) | is_near)[has_any].all()


@pytest.mark.parametrize("kind", KINDS)
def test_calibration_survives_files_pickles_and_warm_starts(tmp_path, kind):
    forest = fitted(kind, calibrate="isotonic", threshold=0.5)
    expected = forest.predict_proba(X_NEW)
    forest.save(tmp_path / "model.sf")
    for other in (load_forest(tmp_path / "model.sf"), pickle.loads(pickle.dumps(forest))):
        assert np.array_equal(other.predict_proba(X_NEW), expected)
        assert other.calibrate == "isotonic"
    more = kind(20, random_state=0, calibrate="isotonic", threshold=0.5, warm_start=True).fit(X, Y)
    more.set_params(n_estimators=30).fit(X, Y)
    assert np.array_equal(more.predict_proba(X_NEW), expected)
    assert forest.estimators_[0].fitted_.calibration is None


def test_out_of_bag_scores_are_calibrated_too():
    forest = fitted(calibrate="sigmoid", oob_score="log_loss")
    plain = fitted(oob_score="log_loss")
    curve = forest.fitted_.calibration
    raw = sparse.csr_array(plain.oob_decision_function_).toarray()
    found = sparse.csr_array(forest.oob_decision_function_).toarray()
    assert found == pytest.approx(curve.apply(raw), abs=1e-6)
    assert forest.oob_score_ < plain.oob_score_


def test_calibration_needs_labels_and_rows_left_out():
    with pytest.raises(ValueError, match="calibrate must be None for multi-class Y; got 'sigmoid'"):
        RandomForestClassifier(5, calibrate="sigmoid").fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="calibrate must be None if bootstrap=False"):
        ExtraTreesClassifier(5, calibrate="sigmoid").fit(X, Y)
    with pytest.raises(ValueError, match="calibrate must be 'sigmoid', 'isotonic' or None; got 3"):
        RandomForestClassifier(5, calibrate=3).fit(X, Y)
    with pytest.raises(ValueError, match="these are calibrated"):
        fitted(calibrate="sigmoid").to_sklearn()


@pytest.mark.parametrize(
    "changes",
    [
        {"calibration_scores": np.array([0.0, 0.6, 0.4, 1.0])},
        {"calibration_probabilities": np.array([0.0, 0.4, 0.4, 1.0])},
        {"calibration_probabilities": np.array([0.0, 0.4, np.nan, 1.0])},
        {"calibration_probabilities": np.array([0.1, 0.4, 0.5, 1.0])},
        {"calibration_probabilities": np.array([0.0, 0.4, 0.5, 1.5])},
        {"calibration_scores": np.array([0.0, 1.0])},
        {"calibration_scores": np.array([0.0, 0.4, 0.5, 0.9])},
        {"calibration_scores": np.array([[0.0, 0.4, 0.5, 1.0]])},
    ],
)
def test_a_curve_that_does_not_ascend_is_damage(changes):
    sound = {f"calibration_{n}": np.array([0, 0.4, 0.5, 1]) for n in ("scores", "probabilities")}
    assert _calibration(sound) is not None
    with pytest.raises(CorruptModelError, match="calibration must ascend"):
        _calibration(sound | changes)


def test_a_curve_of_one_array_or_of_another_type_is_damage():
    curve = np.array([0, 0.4, 0.5, 1])
    with pytest.raises(CorruptModelError, match="missing array calibration_scores"):
        _calibration({"calibration_probabilities": curve})
    name = "more.calibration_scores"
    check_arrays({name: curve})
    with pytest.raises(CorruptModelError, match=f"wrong type or shape of {name}"):
        check_arrays({name: curve.astype(np.float32)})

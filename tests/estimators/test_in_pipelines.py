"""The estimators in pipelines and meta-estimators, on data frames."""

import numpy as np
import pytest
import sklearn_versions
from scikit_learn_kinds import ESTIMATORS, predictions, small, targets_for
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sketchforest import ExtraTreesClassifier, RandomForestClassifier
from sketchforest.metrics import lrap


def test_a_pipeline_passes_frames_on(labelled):
    pd = pytest.importorskip("pandas")
    X, Y = labelled
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    frame["kind"] = np.where(X[:, 0] > 5, "many", "few")
    steps = ColumnTransformer(
        [
            ("scale", StandardScaler(), ["f0", "f1"]),
            ("code", OneHotEncoder(sparse_output=False), ["kind"]),
        ]
    )
    pipeline = Pipeline([("columns", steps), ("forest", small(RandomForestClassifier))])
    plain = clone(pipeline).fit(frame, Y)
    framed = pipeline.set_output(transform="pandas").fit(frame, Y)
    assert framed["forest"].feature_names_in_.tolist() == [
        "scale__f0",
        "scale__f1",
        "code__kind_few",
        "code__kind_many",
    ]
    assert np.array_equal(framed.predict_proba(frame), plain.predict_proba(frame))


def test_a_pipeline_passes_sparse_features_on(labelled):
    X, Y = labelled
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), small(ExtraTreesClassifier))
    assert lrap(Y, pipeline.fit(X, sparse.csr_array(Y)).predict_proba(X)) > 0.9


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_frames_are_their_values_with_names(kind, library, labelled):
    frames = pytest.importorskip(library)
    X, Y = labelled[0], targets_for(kind, labelled)
    names = [f"f{j}" for j in range(X.shape[1])]
    labels = [f"label {j}" for j in range(Y.shape[1])]
    X_frame = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    Y_frame = frames.DataFrame(dict(zip(labels, Y.T, strict=True)))
    estimator = small(kind).fit(X_frame, Y_frame)
    if sklearn_versions.knows_names_of(X_frame):
        assert estimator.feature_names_in_.tolist() == names
    assert estimator.n_features_in_ == len(names)
    plain = small(kind).fit(X, Y)
    assert not hasattr(plain, "feature_names_in_")
    assert np.array_equal(predictions(estimator, X_frame), predictions(plain, X))
    column = Y_frame[labels[0]]
    alone = small(kind).fit(X_frame, column)
    assert np.array_equal(alone.predict(X_frame), small(kind).fit(X, Y[:, 0]).predict(X))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_other_names_of_features_are_refused_and_missing_ones_warned_of(kind, labelled):
    pd = pytest.importorskip("pandas")
    X, Y = labelled[0], targets_for(kind, labelled)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    estimator = small(kind).fit(frame, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.predict(frame.rename(columns={"f0": "other"}))
    with pytest.raises(ValueError, match="same order"):
        estimator.predict(frame[frame.columns[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        estimator.predict(X)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        small(kind).fit(X, Y).predict(frame)


def test_columns_of_every_number_type_of_a_frame_are_taken(labelled):
    pd = pytest.importorskip("pandas")
    X, Y = labelled
    X = np.round(X)
    plain = small(RandomForestClassifier).fit(X, Y)
    frame = pd.DataFrame(X).astype({0: "Int64", 1: "float32", 2: "uint8", 3: "Float64"})
    assert np.array_equal(
        small(RandomForestClassifier).fit(frame.to_numpy(dtype=float), Y).predict_proba(X),
        plain.predict_proba(X),
    )
    frame.columns = frame.columns.astype(str)
    forest = small(RandomForestClassifier).fit(frame, pd.DataFrame(Y).astype("boolean"))
    assert np.array_equal(forest.predict_proba(frame), plain.predict_proba(X))


def test_sparse_frames_stay_sparse(labelled):
    pd = pytest.importorskip("pandas")
    X, Y = labelled
    Y_frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(Y))
    forest = small(RandomForestClassifier).fit(X, Y_frame)
    assert sparse.issparse(forest.predict(X))
    assert np.array_equal(
        forest.predict_proba(X), small(RandomForestClassifier).fit(X, Y).predict_proba(X)
    )


def test_wrappers_around_a_classifier_work(labelled, classes):
    X, _ = labelled
    forest = small(RandomForestClassifier, n_components=2)
    wrappers = [
        BaggingClassifier(forest, n_estimators=3, random_state=0),
        CalibratedClassifierCV(forest, cv=2),
        VotingClassifier(
            [("forest", forest), ("trees", small(ExtraTreesClassifier))], voting="soft"
        ),
    ]
    for wrapper in wrappers:
        wrapper.fit(X, classes)
        assert set(wrapper.classes_) == set(classes)
        assert np.allclose(wrapper.predict_proba(X).sum(axis=1), 1)
        assert wrapper.score(X, classes) > 0.8


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_importances_select_features(kind):
    X = np.random.default_rng(0).normal(size=(200, 6))
    y = (X[:, 3] > 0).astype(int)
    chosen = SelectFromModel(small(kind, max_features=None), threshold=0.5).fit(X, y)
    assert chosen.get_support().tolist() == [False, False, False, True, False, False]
    estimator = small(kind, max_features=None).fit(X, y)
    drop = permutation_importance(estimator, X, y, n_repeats=3, random_state=0).importances_mean
    assert drop.argmax() == 3
    assert drop[3] > 0.3


def test_sample_weights_are_routed(labelled, classes):
    X, _ = labelled
    weights = np.where(classes == "top", 1.0, 0.0)
    with config_context(enable_metadata_routing=True):
        forest = small(RandomForestClassifier).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, forest)
        pipeline.fit(X, classes, sample_weight=weights)
        assert set(pipeline.predict(X)) == {"top"}
        scores = cross_validate(
            forest.set_score_request(sample_weight=True),
            X,
            classes,
            cv=2,
            params={"sample_weight": weights},
            return_estimator=True,
        )
        assert all(set(one.predict(X)) == {"top"} for one in scores["estimator"])
        assert scores["test_score"].tolist() == [1.0, 1.0]


def test_fit_takes_its_arguments_by_scikit_learns_names(labelled):
    X, Y = labelled
    named = small(RandomForestClassifier).fit(X=X, y=Y, sample_weight=None)
    assert np.array_equal(named.predict(X), small(RandomForestClassifier).fit(X, Y).predict(X))

"""Tools of scikit-learn around our estimators. docs/ecosystem.md has a line for each test."""

import numpy as np
import pytest
from sklearn import (
    calibration,
    compose,
    ensemble,
    feature_selection,
    frozen,
    impute,
    inspection,
    metrics,
    model_selection,
    multiclass,
    multioutput,
    pipeline,
    preprocessing,
    semi_supervised,
    tree,
)
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sketchforest.metrics import lrap


def classifier(**params):
    return RandomForestClassifier(**{"n_estimators": 10, "random_state": 0, **params})


def regressor(**params):
    return RandomForestRegressor(**{"n_estimators": 10, "random_state": 0, **params})


def test_cross_validation(data):
    assert model_selection.cross_val_score(classifier(), data.X, data.y).mean() > 0.8
    found = model_selection.cross_validate(
        classifier(), data.X, data.Y, scoring=metrics.make_scorer(metrics.f1_score, average="micro")
    )
    assert found["test_score"].mean() > 0.8
    by_rank = metrics.make_scorer(lrap, response_method="predict_proba")
    assert (
        model_selection.cross_val_score(classifier(), data.X, data.Y, scoring=by_rank).min() > 0.8
    )
    predicted = model_selection.cross_val_predict(regressor(), data.X, data.T)
    assert predicted.shape == data.T.shape


def test_grid_search(data):
    grid = {"max_depth": [1, None], "projection": [None, "gaussian"]}
    search = model_selection.GridSearchCV(classifier(), grid, cv=3).fit(data.X, data.Y)
    assert search.best_params_["max_depth"] is None
    assert search.predict(data.X).shape == data.Y.shape


def test_randomized_and_halving_search(data):
    grid = {"max_features": [1, 2, 5], "min_samples_leaf": [1, 3, 9]}
    search = model_selection.RandomizedSearchCV(regressor(), grid, n_iter=3, cv=3, random_state=0)
    assert search.fit(data.X, data.t).best_score_ > 0.6
    halving = model_selection.HalvingGridSearchCV(
        regressor(), {"max_depth": [1, 4]}, resource="n_estimators", max_resources=16, cv=3
    )
    assert halving.fit(data.X, data.t).best_params_["max_depth"] == 4


def test_learning_and_validation_curves(data):
    _, _, scores = model_selection.learning_curve(classifier(), data.X, data.y, cv=3)
    assert scores[-1].mean() > 0.8
    _, scores = model_selection.validation_curve(
        regressor(), data.X, data.t, param_name="max_depth", param_range=[1, 5], cv=3
    )
    assert scores[1].mean() > scores[0].mean()


def test_permutation_test(data):
    score, _, p_value = model_selection.permutation_test_score(
        classifier(), data.X, data.y, cv=3, n_permutations=10
    )
    assert score > 0.8
    assert p_value < 0.2


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(method, data):
    calibrated = calibration.CalibratedClassifierCV(classifier(), method=method, cv=3)
    shares = calibrated.fit(data.X, data.y3).predict_proba(data.X)
    assert shares.shape == (len(data.X), 3)
    assert np.allclose(shares.sum(axis=1), 1)
    fitted = frozen.FrozenEstimator(classifier().fit(data.X, data.y))
    assert (
        calibration.CalibratedClassifierCV(fitted).fit(data.X, data.y).score(data.X, data.y) > 0.8
    )


def test_tuned_threshold(data):
    tuned = model_selection.TunedThresholdClassifierCV(classifier(), scoring="f1", cv=3)
    assert tuned.fit(data.X, data.y).score(data.X, data.y) > 0.8


def test_pipelines_and_columns(data):
    columns = compose.ColumnTransformer(
        [("scaled", preprocessing.StandardScaler(), [0, 1]), ("binned", "passthrough", [2, 3, 4])]
    )
    steps = pipeline.make_pipeline(columns, classifier())
    assert steps.fit(data.X, data.Y).predict(data.X).shape == data.Y.shape
    weighted = steps.fit(data.X, data.y, randomforestclassifier__sample_weight=np.ones(len(data.X)))
    assert weighted.score(data.X, data.y) > 0.9


def test_transformed_targets(data):
    logged = compose.TransformedTargetRegressor(regressor(), func=np.arcsinh, inverse_func=np.sinh)
    assert logged.fit(data.X, data.T).score(data.X, data.T) > 0.7


def test_metadata_routing(data):
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        forest = classifier().set_fit_request(sample_weight=True)
        forest.set_score_request(sample_weight=True)
        search = model_selection.GridSearchCV(forest, {"max_depth": [2]}, cv=3)
        weights = np.random.default_rng(0).random(len(data.X))
        search.fit(data.X, data.y, sample_weight=weights)
    expected = classifier(max_depth=2).fit(data.X, data.y, weights)
    assert np.array_equal(search.predict_proba(data.X), expected.predict_proba(data.X))


def test_permutation_importance(data):
    forest = classifier().fit(data.X, data.y)
    found = inspection.permutation_importance(forest, data.X, data.y, n_repeats=3, random_state=0)
    assert found.importances_mean.argmax() == 0


def test_partial_dependence(data):
    forest = regressor().fit(data.X, data.t)
    found = inspection.partial_dependence(forest, data.X, [0], kind="average")
    assert found["average"].shape[0] == 1
    assert found["average"][0, -1] > found["average"][0, 0]
    with pytest.raises(ValueError, match="'recursion' method"):  # asks isinstance
        inspection.partial_dependence(forest, data.X, [0], method="recursion")
    twin = forest.to_sklearn()
    assert inspection.partial_dependence(twin, data.X, [0], method="recursion")


def test_displays(data):
    pytest.importorskip("matplotlib").use("agg")
    forest = classifier().fit(data.X[:, :2], data.y)
    inspection.DecisionBoundaryDisplay.from_estimator(forest, data.X[:, :2], grid_resolution=5)
    metrics.RocCurveDisplay.from_estimator(forest, data.X[:, :2], data.y)
    metrics.ConfusionMatrixDisplay.from_estimator(forest, data.X[:, :2], data.y)
    calibration.CalibrationDisplay.from_estimator(forest, data.X[:, :2], data.y)
    inspection.PartialDependenceDisplay.from_estimator(
        forest, data.X[:, :2], [0, (0, 1)], grid_resolution=5
    )


def test_select_from_model(data):
    selected = feature_selection.SelectFromModel(classifier()).fit(data.X, data.Y)
    assert 0 < selected.transform(data.X).shape[1] < 5


def test_recursive_feature_elimination(data):
    assert (
        feature_selection.RFE(classifier(), n_features_to_select=1).fit(data.X, data.y).support_[0]
    )
    assert feature_selection.RFECV(regressor(), cv=3).fit(data.X, data.t).support_[0]


def test_sequential_feature_selection(data):
    chosen = feature_selection.SequentialFeatureSelector(
        DecisionTreeRegressor(max_depth=3, random_state=0), n_features_to_select=1, cv=3
    )
    assert chosen.fit(data.X, data.t).get_support()[0]


def test_chains(data):
    chain = multioutput.ClassifierChain(classifier(), order="random", random_state=0)
    assert chain.fit(data.X, data.Y).predict_proba(data.X).shape == data.Y.shape
    chain = multioutput.RegressorChain(regressor()).fit(data.X, data.T)
    assert chain.score(data.X, data.T) > 0.7


def test_one_model_an_output(data):
    many = multioutput.MultiOutputClassifier(classifier()).fit(data.X, data.Y)
    assert many.score(data.X, data.Y) > 0.8
    assert (
        multioutput.MultiOutputRegressor(regressor()).fit(data.X, data.T).score(data.X, data.T)
        > 0.7
    )


def test_one_against_the_rest(data):
    for wrapped in (
        multiclass.OneVsRestClassifier(classifier()),
        multiclass.OneVsOneClassifier(classifier()),
        multiclass.OutputCodeClassifier(classifier(), code_size=5, random_state=0),
    ):
        assert wrapped.fit(data.X, data.y3).score(data.X, data.y3) > 0.8
    assert multiclass.OneVsRestClassifier(classifier()).fit(data.X, data.Y).multilabel_


def test_voting(data):
    members = [
        ("ours", classifier()),
        ("theirs", ensemble.ExtraTreesClassifier(10, random_state=0)),
    ]
    voting = ensemble.VotingClassifier(members, voting="soft").fit(data.X, data.y3)
    assert voting.score(data.X, data.y3) > 0.9
    members = [("forest", regressor()), ("tree", DecisionTreeRegressor())]
    assert ensemble.VotingRegressor(members).fit(data.X, data.t).score(data.X, data.t) > 0.8


def test_stacking(data):
    members = [("forest", classifier()), ("tree", DecisionTreeClassifier(max_depth=3))]
    stacked = ensemble.StackingClassifier(members, cv=3).fit(data.X, data.y)
    assert stacked.score(data.X, data.y) > 0.9
    assert ensemble.StackingRegressor([("forest", regressor())], cv=3).fit(data.X, data.t)


def test_bagging(data):
    bagged = ensemble.BaggingClassifier(DecisionTreeClassifier(), n_estimators=5, random_state=0)
    assert bagged.fit(data.X, data.y3).score(data.X, data.y3) > 0.9
    bagged = ensemble.BaggingRegressor(DecisionTreeRegressor(), n_estimators=5, random_state=0)
    assert bagged.fit(data.X, data.T).predict(data.X).shape == data.T.shape


def test_boosting(data):
    stump = DecisionTreeClassifier(max_depth=1)
    boosted = ensemble.AdaBoostClassifier(stump, n_estimators=10, random_state=0)
    assert boosted.fit(data.X, data.y).score(data.X, data.y) > 0.9
    start = DecisionTreeRegressor(max_depth=3)
    boosted = ensemble.AdaBoostRegressor(start, n_estimators=5, random_state=0)
    assert boosted.fit(data.X, data.t).score(data.X, data.t) > 0.7
    start = DecisionTreeRegressor(max_depth=2)
    assert ensemble.GradientBoostingRegressor(init=start, n_estimators=5).fit(data.X, data.t)


def test_self_training(data):
    y = data.y.copy()
    y[::2] = -1
    trained = semi_supervised.SelfTrainingClassifier(classifier()).fit(data.X, y)
    assert trained.score(data.X, data.y) > 0.8


def test_imputation(data):
    X = data.X.astype(float)
    X[::7, 1] = np.nan
    imputer = impute.IterativeImputer(regressor(), max_iter=2, random_state=0)
    assert np.isfinite(imputer.fit_transform(X)).all()


def test_text_and_pictures_of_a_tree(data):
    fitted = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    with pytest.raises(ValueError, match="must be an instance of"):  # asks isinstance
        tree.export_text(fitted)
    twin = fitted.to_sklearn()
    assert "class: 1" in tree.export_text(twin)
    assert "digraph" in tree.export_graphviz(twin)
    pytest.importorskip("matplotlib").use("agg")
    assert tree.plot_tree(twin)

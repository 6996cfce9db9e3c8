"""Other libraries around our estimators. docs/ecosystem.md has a line for each test; those whose
library is not installed are skipped: ``pip install sketchforest[ecosystem]``."""

import io
import pickle

import joblib
import numpy as np
import pytest
import sklearn_versions

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
)


def classifier(**params):
    return RandomForestClassifier(**{"n_estimators": 10, "random_state": 0, **params})


def regressor(**params):
    return RandomForestRegressor(**{"n_estimators": 10, "random_state": 0, **params})


def test_imbalanced_learn(data):
    pytest.importorskip("imblearn")
    from imblearn.ensemble import BalancedBaggingClassifier
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline

    steps = make_pipeline(SMOTE(random_state=0), classifier())
    assert steps.fit(data.X, data.y3).score(data.X, data.y3) > 0.9
    bagged = BalancedBaggingClassifier(DecisionTreeClassifier(), n_estimators=5, random_state=0)
    assert bagged.fit(data.X, data.y3).score(data.X, data.y3) > 0.7


def test_mapie(data):
    pytest.importorskip("mapie")
    from mapie.classification import SplitConformalClassifier
    from mapie.regression import CrossConformalRegressor

    sets = SplitConformalClassifier(classifier(), confidence_level=0.9, prefit=False)
    sets.fit(data.X[:80], data.y3[:80]).conformalize(data.X[80:], data.y3[80:])
    assert sets.predict_set(data.X)[1].shape == (len(data.X), 3, 1)
    intervals = CrossConformalRegressor(regressor(), confidence_level=0.9, cv=3)
    intervals.fit_conformalize(data.X, data.t)
    assert intervals.predict_interval(data.X)[1].shape == (len(data.X), 2, 1)


def test_boruta(data):
    boruta = pytest.importorskip("boruta")
    chosen = boruta.BorutaPy(classifier(), n_estimators=20, max_iter=10, random_state=0)
    assert chosen.fit(data.X, data.y).support_[0]


def test_shap(data):
    shap = pytest.importorskip("shap")
    forest = regressor().fit(data.X, data.t)
    explainer = shap.TreeExplainer(forest.to_sklearn())
    values = explainer.shap_values(data.X[:10])
    total = values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, forest.predict(data.X[:10]), atol=1e-5)
    by_sampling = shap.Explainer(forest.predict, data.X[:20])(data.X[:2])
    assert by_sampling.values.shape == (2, 5)


def test_lime(data):
    pytest.importorskip("lime")
    from lime.lime_tabular import LimeTabularExplainer

    forest = classifier().fit(data.X, data.y)
    explainer = LimeTabularExplainer(data.X, random_state=0)
    found = explainer.explain_instance(data.X[0], forest.predict_proba, num_samples=200)
    assert len(found.as_list()) == 5


def test_dtreeviz(data):
    dtreeviz = pytest.importorskip("dtreeviz")
    fitted = DecisionTreeClassifier(max_depth=2, random_state=0).fit(data.X, data.y)
    view = dtreeviz.model(
        fitted.to_sklearn(),
        X_train=data.X,
        y_train=data.y,
        feature_names=list("abcde"),
        target_name="y",
        class_names=["no", "yes"],
    )
    assert "a" in view.explain_prediction_path(data.X[0])


def test_treelite(data):
    treelite = pytest.importorskip("treelite")
    forest = classifier().fit(data.X, data.y3)
    model = treelite.sklearn.import_model(forest.to_sklearn())
    found = treelite.gtil.predict(model, data.X)
    np.testing.assert_allclose(
        found.reshape(len(data.X), 3), forest.predict_proba(data.X), atol=1e-5
    )


def test_onnx(data):
    """More of it in test_export.py."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from sketchforest.export import to_onnx

    forest = classifier().fit(data.X, data.Y)
    session = runtime.InferenceSession(to_onnx(forest).SerializeToString())
    found = session.run(["probabilities"], {"X": data.X})[0]
    np.testing.assert_allclose(found, forest.predict_proba(data.X), atol=1e-6)


def test_skl2onnx(data):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    forest = regressor().fit(data.X, data.t)
    model = skl2onnx.to_onnx(forest.to_sklearn(), data.X[:1])
    found = runtime.InferenceSession(model.SerializeToString()).run(None, {"X": data.X})[0]
    np.testing.assert_allclose(found.ravel(), forest.predict(data.X), atol=1e-5)


def test_mlflow(data, tmp_path):
    pytest.importorskip("mlflow")
    import mlflow.sklearn

    forest = classifier().fit(data.X, data.Y)
    for number, model in enumerate(
        (forest, SketchForestClassifier(5, random_state=0).fit(data.X, data.Y))
    ):
        path = str(tmp_path / f"model{number}")
        mlflow.sklearn.save_model(model, path, serialization_format="cloudpickle")
        loaded = mlflow.sklearn.load_model(path)
        assert np.array_equal(loaded.predict(data.X), model.predict(data.X))


def test_skops(data):
    skops = pytest.importorskip("skops.io")
    for model in (
        classifier().fit(data.X, data.y),
        classifier(n_components=3).fit(data.X, data.Y),
        SketchForestClassifier(5, random_state=0).fit(data.X, data.Y),
    ):
        packed = skops.dumps(model)
        trusted = skops.get_untrusted_types(data=packed)
        assert not [name for name in trusted if "._" in name]  # users know what they trust
        loaded = skops.loads(packed, trusted=trusted)
        assert np.array_equal(loaded.predict(data.X), model.predict(data.X))
        assert np.array_equal(loaded.feature_importances_, model.feature_importances_)


def test_pickle_joblib_and_cloudpickle(data):
    cloudpickle = pytest.importorskip("cloudpickle")
    forest = classifier().fit(data.X, data.Y)
    file = io.BytesIO()
    joblib.dump(forest, file)
    file.seek(0)
    for copy in (
        pickle.loads(pickle.dumps(forest)),
        joblib.load(file),
        pickle.loads(cloudpickle.dumps(forest)),
    ):
        assert np.array_equal(copy.predict_proba(data.X), forest.predict_proba(data.X))


@pytest.mark.parametrize("backend", ["threading", "loky", "sequential"])
def test_joblib_backends(backend, data):
    expected = classifier().fit(data.X, data.Y).predict_proba(data.X)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = classifier(n_jobs=2).fit(data.X, data.Y).predict_proba(data.X)
    assert np.array_equal(found, expected)


def test_dask(data):
    distributed = pytest.importorskip("distributed")
    expected = classifier().fit(data.X, data.Y).predict_proba(data.X)
    with (
        distributed.Client(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
        ),
        joblib.parallel_config(backend="dask"),
    ):
        found = classifier(n_jobs=2).fit(data.X, data.Y).predict_proba(data.X)
    assert np.array_equal(found, expected)


def test_ray(data):
    ray = pytest.importorskip("ray")
    register_ray = pytest.importorskip("ray.util.joblib").register_ray
    expected = classifier().fit(data.X, data.Y).predict_proba(data.X)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        register_ray()
        with joblib.parallel_config(backend="ray", n_jobs=2):
            found = classifier(n_jobs=2).fit(data.X, data.Y).predict_proba(data.X)
    finally:
        ray.shutdown()
    assert np.array_equal(found, expected)


def test_pandas(data):
    pd = pytest.importorskip("pandas")
    X, Y = pd.DataFrame(data.X, columns=list("abcde")), pd.DataFrame(data.Y, columns=list("xyz"))
    forest = classifier().fit(X, Y)
    assert forest.feature_names_in_.tolist() == list("abcde")
    assert np.array_equal(forest.predict(X), classifier().fit(data.X, data.Y).predict(data.X))
    with pytest.raises(ValueError, match="feature names"):
        forest.predict(X[list("edcba")])


def test_polars(data):
    pl = pytest.importorskip("polars")
    X = pl.DataFrame(data.X, schema=list("abcde"))
    forest = classifier().fit(X, pl.Series(data.y))
    if sklearn_versions.knows_names_of(X):
        assert forest.feature_names_in_.tolist() == list("abcde")
    assert np.array_equal(forest.predict(X), classifier().fit(data.X, data.y).predict(data.X))


def test_pyarrow(data):
    pa = pytest.importorskip("pyarrow")
    X = pa.table({name: data.X[:, j] for j, name in enumerate("abcde")})
    forest = classifier().fit(X, data.y)
    assert forest.feature_names_in_.tolist() == list("abcde")
    assert np.array_equal(forest.predict(X), classifier().fit(data.X, data.y).predict(data.X))


def test_optuna(data):
    optuna = pytest.importorskip("optuna")
    from sklearn.model_selection import cross_val_score

    def score(trial):
        depth = trial.suggest_int("max_depth", 1, 6)
        return cross_val_score(regressor(max_depth=depth), data.X, data.t, cv=3).mean()

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(score, n_trials=4)
    assert study.best_value > 0.5


def test_mlxtend(data):
    pytest.importorskip("mlxtend")
    from mlxtend.evaluate import bias_variance_decomp
    from mlxtend.feature_selection import SequentialFeatureSelector

    chosen = SequentialFeatureSelector(DecisionTreeClassifier(max_depth=2), k_features=1, cv=3)
    assert chosen.fit(data.X, data.y).k_feature_idx_ == (0,)
    loss, bias, variance = bias_variance_decomp(
        regressor(), data.X, data.t, data.X, data.t, loss="mse", num_rounds=3, random_seed=0
    )
    assert loss == pytest.approx(bias + variance)


def test_scikit_multilearn(data):
    pytest.importorskip("skmultilearn")
    from skmultilearn.problem_transform import BinaryRelevance, LabelPowerset

    for wrapper in (BinaryRelevance, LabelPowerset):
        fitted = wrapper(classifier()).fit(data.X, data.Y)
        assert fitted.predict(data.X).shape == data.Y.shape


def test_scikit_multilearn_chain(data):
    pytest.importorskip("skmultilearn")
    from skmultilearn.problem_transform import ClassifierChain

    fitted = ClassifierChain(ExtraTreesClassifier(5, random_state=0)).fit(data.X, data.Y)
    assert fitted.predict(data.X).shape == data.Y.shape

"""Models for other programs, run by them."""

import sys

import numpy as np
import pytest
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchBoostingClassifier,
    SketchBoostingRegressor,
    SketchForestClassifier,
    export,
)
from sketchforest.datasets import make_multilabel

N_TRAIN = 200


@pytest.fixture(scope="module", name="X")
def features():
    X = np.random.default_rng(0).normal(size=(N_TRAIN, 5)).astype(np.float32)
    X[::5, 2] = np.nan
    return X


@pytest.fixture(scope="module", name="Y")
def labels(X):
    noise = np.random.default_rng(1).normal(size=(N_TRAIN, 3))
    return (np.nan_to_num(X, nan=1.0)[:, :3] + noise > 0).astype(int)


def run(model, X):
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    exported = export.to_onnx(model)
    onnx.checker.check_model(exported, full_check=True)
    session = runtime.InferenceSession(
        exported.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X}), strict=True))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
@pytest.mark.parametrize(
    "classes", [["no", "yes"], [3, -7], [False, True], [2.0, 5.0]], ids=lambda c: str(type(c[0]))
)
def test_classes(kind, classes, X, Y):
    y = np.array(classes)[Y[:, 0]]
    model = kind(random_state=0, min_samples_leaf=3).fit(X, y)
    found = run(model, X)
    assert found["probabilities"].shape == (N_TRAIN, 2)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-6)
    # A sum of floats does not part what is equal in theory.
    clear = np.abs(model.predict_proba(X)[:, 0] - 0.5) > 1e-6
    assert np.array_equal(found["label"][clear], model.predict(X)[clear])
    assert clear.sum() > N_TRAIN / 2


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, RandomForestClassifier])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_labels(kind, form, X, Y):
    Y = np.column_stack([Y, np.zeros(N_TRAIN, int)])
    Y[X[:, 0] > 1] = 0  # leaves without any label
    model = kind(9, random_state=0).fit(X, form(Y))
    found = run(model, X)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-6)
    predicted = model.predict(X)
    predicted = predicted.toarray() if sparse.issparse(predicted) else predicted
    assert np.array_equal(found["label"], predicted)


def test_very_many_labels_are_held_by_what_is_not_zero():
    data = make_multilabel(300, 30, 5_000, labels_per_row=3, features_per_row=8)
    forest = RandomForestClassifier(3, random_state=0).fit(data.X, data.Y)
    pytest.importorskip("onnx")
    size = export.to_onnx(forest).ByteSize()
    assert size < forest.fitted_.forest.n_leaves * 5_000  # a byte for each number of a dense table
    X = data.X[:20].toarray().astype(np.float32)
    found = run(forest, X)["probabilities"]
    np.testing.assert_allclose(found, forest.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_real_outputs(kind, n_outputs, X, Y):
    y = 1.7 * (Y[:, 0] if n_outputs == 1 else Y)
    model = kind(random_state=0).fit(X, y)
    found = run(model, X)["variable"]
    assert found.shape == (N_TRAIN, n_outputs)
    np.testing.assert_allclose(found.reshape(y.shape), model.predict(X), atol=1e-6)
    constant = kind(random_state=0).fit(X, np.full(N_TRAIN, 0.5))  # trees of one leaf
    assert np.array_equal(run(constant, X)["variable"], np.full((N_TRAIN, 1), np.float32(0.5)))


def test_what_onnx_cannot_hold_is_refused(X, Y, monkeypatch):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="to_onnx needs trees that split by one feature"):
        export.to_onnx(SketchForestClassifier(3, random_state=0).fit(X, Y))
    fine = 1 + np.arange(N_TRAIN)[:, None] * 1e-12
    with pytest.raises(ValueError, match="to_onnx reads X as float32"):
        export.to_onnx(DecisionTreeRegressor().fit(fine, Y))
    chosen = RandomForestClassifier(3, threshold="top-1", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"threshold must be 0\.5 for to_onnx"):
        export.to_onnx(chosen)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'sketchforest\[onnx\]'"):
        export.to_onnx(chosen)


@pytest.mark.parametrize("case", ["labels", "classes", "numbers"])
def test_boosting(case, X, Y):
    kind = SketchBoostingRegressor if case == "numbers" else SketchBoostingClassifier
    model = kind(max_iter=10, min_samples_leaf=5, random_state=0)
    if case == "classes":
        model.fit(X, np.array(["no", "yes", "maybe"])[Y[:, 0] + Y[:, 1]])
        found = run(model, X)
        np.testing.assert_array_equal(found["label"], model.predict(X))
    else:
        model.fit(X, Y if case == "labels" else np.nan_to_num(X[:, :3]) * [1, 1e-3, 1e3])
        found = run(model, X)
    if case == "numbers":
        np.testing.assert_allclose(found["variable"], model.predict(X), rtol=1e-4, atol=1e-6)
    else:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-6)

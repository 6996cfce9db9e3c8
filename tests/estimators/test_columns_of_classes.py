"""Several columns of classes: as in scikit-learn, lists with one item for each column."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import tree as sklearn_tree
from sklearn.metrics import f1_score
from sklearn.utils.class_weight import compute_sample_weight

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    SketchForestClassifier,
)
from sketchforest.evaluation import evaluate
from sketchforest.export import to_onnx
from sketchforest.report import make_report
from sketchforest.serve.served_model import ModelSource, ServedModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).astype(np.float32)
COLORS = np.array(["blue", "green", "red"])[np.searchsorted([-0.5, 0.5], X[:, 0])]
SIZES = np.array(["large", "small"])[(X[:, 1] + RNG.normal(size=200) > 0).astype(int)]
Y = np.stack([COLORS, SIZES], axis=1)
NUMBERS = np.stack([np.searchsorted([-0.5, 0.5], X[:, 0]) - 1, 7 * (X[:, 1] > 0)], axis=1)
FORESTS = (RandomForestClassifier, ExtraTreesClassifier, SketchForestClassifier)


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("Y", [Y, NUMBERS, Y.astype(object)], ids=lambda Y: str(Y.dtype))
def test_a_forest_predicts_each_column(kind, Y):
    forest = kind(20, random_state=0).fit(X, Y)
    assert [classes.tolist() for classes in forest.classes_] == [
        np.unique(column).tolist() for column in Y.T
    ]
    assert forest.n_classes_ == [3, 2]
    assert forest.n_outputs_ == 2
    probabilities = forest.predict_proba(X)
    assert [found.shape for found in probabilities] == [(200, 3), (200, 2)]
    for found, logarithm in zip(probabilities, forest.predict_log_proba(X), strict=True):
        np.testing.assert_allclose(found.sum(axis=1), 1)
        np.testing.assert_allclose(np.exp(logarithm), found)
    predicted = forest.predict(X)
    assert predicted.shape == Y.shape
    assert predicted.dtype == Y.dtype
    assert ((predicted == Y).mean(axis=0) > 0.85).all()


@pytest.mark.parametrize("class_weight", [None, "balanced", [{"red": 3.0}, {"small": 0.5}]])
def test_a_tree_is_that_of_scikit_learn(class_weight):
    params = {"max_depth": 2, "class_weight": class_weight, "random_state": 0}
    ours = DecisionTreeClassifier(**params).fit(X, Y)
    theirs = sklearn_tree.DecisionTreeClassifier(**params).fit(X, Y)
    for name in ("feature", "threshold", "value", "impurity", "weighted_n_node_samples"):
        found, expected = getattr(ours.tree_, name), getattr(theirs.tree_, name)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    for model in (ours, ours.to_sklearn(), pickle.loads(pickle.dumps(ours))):
        assert np.array_equal(model.predict(X), theirs.predict(X))
        for found, expected in zip(model.predict_proba(X), theirs.predict_proba(X), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_balanced_bags_weigh_each_column():
    forest = RandomForestClassifier(3, class_weight="balanced_subsample", random_state=0)
    forest.fit(X, Y)
    for rows, tree in zip(forest.estimators_samples_, forest.fitted_.forest.trees(), strict=True):
        of_rows = compute_sample_weight("balanced", Y, indices=rows) * np.bincount(rows, None, 200)
        np.testing.assert_allclose(tree.weights, of_rows[tree.members])


def test_names_tell_the_column():
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    assert "0: blue" in str(forest.describe())
    assert {name for row in forest.suggest(X[:5]) for name, _ in row} <= {
        *("0: blue", "0: green", "0: red"),
        *("1: large", "1: small"),
    }


@pytest.fixture(scope="module")
def named():
    """Fitted on a data frame, whose columns have names."""
    frame = pd.DataFrame(Y, columns=["color", "size"])
    return RandomForestClassifier(15, random_state=0).fit(X, frame), frame


def test_columns_of_a_data_frame_name_their_classes(named):
    forest, _ = named
    assert {name for row in forest.suggest(X[:9]) for name, _ in row} == {
        *("color: blue", "color: green", "color: red"),
        *("size: large", "size: small"),
    }
    with pytest.raises(ValueError, match=r"got 'small'\. Did you mean 'size: small'\?"):
        forest.explain(X[:1], "small")


def test_columns_of_classes_are_evaluated_and_reported(named):
    forest, frame = named
    found = evaluate(forest, X, frame, include_training_rows=True)
    predicted = forest.predict(X)
    assert found.scores["micro_f1"] == pytest.approx((predicted == Y).mean())
    assert "lrap" not in found.scores
    by_name = found.labels.to_frame().set_index("label")
    assert by_name.loc["color: red", "true"] == (COLORS == "red").sum()
    assert by_name.loc["size: small", "predicted"] == (predicted[:, 1] == "small").sum()
    report = make_report(forest, X, frame)
    assert "color: red" in report.to_html()
    assert "color: red" in report.to_markdown()
    with pytest.raises(ValueError, match="Y must have the 2 columns of classes"):
        evaluate(forest, X, Y[:, :1])
    with pytest.raises(ValueError, match="Y must hold classes that the model knows; got pink"):
        evaluate(forest, X, np.where(Y == "red", "pink", Y))


def test_columns_of_classes_on_the_command_line_and_in_the_service(named, tmp_path, command):
    forest, _ = named
    forest.save(tmp_path / "model.sf")
    code, shown, _ = command("info", tmp_path / "model.sf")
    assert code == 0
    assert "color: blue" in shown
    np.savetxt(tmp_path / "new.csv", X[:20], delimiter=",", header="a,b,c,d", comments="")
    code, printed, err = command("predict", tmp_path / "model.sf", tmp_path / "new.csv")
    assert code == 0, err
    expected = [f"color: {color};size: {size}" for color, size in forest.predict(X[:20])]
    assert [line.split(",")[0] for line in printed.splitlines()[1:]] == expected
    served = ServedModel.load(ModelSource("model", tmp_path / "model.sf"))
    for row, (color, size) in zip(X[:20].tolist(), forest.predict(X[:20]), strict=True):
        [labels] = served.suggest([row], 5)
        decided = {each["label"] for each in labels if each["predicted"]}
        assert decided == {f"color: {color}", f"size: {size}"}


@pytest.mark.parametrize("kind", FORESTS)
def test_the_best_classes_of_each_column(kind):
    forest = kind(20, random_state=0).fit(X, Y)
    for k, widths in ((1, [1, 1]), (2, [2, 2]), (3, [3, 2])):
        found = forest.predict_topk(X, k)
        assert [labels.shape[1] for labels, _ in found] == widths
        columns = zip(found, forest.predict_proba(X), forest.classes_, strict=True)
        for (labels, scores), probabilities, classes in columns:
            best = np.argsort(-probabilities, axis=1, kind="stable")[:, : labels.shape[1]]
            assert np.array_equal(labels, classes[best])
            np.testing.assert_allclose(scores, np.take_along_axis(probabilities, best, axis=1))
    assert np.array_equal(
        np.hstack([labels for labels, _ in forest.predict_topk(X, 1)]), forest.predict(X)
    )
    with pytest.raises(ValueError, match="k must be an int from 1 to the number of classes, 3"):
        forest.predict_topk(X, 4)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_callable_scores_columns_of_classes_that_trees_did_not_see(kind):
    given = []

    def share_of_equal(truth, predicted):
        given.append((truth, predicted))
        return (truth == predicted).mean()

    forest = kind(40, bootstrap=True, oob_score=share_of_equal, random_state=0).fit(X, Y)
    truth, predicted = given[-1]
    assert np.array_equal(truth, Y)
    decided = [found.argmax(axis=1) for found in forest.oob_decision_function_]
    assert [found.shape for found in forest.oob_decision_function_] == [(200, 3), (200, 2)]
    for column, (classes, places) in enumerate(zip(forest.classes_, decided, strict=True)):
        assert np.array_equal(predicted[:, column], classes[places])
    assert 0.7 < forest.oob_score_ == (predicted == Y).mean() < 1


def test_what_is_for_one_column_says_so():
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="2 columns of classes"):
        to_onnx(forest)
    for params, message in (
        ({"oob_score": True}, "oob_score must be False or a callable .* if Y has several"),
        ({"oob_score": "lrap"}, "oob_score must be False or a callable .* if Y has several"),
        ({"oob_score": f1_score}, "oob_score must be a callable .*; got <function f1_score"),
        ({"threshold": 0.3}, "threshold must keep its default for multi-class Y"),
        ({"class_weight": {"red": 2.0}}, "must be a list of dicts or 'balanced'"),
        ({"class_weight": [{"red": 2.0}]}, "it must be 2; got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            RandomForestClassifier(5, **params).fit(X, Y)
    with pytest.raises(ValueError, match="Use toarray"):
        forest.fit(X, sparse.csr_array(NUMBERS))
    with pytest.raises(ValueError, match="continuous values"):
        forest.fit(X, X[:, :2])


def test_a_warm_start_refuses_other_classes_in_a_column():
    forest = RandomForestClassifier(2, random_state=0, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="got a different Y"):
        forest.set_params(n_estimators=4).fit(X, Y[:, ::-1])

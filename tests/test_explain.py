"""Explanations add up to the prediction, by features and by training rows."""

import numpy as np
import pytest
from every_kind import ESTIMATORS, fitted, targets
from scipy import sparse

import sketchforest
from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
    load_forest,
)
from sketchforest.explain import explain

RNG = np.random.default_rng(0)
X = RNG.random((200, 7))
X[RNG.random(X.shape) < 0.1] = np.nan
LABELS = (RNG.random((200, 30)) < 0.15).astype(int)
OUTPUTS = np.nan_to_num(X) @ RNG.normal(size=(7, 5)) * (RNG.random((200, 5)) < 0.6)
KINDS = {
    "forest": lambda: RandomForestClassifier(12, random_state=0).fit(X, LABELS),
    "weighted": lambda: RandomForestClassifier(12, random_state=0).fit(X, LABELS, RNG.random(200)),
    "big leaves": lambda: ExtraTreesClassifier(9, min_samples_leaf=9).fit(X, LABELS),
    "doubles": lambda: RandomForestClassifier(5).fit(1 + X * 1e-12, LABELS),
    "classes": lambda: RandomForestClassifier(7).fit(X, np.array(list("abc"))[LABELS.sum(1) % 3]),
    "sketch": lambda: SketchForestClassifier(12, random_state=0).fit(X, LABELS),
    "oblique tree": lambda: DecisionTreeClassifier("oblique", random_state=0).fit(X, LABELS),
    "tree": lambda: DecisionTreeClassifier().fit(X, LABELS),
    "leaves in order of gain": lambda: RandomForestClassifier(
        9, max_leaf_nodes=20, random_state=0
    ).fit(X, LABELS),
    "regressor": lambda: RandomForestRegressor(9, random_state=0).fit(X, OUTPUTS),
    "sparse outputs": lambda: SketchForestRegressor(9, random_state=0).fit(
        X, sparse.csr_array(OUTPUTS)
    ),
    "one output": lambda: DecisionTreeRegressor(random_state=0).fit(X, OUTPUTS[:, 0]),
    "stump": lambda: DecisionTreeClassifier(min_samples_leaf=150).fit(X, LABELS),
}


def mean_below(tree, node, Y):
    """The weighted mean of the training rows below a node, or below leaf -1 - node."""
    if node < 0:
        leaf = -1 - node
        members = slice(tree.member_start[leaf], tree.member_start[leaf + 1])
        rows = tree.members[members]
        weights = np.ones(len(rows)) if tree.weights is None else tree.weights[members]
        return np.append((weights[:, None] * Y[rows]).sum(axis=0), weights.sum())
    return mean_below(tree, tree.nodes[node, 2], Y) + mean_below(tree, tree.nodes[node, 3], Y)


def prediction(model, x):
    """(n_rows, n_labels or n_outputs), whatever the form."""
    found = model.predict_proba(x) if hasattr(model, "predict_proba") else model.predict(x)
    found = found.toarray() if sparse.issparse(found) else np.asarray(found)
    return found.reshape(len(x), -1)


@pytest.mark.parametrize("kind", KINDS)
def test_features_and_rows_both_add_up_to_the_scores(kind):
    model = KINDS[kind]()
    rows = 1 + X * 1e-12 if kind == "doubles" else X
    scores = prediction(model, rows)
    for i in range(0, 200, 10):
        found = model.explain(rows[[i]], k=3)
        expected = scores[i, found.labels]
        assert np.allclose(found.scores, expected, atol=1e-6)
        assert np.allclose(found.base + found.contributions.sum(axis=0), expected, atol=1e-6)
        if model.fitted_.blend is None:
            assert np.allclose(found.weights @ found.votes, expected, atol=1e-6)
        assert found.weights.sum() == pytest.approx(1)
        assert np.all(np.diff(found.weights) <= 0)
        if hasattr(model, "predict_proba"):
            assert np.all(np.diff(found.scores) <= 1e-7)
        lines = found.lines(0, n=2)
        assert found.base[0] + sum(line.adds for line in lines) == pytest.approx(found.scores[0])


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        (RandomForestClassifier, {}),
        (ExtraTreesClassifier, {}),
        (SketchForestClassifier, {"linear": 0, "label_correlations": False}),
    ],
)
def test_words_add_up_on_many_rows(kind, params):
    """Sparse rows, of which most features are absent, in forests of every kind; and the rows that
    are named, averaged by hand, give the score."""
    data = sketchforest.datasets.make_multilabel(
        200, 200, 40, labels_per_row=3, features_per_row=12, random_state=0
    )
    model = kind(8, random_state=0, **params).fit(data.X, data.Y)
    scores, Y = model.predict_proba(data.X), data.Y.toarray()
    for i in range(200):
        found = model.explain(data.X[[i]], label=[0, 17])
        added = found.base + found.contributions.sum(axis=0)
        assert np.allclose(added, scores[i, [0, 17]], atol=1e-6)
        averaged = found.weights @ Y[found.rows][:, [0, 17]]
        assert np.allclose(averaged, scores[i, [0, 17]], atol=1e-6)
        assert np.array_equal(found.is_present, data.X[[i]].toarray()[0, found.features] != 0)


def test_a_step_is_the_difference_of_the_means_before_and_after_it():
    model = RandomForestClassifier(6, max_depth=3, random_state=1).fit(X, LABELS)
    x = X[[5]]
    found = explain(model, x, k=4)
    expected = np.zeros((7, 4))
    Y = LABELS[:, found.labels]
    for index in range(6):
        tree, node = model.fitted_.forest.tree(index), 0
        while node >= 0:
            feature = int(tree.nodes[node, 0]) & 0x7FFFFFFF
            value, threshold = x[0, feature], tree.nodes[node, 1:2].view(np.float32)[0]
            is_left = tree.nodes[node, 0] < 0 if np.isnan(value) else value <= threshold
            child = tree.nodes[node, 2 if is_left else 3]
            before, after = mean_below(tree, node, Y), mean_below(tree, child, Y)
            expected[feature] += (after[:-1] / after[-1] - before[:-1] / before[-1]) / 6
            node = child
    assert np.allclose(found.contributions, expected[found.features])


def pushes(tree, seen, node, goes_right):
    """Shares of features in a step of an oblique tree, from the definition."""
    entries = slice(tree.directions.start[node], tree.directions.start[node + 1])
    columns, weights = tree.directions.columns[entries], tree.directions.values[entries]
    threshold = float(tree.nodes[node, 1:2].view(np.float32)[0])
    length = sum(float(w) ** 2 for w in weights)
    found = {}
    for column, weight in zip(columns.tolist(), weights.tolist(), strict=True):
        push = weight * seen[column] - threshold * weight**2 / length
        push = push if goes_right else -push
        if push > 0:
            found[column] = push
    total = sum(found.values())
    return {column: push / total for column, push in found.items()}


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_features_that_push_a_row_share_an_oblique_step(is_sparse):
    data = np.where(RNG.random((200, 7)) < 0.5, np.nan_to_num(X), 0)
    rows = sparse.csr_array(data) if is_sparse else data
    model = SketchForestClassifier(
        5, oblique=1, linear=0, label_correlations=False, random_state=1
    ).fit(rows, LABELS)
    for i in (3, 77):
        found = model.explain(rows[[i]], k=2)
        Y, expected = LABELS[:, found.labels], np.zeros((7, 2))
        for index in range(5):
            tree, node = model.fitted_.forest.tree(index), 0
            row = tree.directions.feature_map.transform(rows[[i]])
            seen = np.zeros(7)
            seen[np.arange(7) if row.indices is None else row.indices] = row.data.ravel()[
                : 7 if row.indices is None else None
            ]
            while node >= 0:
                entries = slice(tree.directions.start[node], tree.directions.start[node + 1])
                total = seen[tree.directions.columns[entries]] @ tree.directions.values[entries]
                goes_right = total > tree.nodes[node, 1:2].view(np.float32)[0]
                child = tree.nodes[node, 3 if goes_right else 2]
                before, after = mean_below(tree, node, Y), mean_below(tree, child, Y)
                step = (after[:-1] / after[-1] - before[:-1] / before[-1]) / 5
                for column, share in pushes(tree, seen, node, goes_right).items():
                    expected[column] += share * step
                node = child
        assert np.allclose(found.contributions, expected[found.features])
        assert np.isclose(np.abs(expected).sum(), np.abs(found.contributions).sum())


def rows_below(tree, node):
    """Training rows below a node, or in leaf -1 - node, as often as they were drawn."""
    if node >= 0:
        return np.concatenate([rows_below(tree, child) for child in tree.nodes[node, 2:]])
    members = slice(*tree.member_start[-1 - node : 1 - node or None])
    counts = None if tree.weights is None else tree.weights[members]
    return tree.members[members] if counts is None else np.repeat(tree.members[members], counts)


def test_a_step_of_medians_is_the_difference_of_those_before_and_after_it():
    rows, n_trees = np.nan_to_num(X), 4
    model = RandomForestRegressor(
        n_trees, criterion="absolute_error", max_leaf_nodes=9, random_state=0
    ).fit(rows, OUTPUTS)
    found = model.explain(rows[[5]], k=5)
    expected, base = np.zeros((7, 5)), np.zeros(5)
    for tree in model.fitted_.forest.trees():
        node, before = 0, np.median(OUTPUTS[rows_below(tree, 0)], axis=0)
        base += before / n_trees
        while node >= 0:
            feature, threshold = tree.nodes[node, 0] & 0x7FFFFFFF, tree.wide_thresholds[node]
            node = tree.nodes[node, 2 if rows[5, feature] <= threshold else 3]
            after = np.median(OUTPUTS[rows_below(tree, node)], axis=0)
            expected[feature] += (after - before) / n_trees
            before = after
    np.testing.assert_allclose(found.base, base, atol=1e-12)
    np.testing.assert_allclose(found.contributions, expected[found.features], atol=1e-12)


def test_sparse_rows_are_explained_as_dense_ones():
    full = np.nan_to_num(X)
    model = RandomForestClassifier(5, random_state=0).fit(full, LABELS)
    dense, thin = (vars(explain(model, x)) for x in (full[[3]], sparse.csr_array(full[[3]])))
    for name in ("labels", "scores", "base", "features", "contributions", "rows", "weights"):
        assert np.array_equal(dense[name], thin[name])


def test_any_label_is_explained_by_its_name_or_number():
    model = KINDS["forest"]().attach(label_names=[f"label {i}" for i in range(30)])
    scores = model.predict_proba(X[:1])[0]
    found = model.explain(X[:1], label="label 7")
    assert found.labels.tolist() == [7]
    assert found.scores == pytest.approx(scores[[7]], abs=1e-6)
    assert model.explain(X[:1], label=[2, "label 29"]).label_names.tolist() == [
        "label 2",
        "label 29",
    ]
    with pytest.raises(ValueError, match="label must be a name or a number from 0 to 29; got 'x'"):
        model.explain(X[:1], label="x")
    classes = KINDS["classes"]()
    assert classes.explain(X[:1], label="b").labels.tolist() == [1]


def test_similar_rows_are_those_of_the_largest_leaf_weights():
    model = KINDS["sketch"]()
    rows, weights = model.similar(X[:40], k=6)
    expected = model.leaf_weights(X[:40]).toarray().astype(np.float32)
    for i in range(40):
        order = np.lexsort((np.arange(200), -expected[i]))[:6]
        assert rows[i].tolist() == order.tolist()
        assert np.array_equal(weights[i], expected[i, order])
    with pytest.raises(ValueError, match="k must be an int from 1 to the number of training rows"):
        model.similar(X, k=201)


def test_training_rows_keep_the_numbers_that_they_had_before_a_split(tmp_path):
    kept = np.flatnonzero(np.arange(200) % 3)
    texts = [f"text \u00e4 {row}" for row in kept]
    model = RandomForestClassifier(7, random_state=0).fit(X[kept], LABELS[kept])
    model.attach(row_numbers=kept + 2**40, row_ids=[f"id{row}" for row in kept], row_texts=texts)
    model.save(tmp_path / "model.sf")
    for forest in (model, load_forest(tmp_path / "model.sf")):
        found = forest.explain(X[:1])
        weights = forest.leaf_weights(X[:1]).toarray().ravel()
        assert np.array_equal(weights[np.searchsorted(kept, found.rows - 2**40)], found.weights)
        assert found.row_names == [f"id{row - 2**40}" for row in found.rows]
        assert found.row_texts == [f"text \u00e4 {row - 2**40}" for row in found.rows]
        for row, labels in zip(found.rows - 2**40, found.row_labels, strict=True):
            assert labels == [str(at) for at in np.flatnonzero(LABELS[row])]
        assert np.isin(forest.similar(X[:3])[0] - 2**40, kept).all()
    assert not hasattr(model.fit(X, LABELS), "row_numbers_")


def test_what_is_attached_has_one_for_each():
    model = KINDS["tree"]()
    with pytest.raises(ValueError, match="row_texts must have 200 entries; got 1"):
        model.attach(label_names=list("abc") * 10, row_texts=["a"])
    assert not hasattr(model, "label_names_")  # nothing half-changed


def test_a_vectorizer_makes_the_features_of_the_fit():
    """A narrower one would have the core read what is not there."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["red apple", "green apple", "red brick", "old green brick"] * 10
    vectorizer = TfidfVectorizer()
    features = vectorizer.fit_transform(texts)
    labels = np.eye(2, dtype=int)[[0, 1] * 20]
    model = SketchForestClassifier(5, random_state=0).fit(features, labels)
    with pytest.raises(ValueError, match=r"must produce the 5 features .* it produces 2\. Attach"):
        model.attach(vectorizer=TfidfVectorizer().fit(texts[:1]))
    model.attach(vectorizer=vectorizer)
    assert model.predict_proba(texts[:2]).shape == (2, 2)
    vectorizer.fit(texts[:1])
    for method in (model.predict, model.predict_proba, model.suggest, model.apply):
        with pytest.raises(ValueError, match=r"must produce the 5 features .* it produces 2"):
            method(texts[:2])


def test_an_explanation_shows_itself():
    model = KINDS["sketch"]().attach(
        feature_names=[f"a feature with a [long] name {i}" * 2 for i in range(7)]
    )
    found = model.explain(X[:1], k=2)
    text = repr(found)
    assert max(map(len, text.splitlines())) <= 80
    assert f"{found.scores[0]:.3f} (baseline {found.base[0]:.3f})" in text
    assert "row " + str(found.rows[0]) in text
    html = found._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 3
    frame = found.to_frame()
    assert frame.groupby("label", sort=False)["adds"].sum().to_numpy() == pytest.approx(
        found.scores - found.base
    )
    assert len(found.rows_to_frame()) == len(found.rows)
    axes = found.plot(1)
    assert len(axes.patches) == len(found.lines(1))


def test_absent_features_are_folded():
    data = np.where(X > 0.5, np.nan_to_num(X), 0)
    model = RandomForestClassifier(9, random_state=0).fit(sparse.csr_array(data), LABELS)
    found = model.explain(sparse.csr_array(data[:1]), k=1)
    *shown, last = found.lines(0)
    absent = found.contributions[~found.is_present, 0]
    assert {line.value for line in shown} <= set(data[0].tolist()) - {0.0}
    assert last.value is None
    assert last.adds == pytest.approx(absent.sum())
    assert last.feature == f"{np.count_nonzero(absent)} absent features"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_row_of_the_frame_that_was_fitted_gives_no_warning(kind):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:60], columns=list("abcdefg"))
    model = fitted(kind, frame, targets(kind, LABELS[:60], OUTPUTS[:60]))
    found = model.explain(frame.iloc[[0]])
    assert set(found.feature_names) <= set(frame.columns)
    explain(model, frame.iloc[[0]])
    model.similar(frame.iloc[:3])


def test_only_one_row_is_explained():
    with pytest.raises(ValueError, match="row must be a single row; got 2 rows"):
        explain(KINDS["tree"](), X[:2])


@pytest.mark.parametrize("container", [sparse.csc_array, sparse.csc_matrix, sparse.coo_array])
def test_a_row_is_explained_alike_in_every_sparse_format(container):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12)) * (rng.random((80, 12)) < 0.4)
    Y = (X[:, :4] > 0).astype(int)
    for kind in (RandomForestClassifier, SketchForestClassifier):
        forest = kind(5, random_state=0).fit(sparse.csr_array(X), Y)
        expected = forest.explain(sparse.csr_array(X[:1]))
        found = forest.explain(container(X[:1]))
        np.testing.assert_array_equal(found.features, expected.features)
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.contributions, expected.contributions)

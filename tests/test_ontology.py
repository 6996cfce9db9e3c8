"""Label hierarchies, compared with their definitions."""

import numpy as np
import pytest
from reference_metrics import hierarchical_scores, with_ancestors
from scipy import sparse

from sketchforest import RandomForestClassifier, load_forest
from sketchforest.datasets import load, make_multilabel, read_arff, read_ontology
from sketchforest.metrics import hierarchical_f1, hierarchical_precision, hierarchical_recall
from sketchforest.ontology import Ontology


def random_ontology(rng, n_labels=12):
    """A graph without cycles: a label has parents among those before it, in a random order."""
    order = rng.permutation(n_labels)
    parents = [()] * n_labels
    for place, label in enumerate(order):
        n_parents = min(place, rng.integers(0, 3))
        parents[label] = tuple(rng.choice(order[:place], n_parents, replace=False).tolist())
    return Ontology(parents)


@pytest.fixture(params=range(20))
def rng(request):
    return np.random.default_rng(request.param)


def is_sparse_and_equal(found, expected):
    return isinstance(found, sparse.csr_array) and np.array_equal(found.toarray(), expected)


def test_closure_adds_all_ancestors(rng):
    ontology = random_ontology(rng)
    Y = (rng.random((15, 12)) < 0.2).astype(np.uint8)
    expected = np.zeros_like(Y)
    for row, labels in enumerate(Y):
        expected[row, list(with_ancestors(np.flatnonzero(labels).tolist(), ontology.parents))] = 1
    closed = ontology.ancestor_closure(Y)
    assert closed.dtype == Y.dtype
    np.testing.assert_array_equal(closed, expected)
    assert is_sparse_and_equal(ontology.ancestor_closure(sparse.csr_matrix(Y)), expected)


@pytest.mark.parametrize("how", ["raise", "lower"])
def test_scores_are_raised_to_descendants_or_lowered_to_ancestors(how, rng):
    ontology = random_ontology(rng)
    scores = np.where(rng.random((9, 12)) < 0.3, 0, rng.random((9, 12))).astype(np.float32)
    above = [with_ancestors([label], ontology.parents) for label in range(12)]
    expected = np.empty_like(scores)
    for label in range(12):
        if how == "raise":
            related = [other for other in range(12) if label in above[other]]
            expected[:, label] = scores[:, related].max(axis=1)
        else:
            expected[:, label] = scores[:, list(above[label])].min(axis=1)
    before = scores.copy()
    found = ontology.enforce_hierarchy(scores, how)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(scores, before)
    assert is_sparse_and_equal(ontology.enforce_hierarchy(sparse.csr_array(scores), how), expected)
    assert ontology.n_violations(found) == 0
    violations = sum((scores[:, a] > scores[:, p]).sum() for a in range(12) for p in above[a])
    assert (ontology.n_violations(scores) == 0) == (violations == 0)


def test_sparse_scores_are_adjusted_block_by_block(monkeypatch):
    monkeypatch.setattr("sketchforest.ontology._BLOCK", 30)
    rng = np.random.default_rng(0)
    ontology, scores = random_ontology(rng), rng.random((11, 12))
    assert is_sparse_and_equal(
        ontology.enforce_hierarchy(sparse.csr_array(scores)), ontology.enforce_hierarchy(scores)
    )
    assert ontology.enforce_hierarchy(sparse.csr_array((0, 12))).shape == (0, 12)


def test_metrics_count_labels_with_those_above_them(rng):
    ontology = random_ontology(rng)
    true, predicted = (rng.random((2, 10, 12)) < 0.15).astype(int)
    if rng.random() < 0.2:
        predicted[:] = 0
    expected = hierarchical_scores(true, predicted, ontology.parents)
    for form in (np.asarray, sparse.csr_array):
        found = [
            metric(form(true), form(predicted), ontology)
            for metric in (hierarchical_precision, hierarchical_recall, hierarchical_f1)
        ]
        np.testing.assert_allclose(found, expected)


def test_old_names_work_and_warn():
    ontology = Ontology([(), (0,)])
    with pytest.warns(FutureWarning, match="close was renamed to ancestor_closure") as caught:
        np.testing.assert_array_equal(ontology.close([[0, 1]]), [[1, 1]])
    assert caught[0].filename == __file__
    with pytest.warns(FutureWarning, match="respect was renamed to enforce_hierarchy"):
        found = ontology.respect([[0.2, 0.7]], how="lower")
    np.testing.assert_array_equal(found, [[0.2, 0.2]])


def test_depths_are_those_of_the_longest_way_to_the_top():
    ontology = Ontology.from_edges([("c", "b"), ("b", "a"), ("c", "a")])
    assert ontology.names.tolist() == ["c", "b", "a"]
    assert ontology.depths.tolist() == [3, 2, 1]


def test_a_label_has_the_labels_next_above_names_that_are_none():
    edges = [("leaf", "no label"), ("no label", "nor this"), ("nor this", "top"), ("x", "nowhere")]
    assert Ontology.from_edges(edges, ["top", "leaf", "x", "alone"]).parents == ((), (0,), (), ())
    assert Ontology.from_paths(["a", "a/b/c", "a/d", "e"]).parents == ((), (0,), (0,), ())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Ontology([(1,), (0,)]), "not form a cycle; label 0"),
        (
            lambda: Ontology.from_edges([("a", "b"), ("b", "c"), ("c", "b")]),
            "not form a cycle; label 'a'",
        ),
        (lambda: Ontology([(0,)]), "not form a cycle"),
        (lambda: Ontology([(), (2,)]), "from 0 to 1"),
        (lambda: Ontology([()], ["a", "b"]), r"one entry per label \(1\)"),
        (
            lambda: Ontology([()]).ancestor_closure([[1, 0]]),
            r"one column per label of the ontology \(1\)",
        ),
        (
            lambda: Ontology([()]).enforce_hierarchy([0.5]),
            r"one column per label of the ontology \(1\)",
        ),
        (lambda: Ontology([()]).enforce_hierarchy([[0.5]], "both"), "'raise' or 'lower'"),
        (lambda: hierarchical_f1([[1]], [[1], [0]], Ontology([()])), "the shape of Y_true"),
    ],
)
def test_invalid_input_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def forest_and_ontology(is_closed, as_sparse=True):
    rng = np.random.default_rng(0)
    data, ontology = make_multilabel(150, 30, 12, 2, 8, n_topics=6), random_ontology(rng)
    Y = ontology.ancestor_closure(data.Y) if is_closed else data.Y
    Y = Y if as_sparse else Y.toarray()
    return RandomForestClassifier(20, random_state=0).fit(data.X, Y), ontology, data.X


def test_a_forest_of_closed_labels_respects_the_ontology_by_itself():
    forest, ontology, X = forest_and_ontology(is_closed=True)
    assert ontology.n_violations(forest.predict_proba(X)) == 0
    assert ontology.n_violations(forest.predict(X)) == 0


@pytest.mark.parametrize("as_sparse", [True, False])
def test_respect_for_the_ontology_is_an_option_of_prediction(as_sparse, tmp_path):
    forest, ontology, X = forest_and_ontology(is_closed=False, as_sparse=as_sparse)
    scores = forest.predict_proba(X)
    assert ontology.n_violations(scores) > 0
    respected = forest.predict_proba(X, ontology=ontology)
    np.testing.assert_array_equal(respected, ontology.enforce_hierarchy(scores))
    assert respected.dtype == scores.dtype
    decided = forest.predict(X, ontology=ontology)
    assert type(decided) is type(forest.predict(X))
    assert decided.dtype == forest.predict(X).dtype
    assert ontology.n_violations(forest.predict(X)) > 0
    assert ontology.n_violations(decided) == 0
    forest.save(tmp_path / "model.sf")
    loaded = load_forest(tmp_path / "model.sf")
    np.testing.assert_array_equal(loaded.predict_proba(X, ontology=ontology), respected)


def test_an_ontology_of_other_labels_is_refused():
    forest, _, X = forest_and_ontology(is_closed=False)
    with pytest.raises(ValueError, match="ontology must have the labels of a multi-label model"):
        forest.predict_proba(X, ontology=Ontology([()]))
    with pytest.raises(TypeError, match="ontology must be an Ontology"):
        forest.predict(X, ontology=[(0, 1)])
    classes = RandomForestClassifier(5).fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="a multi-label model"):
        classes.predict_proba([[0.0]], ontology=Ontology([(), ()]))


@pytest.mark.parametrize(
    "classes", ["a,a/b,a/b/c,d", "root/a,root/d,a/b,d/b,b/c"], ids=["tree", "graph"]
)
def test_the_hierarchy_of_a_file_is_that_of_its_labels(classes, tmp_path):
    path = tmp_path / "genes.arff"
    rows = "1,d\n2,a@d\n3,a/b/c\n4,a/b@d" if "root" not in classes else "1,d\n2,a@d\n3,c\n4,b"
    path.write_text(
        f"@relation genes\n@attribute x numeric\n@attribute class hierarchical {classes}\n"
        f"@data\n{rows}\n"
    )
    ontology = read_ontology(path)
    own, closed = (read_arff(path, ancestors=ancestors) for ancestors in (False, True))
    assert ontology.names.tolist() == closed.label_names.tolist()
    np.testing.assert_array_equal(ontology.ancestor_closure(own.Y).toarray(), closed.Y.toarray())
    (tmp_path / "flat.arff").write_text("@relation 'x -C 1'\n@attribute y {0,1}\n@data\n1\n")
    with pytest.raises(ValueError, match="no hierarchical attribute"):
        read_ontology(tmp_path / "flat.arff")


def test_real_gene_functions_respect_their_hierarchy_once_closed():
    try:
        data = load("spo-FUN")
    except OSError:
        pytest.skip("needs the data set spo-FUN")
    ontology = Ontology.from_paths(data.label_names)
    X, Y = data.X[:400], data.Y[:400]
    closed = ontology.ancestor_closure(Y)
    assert closed.nnz > Y.nnz
    np.testing.assert_array_equal(ontology.ancestor_closure(closed).toarray(), closed.toarray())
    forest = RandomForestClassifier(10, random_state=0).fit(X, Y)
    assert ontology.n_violations(forest.predict_proba(X)) > 0
    assert ontology.n_violations(forest.relabel(closed).predict_proba(X)) == 0

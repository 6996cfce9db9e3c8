"""Sparse matrices whose indices point outside of them are refused: they used to corrupt memory."""

import threading
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.preprocessing import FunctionTransformer

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
    _core,
    metrics,
)
from sketchforest.evaluation import evaluate
from sketchforest.ontology import Ontology
from sketchforest.projection import PCAProjection, project_labels, sketch

KINDS = [
    DecisionTreeClassifier,
    RandomForestClassifier,
    ExtraTreesRegressor,
    SketchForestClassifier,
]
RNG = np.random.default_rng(0)
X = sparse.random_array((40, 12), density=0.3, format="csr", dtype=np.float32, rng=RNG)
Y = (sparse.random_array((40, 9), density=0.3, format="csr", rng=RNG) > 0).astype(np.uint8)
REFUSED = r"must be a sparse matrix whose indices lie within its shape"


def broken(matrix, layout, how):
    matrix = matrix.asformat(layout).copy()
    if layout == "coo":
        matrix.coords[1][3] = {"past the end": 10**6, "negative": -5}[how]
    elif layout == "lil":
        row = next(i for i, columns in enumerate(matrix.rows) if columns)
        matrix.rows[row][0] = {"past the end": 10**6, "negative": -5}[how]
    elif layout == "dok":
        column = {"past the end": 10**6, "negative": -5}[how]
        dict.__setitem__(matrix._dict, (0, column), matrix.dtype.type(1))
    elif how == "past the end":
        matrix.indices[3] = 10**6
    elif how == "negative":
        matrix.indices[3] = -5
    elif how == "pointer falls":
        matrix.indptr[2] = matrix.indptr[1] - 1
    elif how == "pointer too far":
        matrix.indptr[-1] += 1000
    return matrix


LAYOUTS = ("csr", "csc", "bsr", "coo", "lil", "dok")
CASES = [
    *((layout, how) for layout in LAYOUTS for how in ("past the end", "negative")),
    *((layout, how) for layout in LAYOUTS[:3] for how in ("pointer falls", "pointer too far")),
]


@pytest.mark.parametrize(("layout", "how"), CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_indices_outside_are_refused_by_fit_and_prediction(kind, layout, how):
    with pytest.raises(ValueError, match=f"^X {REFUSED}"):
        kind().fit(broken(X, layout, how), Y)
    with pytest.raises(ValueError, match=f"^Y {REFUSED}"):
        kind().fit(X, broken(Y, layout, how))
    fitted = kind(random_state=0).fit(X, Y)
    expected = fitted.predict(X)
    methods = ["predict", "apply", "leaf_weights", "similar"]
    if is_classifier(fitted):
        methods += ["predict_proba", "predict_log_proba", "predict_sparse", "predict_topk"]
    for method in methods:
        with pytest.raises(ValueError, match=f"^X {REFUSED}"):
            getattr(fitted, method)(broken(X, layout, how))
    first = broken(X, layout, how)
    with pytest.raises(ValueError, match=f"^X {REFUSED}"):
        fitted.explain(first)
    with pytest.raises(ValueError, match=f"^X {REFUSED}"):
        fitted.score(broken(X, layout, how), Y)
    with pytest.raises(ValueError, match=f"^Y {REFUSED}"):
        fitted.relabel(broken(Y, layout, how))
    for arguments, name in (((broken(X, layout, how), Y), "X"), ((X, broken(Y, layout, how)), "Y")):
        with pytest.raises(ValueError, match=f"^{name} {REFUSED}"):
            evaluate(fitted, *arguments)
    if not is_classifier(fitted):
        with pytest.raises(ValueError, match=f"^Y_true {REFUSED}"):
            fitted.score(X, broken(Y, layout, how))
    assert abs(fitted.predict(X) - expected).sum() == 0


METRICS = {
    **{name: getattr(metrics, name) for name in ("lrap", "coverage_error", "label_ranking_loss")},
    **{name: getattr(metrics, name) for name in ("precision_at_k", "ndcg_at_k", "r2", "log_loss")},
    "psp_at_k": partial(metrics.psp_at_k, propensities=np.ones(9)),
    "row_values": partial(metrics.row_values, "lrap"),
    "hierarchical_f1": partial(metrics.hierarchical_f1, ontology=Ontology([()] * 9)),
}


@pytest.mark.parametrize(("layout", "how"), CASES)
@pytest.mark.parametrize("name", METRICS)
def test_indices_outside_are_refused_by_metrics(name, layout, how):
    metric = METRICS[name]
    second = "Y_pred" if name in ("r2", "hierarchical_f1") else "Y_score"
    metric(Y, Y)
    with pytest.raises(ValueError, match=f"^Y_true {REFUSED}"):
        metric(broken(Y, layout, how), Y)
    with pytest.raises(ValueError, match=f"^{second} {REFUSED}"):
        metric(Y, broken(Y, layout, how))


@pytest.mark.parametrize(("layout", "how"), CASES)
def test_indices_outside_are_refused_by_what_takes_one_matrix(layout, how):
    ontology, rng = Ontology([()] * 9), np.random.default_rng(0)
    given = broken(Y, layout, how)
    for name, take in (
        ("Y", ontology.ancestor_closure),
        ("scores", ontology.enforce_hierarchy),
        ("scores", ontology.n_violations),
        ("Y_train", metrics.propensities),
        ("Y_score", partial(metrics.top_k, k=2)),
        ("Y", lambda Y: sketch("gaussian", Y, 4, rng)),
        ("Y", lambda Y: PCAProjection().fit(Y, 3)),
        ("Y", lambda Y: project_labels(Y, np.ones((9, 2), np.float32))),
    ):
        with pytest.raises(ValueError, match=f"^{name} {REFUSED}"):
            take(given)
    with pytest.raises(ValueError, match=f"^The result of projection {REFUSED}"):
        RandomForestClassifier(2, projection=FunctionTransformer(lambda _: given)).fit(X, Y)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": [0, 5]},
        {"columns": [0, -1]},
        {"columns": [0]},
        {"starts": [0, 2, 1, 2]},
        {"starts": [0, 1, 2, 9]},
        {"starts": [0, -3, 2, 2]},
        {"starts": []},
    ],
    ids=repr,
)
def test_the_core_looks_at_indices_itself(change):
    arrays = {"values": [1.0, 2.0], "columns": [0, 4], "starts": [0, 1, 2, 2]} | change
    types = {"values": np.float32, "columns": np.int32, "starts": np.int64}
    values, columns, starts = (np.array(arrays[key], types[key]) for key in types)
    with pytest.raises(ValueError, match=r"^X must be sparse with .*Build it anew"):
        _core.encode_csr(values, columns, starts, 5)


@pytest.mark.parametrize("name", ["data", "indices", "indptr"])
def test_a_matrix_that_another_thread_changes_is_never_read_outside(name):
    """Whatever becomes of the fit, which sees one or the other, the process lives."""
    rng = np.random.default_rng(0)
    rows = sparse.random_array((2000, 600), density=0.1, format="csr", dtype=np.float32, rng=rng)
    labels = np.asarray(rows.sum(axis=1) > 30, int)
    values = getattr(rows, name)
    good = values.copy()
    bad = np.full_like(values, 0 if name == "data" else 10**6)
    bad[:1000] = good[:1000]
    is_done = threading.Event()

    def change():
        while not is_done.is_set():
            values[:] = bad
            values[:] = good

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(30):
            with suppress(ValueError):
                RandomForestClassifier(1, max_depth=2, n_jobs=1).fit(rows, labels).predict(rows)
    finally:
        is_done.set()
        thread.join()

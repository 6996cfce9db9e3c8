"""The same data and the same seed are the same forest, however they are stored, given, or run."""

import multiprocessing
import pickle

import joblib
import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.base import clone

from sketchforest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
)
from sketchforest._trees.encoding import encode

N_ROWS, N_FEATURES, N_LABELS = 120, 25, 70


def dense_features(seed=0):
    """Small whole numbers: every dtype holds them exactly. Most are not zero."""
    return np.random.default_rng(seed).integers(0, 6, (N_ROWS, N_FEATURES))


def sparse_features(seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((N_ROWS, N_FEATURES)) < 0.15, rng.integers(1, 5, 1), 0)


def real_features(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def labels(seed=0):
    return (np.random.default_rng(seed + 100).random((N_ROWS, N_LABELS)) < 0.1).astype(np.uint8)


FORESTS = {
    "algorithm 2": RandomForestClassifier(12, n_components=5, random_state=0),
    "algorithm 1": RandomForestClassifier(
        12, n_components=5, shared_projection=True, random_state=0
    ),
    "no projection": RandomForestClassifier(12, projection=None, random_state=0),
    "extra-trees": ExtraTreesClassifier(12, n_components=5, random_state=0),
    "regressor": RandomForestRegressor(12, projection=None, random_state=0),
    "sketch": SketchForestClassifier(12, n_components=5, random_state=0),
    "sketch, scored": SketchForestRegressor(12, max_samples=None, oob_score="r2", random_state=0),
    "best first": ExtraTreesRegressor(12, n_components=3, max_leaf_nodes=20, random_state=0),
}


@pytest.fixture(params=FORESTS)
def forest(request):
    return clone(FORESTS[request.param])


def averages(fitted, X):
    predict = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
    return reference.dense(predict(X))


def assert_same(ours, theirs, X, X_theirs=None):
    reference.assert_same_forest(ours, theirs)
    np.testing.assert_array_equal(
        averages(ours, X), averages(theirs, X if X_theirs is None else X_theirs)
    )


# ---- however it is run


def test_any_number_of_jobs_grows_the_same_forest(forest):
    X, Y = real_features(), labels()
    X_new = np.vstack([real_features(seed) for seed in range(20)])  # several blocks of rows
    one = clone(forest).set_params(n_jobs=1).fit(X, Y)
    for n_jobs in (2, 8, None, -1):
        other = clone(forest).set_params(n_jobs=n_jobs).fit(X, Y)
        assert_same(one, other, X_new)


def test_another_seed_grows_another_forest(forest):
    X, Y = real_features(), labels()
    one = clone(forest).fit(X, Y)
    other = clone(forest).set_params(random_state=1).fit(X, Y)
    assert not np.array_equal(one.fitted_.forest.members, other.fitted_.forest.members)


def test_a_forest_grown_in_steps_is_the_forest_grown_at_once(forest):
    X, Y = real_features(), labels()
    at_once = clone(forest).fit(X, Y)
    in_steps = clone(forest).set_params(warm_start=True)
    for n_trees in (1, 2, 7, 12):
        in_steps.set_params(n_estimators=n_trees).fit(X, Y)
    assert_same(at_once, in_steps, X)


def test_the_first_trees_of_a_larger_forest_are_the_smaller_one(forest):
    X, Y = real_features(), labels()
    small = clone(forest).set_params(n_estimators=5).fit(X, Y)
    large = clone(forest).fit(X, Y)
    for t in range(5):
        ours, theirs = small.fitted_.forest.tree(t), large.fitted_.forest.tree(t)
        np.testing.assert_array_equal(ours.nodes, theirs.nodes)
        np.testing.assert_array_equal(ours.members, theirs.members)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading", "sequential"])
def test_any_joblib_backend_grows_the_same_forest(backend):
    X, Y = sparse.csr_array(sparse_features()), sparse.csr_array(labels())
    for name in ("algorithm 2", "algorithm 1"):
        plain = clone(FORESTS[name]).fit(X, Y)
        with joblib.parallel_config(backend=backend, n_jobs=2):
            other = clone(FORESTS[name]).fit(X, Y)
            assert_same(plain, other, X)


@pytest.mark.slow
def test_processes_that_map_large_inputs_read_only_grow_the_same_forest():
    X, Y = real_features(), labels()
    plain = clone(FORESTS["algorithm 2"]).fit(X, Y)
    with joblib.parallel_config(backend="loky", n_jobs=2, max_nbytes=100):
        other = clone(FORESTS["algorithm 2"]).fit(X, Y)
    assert_same(plain, other, X)


def _fit_and_send(connection, forest, X, Y):
    connection.send_bytes(pickle.dumps(forest.fit(X, Y)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the platform cannot fork"
)
def test_a_forked_child_fits_after_its_parent_has():
    X, Y = real_features(), labels()
    forest = clone(FORESTS["algorithm 2"]).set_params(n_jobs=2)
    ours = clone(forest).fit(X, Y)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_fit_and_send, args=(sender, clone(forest), X, Y))
    child.start()
    try:
        assert receiver.poll(60), "the child hangs"
        theirs = pickle.loads(receiver.recv_bytes())
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()
    assert_same(ours, theirs, X)


# ---- however X is stored


def with_wide_indices(X):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def with_explicit_zeros(X):
    """Every cell is stored."""
    n_rows, n_columns = X.shape
    cells = np.tile(np.arange(n_columns), n_rows)
    starts = np.arange(0, X.size + 1, n_columns)
    return sparse.csr_array((X.ravel().copy(), cells, starts), shape=X.shape)


def with_duplicates(X):
    """Each entry is stored in two halves, far apart and out of order."""
    X = sparse.csr_array(X)
    rows = [
        (np.concatenate([values / 2, values[::-1] / 2]), np.concatenate([cols, cols[::-1]]))
        for values, cols in (
            (X.data[a:b], X.indices[a:b]) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        )
    ]
    starts = np.cumsum([0] + [len(values) for values, _ in rows])
    data, columns = (np.concatenate(part) for part in zip(*rows, strict=True))
    return sparse.csr_array((data, columns, starts), shape=X.shape)


def with_unsorted_indices(X):
    X = sparse.csr_array(X)
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[a:b] = X.indices[a:b][::-1].copy()
        X.data[a:b] = X.data[a:b][::-1].copy()
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)


STORED = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "big-endian": lambda X: X.astype(">f8"),
    "unaligned": lambda X: unaligned(X),
    "long double": lambda X: X.astype(np.longdouble),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "lil_array": sparse.lil_array,
    "csr float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "csr with 64-bit indices": lambda X: with_wide_indices(sparse.csr_array(X)),
    "csc with 64-bit indices": lambda X: with_wide_indices(sparse.csc_array(X)),
    "explicit zeros": with_explicit_zeros,
    "explicit zeros by column": lambda X: with_explicit_zeros(X).tocsc(),
    "duplicates": with_duplicates,
    "unsorted indices": with_unsorted_indices,
}
INTEGERS = {
    f"{kind} {dtype}": lambda X, kind=kind, dtype=dtype: kinds(kind)(X.astype(dtype))
    for kind in ("array", "csr")
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
}


def kinds(name):
    return {"array": np.asarray, "csr": sparse.csr_array}[name]


def unaligned(X):
    packed = np.zeros(len(X), dtype=[("gap", "i1"), ("X", "f8", X.shape[1])])
    packed["X"] = X
    assert not packed["X"].flags.aligned
    return packed["X"]


@pytest.mark.parametrize("stored", STORED | INTEGERS)
@pytest.mark.parametrize("make_X", [dense_features, sparse_features])
def test_any_storage_of_the_same_values_grows_the_same_forest(make_X, stored):
    X, Y = make_X().astype(float), labels()
    assert (encode(X).row_start is not None) == (make_X is sparse_features)
    X_stored = (STORED | INTEGERS)[stored](X)
    for forest in (FORESTS["algorithm 2"], FORESTS["extra-trees"]):
        plain = clone(forest).fit(X, Y)
        other = clone(forest).fit(X_stored, Y)
        assert_same(plain, other, X, X_stored)


@pytest.mark.parametrize("stored", ["float32", "Fortran order", "csr_array", "csc_array"])
def test_any_storage_of_reals_and_missing_values_grows_the_same_forest(stored):
    X, Y = real_features().astype(float), labels()
    X[np.random.default_rng(1).random(X.shape) < 0.8] = 0
    X_stored = STORED[stored](X)
    for forest in FORESTS.values():
        assert_same(clone(forest).fit(X, Y), clone(forest).fit(X_stored, Y), X, X_stored)


def test_floats_that_are_hardly_apart_grow_the_same_forest_as_their_doubles(forest):
    """A cut between two of them may round to either."""
    X = (2.0**23 + dense_features()).astype(np.float32)
    Y = labels()
    narrow, wide = (clone(forest).fit(x, Y) for x in (X, X.astype(float)))
    assert narrow.fitted_.forest.thresholds is None
    assert_same(narrow, wide, X, X.astype(float))


def test_booleans_are_zeros_and_ones():
    Y = labels()
    for X in (dense_features() > 2, sparse_features() > 0):
        for X_bool in (X, sparse.csr_array(X), sparse.csc_array(X)):
            plain = clone(FORESTS["algorithm 2"]).fit(X.astype(float), Y)
            other = clone(FORESTS["algorithm 2"]).fit(X_bool, Y)
            assert_same(plain, other, X.astype(float), X_bool)


@pytest.mark.parametrize("make_X", [dense_features, sparse_features])
def test_negative_zero_is_zero(forest, make_X):
    X, Y = make_X().astype(float), labels()
    X_signed = X.copy()
    X_signed[::2][X[::2] == 0] = -0.0
    plain = clone(forest).fit(X, Y)
    for stored in (X_signed, X_signed.astype(np.float32), with_explicit_zeros(X_signed)):
        assert_same(plain, clone(forest).fit(stored, Y), X, stored)


def test_any_storage_of_the_labels_grows_the_same_forest():
    X, Y = real_features(), labels()
    plain = clone(FORESTS["algorithm 2"]).fit(X, Y)
    for Y_stored in (
        Y.astype(bool),
        Y.astype(float),
        np.asfortranarray(Y),
        sparse.csr_array(Y),
        sparse.csc_matrix(Y),
        sparse.coo_array(Y.astype(float)),
        with_wide_indices(sparse.csr_array(Y)),
        with_explicit_zeros(Y),
        with_unsorted_indices(Y),
    ):
        assert_same(plain, clone(FORESTS["algorithm 2"]).fit(X, Y_stored), X)


# ---- what is the user's stays as it was


def arrays_of(data):
    return [data.data, data.indices, data.indptr] if sparse.issparse(data) else [data]


@pytest.mark.parametrize(
    "stored", ["C order", "csr_array", "csc_array", "duplicates", "unsorted indices"]
)
def test_inputs_may_be_read_only_and_are_not_changed(stored):
    X = STORED[stored](sparse_features().astype(float))
    Y = sparse.csr_array(labels())
    weights = np.random.default_rng(0).exponential(size=N_ROWS)
    given = [*arrays_of(X), *arrays_of(Y), weights]
    before = [array.copy() for array in given]
    for array in given:
        array.flags.writeable = False
    for forest in FORESTS.values():
        fitted = clone(forest).fit(X, Y, weights)
        averages(fitted, X)
        fitted.apply(X)
        fitted.leaf_weights(X)
    for array, copy in zip([*arrays_of(X), *arrays_of(Y), weights], before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_the_fitted_forest_does_not_see_later_changes_of_the_inputs(forest):
    X = real_features()
    for Y in (labels().astype(float), sparse.csr_array(labels().astype(np.float32))):
        given = Y.copy()
        fitted = clone(forest).fit(X, given)
        before = averages(fitted, X)
        for array in arrays_of(given)[:2]:  # values and columns
            array[...] = 0
        # Through a pickle, so that nothing computed before is used.
        np.testing.assert_array_equal(averages(pickle.loads(pickle.dumps(fitted)), X), before)

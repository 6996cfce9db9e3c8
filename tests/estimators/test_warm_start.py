"""A forest grown in steps is the forest grown at once."""

import numpy as np
import pytest
from every_kind import (
    FORESTS,
    fitted,
    predictions,
    targets,
)
from scipy import sparse

from sketchforest._estimators.fitting.warm_start import BLOCK_ROWS, fingerprint


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_grown_in_steps_is_the_forest_grown_at_once(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    params = {"bootstrap": True, "oob_score": True}
    at_once = fitted(kind, X, y, n_estimators=30, **params)
    with pytest.warns(UserWarning, match="OOB scores"):
        in_steps = fitted(kind, X, y, n_estimators=3, warm_start=True, **params)
    first = in_steps.apply(X_new)
    in_steps.set_params(n_estimators=11, oob_score=False).fit(X, y)
    assert not hasattr(in_steps, "oob_score_")
    in_steps.set_params(n_estimators=30, oob_score=True).fit(X, y)
    assert np.array_equal(in_steps.apply(X_new)[:, :3], first)
    assert np.array_equal(predictions(in_steps, X_new), predictions(at_once, X_new))
    assert in_steps.oob_score_ == at_once.oob_score_


@pytest.mark.parametrize("kind", FORESTS)
def test_later_trees_go_on_with_the_stream_of_the_first(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    at_once = fitted(kind, X, y, n_estimators=6, random_state=np.random.RandomState(5))
    in_steps = fitted(
        kind, X, y, n_estimators=2, warm_start=True, random_state=np.random.RandomState(5)
    )
    in_steps.set_params(n_estimators=6).fit(X, y)
    assert np.array_equal(in_steps.apply(X_new), at_once.apply(X_new))


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("density", [0.1, 0.9])
def test_a_warm_start_knows_its_rows_in_any_storage(kind, X, Y, X_new, outputs, density):
    thinned = np.where(np.random.default_rng(0).random(X.shape) < density, X, 0).astype(np.float32)
    y = targets(kind, Y, outputs)
    at_once = fitted(kind, thinned, y, n_estimators=7)
    in_steps = fitted(kind, thinned, y, n_estimators=2, warm_start=True)
    for n_estimators, again, weights in [
        (3, np.asfortranarray(thinned), None),
        (4, thinned.astype(np.float64), np.ones(len(X))),
        (5, sparse.csr_array(thinned), None),
        (7, sparse.csc_matrix(thinned), None),
    ]:
        in_steps.set_params(n_estimators=n_estimators).fit(again, y, sample_weight=weights)
    assert np.array_equal(in_steps.apply(X_new), at_once.apply(X_new))


@pytest.mark.parametrize("density", [0.1, 0.9])
def test_the_fingerprint_depends_on_rows_and_their_order_alone(density):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((2 * BLOCK_ROWS + 5, 3)) < density, rng.normal(size=3), 0)
    known = fingerprint(rows, None)
    for same in (np.asfortranarray(rows), rows[::-1][::-1], sparse.csr_array(rows)):
        assert {fingerprint(same, None, n_jobs) for n_jobs in (1, 4)} == {known}
    swapped = rows[np.argsort(np.arange(len(rows)) % 2, kind="stable")]
    changed = rows.copy()
    changed[-1, 0] = np.nextafter(changed[-1, 0], 2)
    for other in (swapped, changed, rows[:-1], rows.reshape(3, -1)):
        assert fingerprint(other, None) != known
    assert fingerprint(rows, np.ones(len(rows))) != known


@pytest.mark.parametrize("kind", FORESTS)
def test_a_warm_start_goes_on_with_the_labels_of_relabel(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    other = y[::-1]
    forest = fitted(kind, X, y, n_estimators=2, warm_start=True).relabel(other)
    first = forest.apply(X)
    forest.set_params(n_estimators=4).fit(X, other)
    assert np.array_equal(forest.apply(X)[:, :2], first)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_warm_start_without_more_trees_only_warns(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    forest = fitted(kind, X, y, warm_start=True)
    before = predictions(forest, X_new)
    with pytest.warns(UserWarning, match="without increasing n_estimators") as caught:
        forest.fit(X, y)
    assert caught[0].filename == __file__
    assert np.array_equal(predictions(forest, X_new), before)
    forest.set_params(warm_start=False, random_state=1).fit(X, y)
    assert not np.array_equal(predictions(forest, X_new), before)

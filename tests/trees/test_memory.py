"""Trees that grow at once take no more memory than there is."""

import threading

import numpy as np
import pytest
from scipy import sparse

from sketchforest import RandomForestClassifier, SketchForestClassifier
from sketchforest._trees import grow, memory

RNG = np.random.default_rng(0)
X = RNG.random((300, 12), dtype=np.float32)
Y = sparse.csr_array((RNG.random((300, 40)) < 0.1).astype(np.uint8))


def threads_at_work(monkeypatch):
    seen = set()
    grow_one = grow.grow_one

    def spy(*args):
        seen.add(threading.get_ident())
        return grow_one(*args)

    monkeypatch.setattr(grow, "grow_one", spy)
    return seen


@pytest.mark.parametrize("kind", [RandomForestClassifier, SketchForestClassifier])
def test_little_memory_means_fewer_threads_and_the_same_trees(kind, monkeypatch):
    forest = kind(12, n_jobs=4, random_state=0).fit(X, Y)
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    seen = threads_at_work(monkeypatch)
    short = kind(12, n_jobs=4, random_state=0).fit(X, Y)
    assert seen == {threading.get_ident()}
    assert np.array_equal(forest.predict_proba(X), short.predict_proba(X))


def test_threads_that_fit(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    assert memory.n_threads_that_fit(8, 100) == 8
    assert memory.n_threads_that_fit(9, 100) == 8
    assert memory.n_threads_that_fit(3, 100) == 3
    assert memory.n_threads_that_fit(8, 10**6) == 1
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert memory.n_threads_that_fit(8, 10**6) == 8


def test_a_tree_takes_more_for_more_rows_and_components():
    def bytes_of(n_components, rows=slice(None), **params):
        taken = []
        measure = memory.tree_bytes
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(grow, "tree_bytes", lambda *args: taken.append(measure(*args)) or 1)
            kind = SketchForestClassifier if "oblique" in params else RandomForestClassifier
            kind(1, n_components=n_components, random_state=0, **params).fit(X[rows], Y[rows])
        return taken[0]

    n_drawn = int((1 - np.exp(-1)) * 300)
    assert bytes_of(8) == pytest.approx(n_drawn * (176 + 32 * 4 / 3), rel=0.01)
    assert bytes_of(32) == pytest.approx(n_drawn * (176 + 128 * 4 / 3), rel=0.01)
    assert bytes_of(8, bootstrap=False) == pytest.approx(300 * (176 + 32 * 4 / 3), rel=0.01)
    assert bytes_of(8, slice(150)) == pytest.approx(bytes_of(8) / 2, rel=0.02)
    assert bytes_of(8, oblique=1.0, threshold=0.5) > bytes_of(8, bootstrap=False)


def test_the_memory_that_is_free_is_part_of_all():
    assert 0 < memory.free_memory() <= memory.memory_size()

"""Sizes past 2^31: right, or refused with a sentence and without taking memory for them.

python tests/reliability/sizes.py          what is refused, and sparse matrices of very many columns
python tests/reliability/sizes.py --large  dense X of over 2^31 cells (9 GB of disk, 16 of memory)
"""

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    SketchForestClassifier,
)

PAST = 2**31 + 5
KINDS = (RandomForestClassifier, ExtraTreesClassifier, SketchForestClassifier)
# Of addresses: nothing here needs more, but for the large case.
MOST_BYTES = 6 << 30


def many_rows(kind: type) -> None:
    """Each row is the same byte of memory."""
    X = np.broadcast_to(np.zeros((1, 1), np.float32), (PAST, 1))
    kind(1).fit(X, np.broadcast_to(np.zeros((1, 2), np.uint8), (PAST, 2)))


def many_features(kind: type) -> None:
    kind(1).fit(_wide(), np.eye(6, dtype=np.uint8))


def many_labels(kind: type) -> None:
    kind(1, n_components=2).fit(np.eye(6, dtype=np.float32), _wide())


def many_features_to_predict(kind: type) -> None:
    kind(1).fit(np.eye(6, dtype=np.float32), np.eye(6, dtype=np.uint8)).predict(_wide())


def _wide() -> sparse.csr_array:
    columns = np.array([0, 1, 2, 2**31 - 2, 2**31, PAST - 1], np.int64)
    return sparse.csr_array((np.ones(6, np.float32), (np.arange(6), columns)), shape=(6, PAST))


REFUSED = (many_rows, many_features, many_labels, many_features_to_predict)


def what_came_of(case: Callable[[type], None], kind: type) -> str:
    try:
        case(kind)
    except ValueError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"FAILED with {type(error).__name__}: {error}"
    return "done"


def large_dense(folder: Path, n_rows: int = 40_000, n_features: int = 54_000) -> bool:
    """One tree whose split is by the last feature, and one that parts the last row from all others:
    each finds what lies beyond 2^31 cells, by columns and by rows."""
    X = np.memmap(folder / "X", np.float32, "w+", shape=(n_rows, n_features))
    rng = np.random.default_rng(0)
    for first in range(0, n_rows, 1000):
        X[first : first + 1000] = rng.integers(0, 5, (1000, n_features), np.uint8)
    X[-1, 7] = 9
    by_feature = (X[:, -1] > 2).astype(np.uint8)
    by_row = np.zeros(n_rows, np.uint8)
    by_row[-1] = 1
    found = []
    for y, feature in ((by_feature, n_features - 1), (by_row, 7)):
        tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
        found.append(tree.tree_.feature[0] == feature and np.array_equal(tree.predict(X), y))
    # A forest of deep trees, whose small nodes are read by rows.
    forest = RandomForestClassifier(1, bootstrap=False, random_state=0).fit(X, by_feature)
    found.append(np.array_equal(forest.predict(X[-2000:]), by_feature[-2000:]))
    return all(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    failed = 0
    if parser.parse_args().large:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            is_right = large_dense(Path(folder))
        print("dense X of more than 2^31 cells:", "right" if is_right else "WRONG")
        failed += not is_right
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        for case in REFUSED:
            for kind in KINDS:
                outcome = what_came_of(case, kind)
                print(f"{case.__name__}, {kind.__name__}: {outcome}", flush=True)
                failed += not outcome.startswith("refused")
    sys.exit(failed > 0)

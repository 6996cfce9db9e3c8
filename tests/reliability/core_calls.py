"""Calls of the native core as the library makes them, from small fits of every kind."""

import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchBoostingClassifier,
    SketchBoostingRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
    _core,
)
from sketchforest._boosting.binning import BinnedX
from sketchforest._trees import encoding
from sketchforest._trees.encoding import EncodedX
from sketchforest._trees.model import SparseRows
from sketchforest._trees.oblique_features import ObliqueX
from sketchforest.metrics import lrap

MOST_CASES = 24  # of a function, spread over the fits
PARAMS = {
    "GrowParams": (
        *("impurity", "max_features", "random_cuts", "max_depth", "min_samples_split"),
        *("min_samples_leaf", "min_weight_leaf", "min_gain", "max_leaf_nodes", "parts", "key"),
        *("shared_rows", "n_threads", "binned_rows"),
    ),
    "ObliqueParams": (
        *("max_depth", "min_samples_split", "min_samples_leaf", "min_weight_leaf", "min_gain"),
        *("max_leaf_nodes", "parts", "key", "ridge", "n_steps", "n_power_steps"),
        *("n_refinements", "min_side", "weights_per_row", "piece_rows", "n_threads"),
        *("n_single_features", "min_direction_rows"),
    ),
    "BoostParams": (
        *("max_depth", "min_samples_split", "min_samples_leaf", "min_weight_leaf", "min_gain"),
        *("max_leaf_nodes", "parts", "key", "max_features", "l2"),
    ),
}
LEAVES = ("leaf_start", "tree_members", "member_start", "members", "weights", "n_rows")
FOREST = (
    *("n_features", "nodes", "thresholds", "gains", "depths", "node_start", "direction_start"),
    *("direction_columns", "direction_weights", "is_oblique"),
)
HELD = {
    _core.Forest: LEAVES + FOREST,
    _core.Leaves: LEAVES,
    _core.Codes: EncodedX.FIELDS,
    _core.FloatRows: ObliqueX.FIELDS,
    _core.SparseRows: SparseRows.FIELDS,
    _core.BinnedX: BinnedX.FIELDS,
}


@dataclass(frozen=True)
class Made:
    """A native object, by what it is made of."""

    kind: type
    fields: dict[str, Any]

    def build(self) -> Any:
        if self.kind.__name__ in PARAMS:
            params = self.kind()
            for name, value in self.fields.items():
                setattr(params, name, value)
            return params
        if self.kind is _core.Scores:  # which change their arrays
            copies = {
                n: v.copy() if isinstance(v, np.ndarray) else v for n, v in self.fields.items()
            }
            return self.kind(**copies)
        return self.kind(**self.fields)

    @classmethod
    def of(cls, value: object) -> object:
        name = type(value).__name__
        if name in PARAMS:
            return cls(type(value), {field: getattr(value, field) for field in PARAMS[name]})
        for kind, names in HELD.items():
            if isinstance(value, kind):
                return cls(kind, {field: getattr(value, field, None) for field in names})
        return value


@contextmanager
def recording(calls: dict[str, list[list[Any]]]) -> Iterator[None]:
    functions = {
        name: value
        for name, value in vars(_core).items()
        if callable(value) and not isinstance(value, type) and not name.startswith("__")
    }

    def recorder(name: str) -> Any:
        def call(*args: object) -> object:
            calls[name].append([np.copy(a, "K") if _is_written(a) else Made.of(a) for a in args])
            return functions[name](*args)

        return call

    def _is_written(value: object) -> bool:
        return isinstance(value, np.ndarray) and value.flags.writeable

    try:
        for name in functions:
            setattr(_core, name, recorder(name))
        yield
    finally:
        for name, function in functions.items():
            setattr(_core, name, function)


_encode_ranks = encoding._encode_ranks


def _wide(X, n_jobs, code_type, *args):
    """As if X had more than 65,535 distinct values: fewer have no bins."""
    return None if code_type is np.uint16 else _encode_ranks(X, n_jobs, code_type, *args)


def _fit_and_use() -> Iterator[None]:
    """One kind of fit after the other, and what predicts, scores and saves it."""
    rng = np.random.default_rng(0)
    n, rows = 90, slice(0, 7)
    X = rng.random((n, 6))
    few = rng.integers(0, 4, (n, 5)).astype(np.float32)
    with_missing = np.where(rng.random((n, 6)) < 0.1, np.nan, X).astype(np.float32)
    binary = sparse.csr_array((rng.random((n, 40)) < 0.1).astype(np.float32))
    counts = sparse.csr_array(rng.poisson(0.1, (n, 30)).astype(np.float64))
    labels = (rng.random((n, 20)) < 0.15).astype(int)
    many = sparse.csr_array(rng.random((n, 150)) < 0.05).astype(int)
    classes, outputs = rng.integers(0, 3, n), rng.normal(size=(n, 3))
    weights = rng.random(n) + 0.1
    small = {"n_estimators": 2, "random_state": 0}
    fits = [
        (RandomForestClassifier(**small), X, labels, None),
        (RandomForestClassifier(**small, n_components=4, oob_score=True), few, many, None),
        (RandomForestClassifier(**small), with_missing, classes, weights),
        (RandomForestClassifier(**small), binary, many, None),
        (RandomForestClassifier(**small, max_leaf_nodes=9), counts, labels, weights),
        (RandomForestClassifier(**small, criterion="entropy"), X, classes, None),
        (RandomForestClassifier(**small, criterion="entropy"), binary, labels, None),
        (RandomForestRegressor(**small), 1 + X * 1e-12, outputs, weights),
        (RandomForestRegressor(**small), counts, sparse.csr_array(labels * 0.5), None),
        (RandomForestRegressor(**small, criterion="poisson"), X, np.abs(outputs), None),
        (DecisionTreeRegressor(criterion="absolute_error"), few, outputs, weights),
        (RandomForestRegressor(**small, criterion="absolute_error"), counts, outputs, None),
        (ExtraTreesClassifier(**small), few, labels, None),
        (ExtraTreesRegressor(**small, bootstrap=True), with_missing, outputs, weights),
        (ExtraTreesClassifier(**small), counts, many, None),
        (DecisionTreeClassifier(max_depth=2), X, np.zeros(n, int), None),
        (SketchForestClassifier(**small), X, labels, None),
        (SketchForestClassifier(**small), counts, many, weights),
        (SketchForestRegressor(**small), few, outputs, None),
        (SketchBoostingRegressor(max_iter=2), with_missing, outputs, weights),
        (SketchBoostingClassifier(max_iter=2), counts, labels, None),
        (SketchBoostingClassifier(max_iter=2), X, classes, None),
    ]
    for estimator, features, targets, weight in fits:
        with warnings.catch_warnings():  # few trees leave some rows without an out-of-bag score
            warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
            estimator.fit(features, targets, sample_weight=weight)
        estimator.predict(features[rows])
        if hasattr(estimator, "predict_proba"):
            estimator.predict_proba(features[rows])
        _ = estimator.feature_importances_
        if isinstance(estimator, SketchBoostingClassifier | SketchBoostingRegressor):
            yield
            continue
        estimator.decision_path(features[rows])
        estimator.explain(features[[0]])
        tree = estimator.tree_ if hasattr(estimator, "tree_") else estimator.estimators_[0].tree_
        _ = tree.value, tree.impurity
        yield
    with patch.object(encoding, "BINNED_ROWS", 20), patch.object(encoding, "_encode_ranks", _wide):
        RandomForestClassifier(**small, max_bins=9).fit(with_missing, labels)
    yield
    best = RandomForestClassifier(**small).fit(binary, many)
    best.predict_topk(binary[rows], 3)
    best.predict_topk(X[:, :1].repeat(40, axis=1)[rows], 3)
    with tempfile.TemporaryDirectory() as folder:
        best.save(Path(folder, "model.sf"))
    scores = rng.random((n, 20)).round(1)
    lrap(labels, scores)
    lrap(sparse.csr_array(labels), sparse.csr_array(scores * labels))
    yield


def recorded_calls() -> dict[str, list[list[Any]]]:
    """Arguments by the name of what is called; a class has the object that it makes."""
    calls: dict[str, list[list[Any]]] = {}
    fits: list[dict[str, list[list[Any]]]] = []
    using = _fit_and_use()
    while True:
        now: dict[str, list[list[Any]]] = defaultdict(list)
        with recording(now):
            if next(using, now) is now:
                break
        fits.append(now)
    for name in sorted({name for now in fits for name in now}):
        per_fit = [now[name] for now in fits if name in now]
        most = -(-MOST_CASES // len(per_fit))
        calls[name] = [args for cases in per_fit for args in cases[:: -(-len(cases) // most)]]
    _add_by_hand(calls)
    calls["Scores"] = list(_uses_of_scores())
    calls["Hierarchy"] = list(_prunings(calls["node_sizes"]))
    made: dict[str, dict[str, Made]] = defaultdict(dict)
    for cases in list(calls.values()):
        for value in (value for args in cases for value in args if isinstance(value, Made)):
            made[value.kind.__name__][str(value.fields)] = value
    for name, objects in made.items():
        if name == "Scores":
            continue
        calls[name] = [[value] for value in list(objects.values())[:MOST_CASES]]
    for name in ("available_kernels", "kernels_in_use", "is_closing", "prepare_thread", "StopFlag"):
        calls[name] = [[]]
    calls["TreeLimits"] = [[]]  # which nobody makes
    calls |= {"Impurity": [[1]], "Loss": [[1]]}
    return calls | {"OwnedArrays": [[]], "PartSizes": [[3, 9]]}


def _uses_of_scores() -> Iterator[list[Any]]:
    """Scores of each loss, and what their methods are called with."""
    rng = np.random.default_rng(1)
    n_rows, n_outputs = 40, 6
    labels = sparse.csr_array(np.eye(n_outputs, dtype=int)[rng.integers(0, n_outputs, n_rows)])
    truth = {"row_start": labels.indptr.astype(np.int64), "columns": labels.indices}
    groups = {"groups": np.array([0, 2, n_outputs])}
    for loss, more in (
        (_core.Loss.squared_error, {"weights": rng.random(n_rows)}),
        (_core.Loss.cross_entropy, truth),
        (_core.Loss.softmax, truth | groups),
    ):
        values = rng.normal(size=(n_rows, n_outputs)).astype(np.float32)
        yield [
            Made(_core.Scores, {"values": values, "loss": loss, **more}),
            np.arange(0, n_rows, 2, dtype=np.uint32),
            rng.normal(size=(n_outputs, 8)).astype(np.float32),
            np.array([0, 7, n_rows // 2]),
            rng.integers(0, 2, n_rows).astype(np.int32),
            values[:2].copy(),
            loss is _core.Loss.softmax,
            2,
        ]


def _prunings(calls: list[list[Any]]) -> Iterator[list[Any]]:
    """Single trees, and what their hierarchies are pruned by."""
    rng = np.random.default_rng(2)
    for forest, *_ in calls:
        n_nodes = 2 * len(forest.fields["nodes"]) + 1
        yield [forest, rng.random(n_nodes), 0.01]


def _add_by_hand(calls: dict[str, list[list[Any]]]) -> None:
    """What no fit does in this form: averages of all sorts of the leaves that were found."""
    for leaves, values, found, *_ in list(calls["average"]):
        if isinstance(values, Made):
            calls["average_csr"] += [[leaves, values, found, k] for k in (0, 2)]
            calls["average_best"].append(
                [leaves, values, found, min(2, values.fields["n_columns"])]
            )
    for forest, values, columns, row_start, n_columns, *seen in list(calls["leaves_sparse"]):
        dense = sparse.csr_array((values, columns, row_start), (len(row_start) - 1, n_columns))
        calls["leaves_dense"].append([forest, dense.toarray(), *seen])
    for forest, *_ in list(calls["leaves_dense"]):  # of trees that no part is grown of
        n_parts = len(forest.fields["depths"]) - 1
        places = np.stack([np.zeros(n_parts, np.int64), np.arange(n_parts)], axis=1)
        if n_parts < forest.fields["leaf_start"][1]:
            calls.setdefault("join_parts", []).append([forest, places])

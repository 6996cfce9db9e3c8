"""Hashes of predictions and model files for many settings, to compare two versions.

    python tests/reliability/behaviour.py > before.json     # with the old version
    python tests/reliability/behaviour.py > after.json      # with the new one
    python tests/reliability/behaviour.py --compare before.json after.json

A refactoring must leave every hash as it is. Only public names are used, so that the script runs
with old versions, too.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import sketchforest as sf

RNG = np.random.default_rng(0)
N_ROWS, N_NEW = 220, 40
DENSE = RNG.normal(size=(N_ROWS + N_NEW, 12)).astype(np.float32)
MISSING = np.where(RNG.random(DENSE.shape) < 0.1, np.nan, DENSE)
WORDS = sparse.csr_array(np.where(RNG.random((N_ROWS + N_NEW, 60)) < 0.1, 1.0, 0.0))
COUNTS = sparse.csr_array(
    np.where(RNG.random((N_ROWS + N_NEW, 60)) < 0.2, RNG.poisson(2, (N_ROWS + N_NEW, 60)), 0.0)
)
FEATURES = {"dense": DENSE, "missing": MISSING, "words": WORDS, "counts": COUNTS}
FEW = (DENSE[:N_ROWS, :5] + RNG.normal(size=(N_ROWS, 5)) > 0.8).astype(int)
MANY = sparse.csr_array(
    (RNG.random((N_ROWS, 90)) < 0.05 + 0.2 * (DENSE[:N_ROWS, :1] > 1)).astype(int)
)
CLASSES = np.array(["red", "green", "blue", "grey"])[(DENSE[:N_ROWS, :2] > 0) @ [1, 2]]
OUTPUTS = np.column_stack(
    [DENSE[:N_ROWS, 0] * DENSE[:N_ROWS, 1], DENSE[:N_ROWS, 2] ** 2, DENSE[:N_ROWS, 3]]
)
WEIGHTS = RNG.integers(0, 4, N_ROWS).astype(float)

FORESTS = ("RandomForest", "ExtraTrees", "SketchForest")
PROJECTIONS = (
    "gaussian",
    "rademacher",
    "achlioptas",
    "sparse",
    "hadamard",
    "subsample",
    "pca",
    None,
)
OPTIONS: dict[str, dict[str, Any]] = {
    "depth": {"max_depth": 4},
    "leaves": {"max_leaf_nodes": 12},
    "min leaf": {"min_samples_leaf": 5},
    "min split": {"min_samples_split": 0.1},
    "leaf weight": {"min_weight_fraction_leaf": 0.05},
    "min decrease": {"min_impurity_decrease": 0.001},
    "all features": {"max_features": None},
    "one feature": {"max_features": 1},
    "samples": {"bootstrap": True, "max_samples": 0.5},
    "out-of-bag": {"bootstrap": True, "oob_score": True},
}
AXIS_ALIGNED: dict[str, dict[str, Any]] = {
    "shared projection": {"shared_projection": True},
    "pruned": {"ccp_alpha": 0.002},
    "log components": {"n_components": "log"},
    "half components": {"n_components": 0.5},
}


def settings() -> Iterator[tuple[str, Any, str, Any, dict[str, Any]]]:
    """(name, estimator, name of X, Y, arguments of fit)"""
    common = {"random_state": 0, "n_jobs": 2}
    for family in FORESTS:
        classifier, regressor = (getattr(sf, family + end) for end in ("Classifier", "Regressor"))
        forest = {"n_estimators": 5, **common}
        for x in FEATURES:
            if family == "SketchForest" and x == "missing":
                continue
            yield f"{family} {x}, many labels", classifier(**forest, n_components=8), x, MANY, {}
            yield f"{family} {x}, few labels", classifier(**forest), x, FEW, {}
            yield f"{family} {x}, classes", classifier(**forest), x, CLASSES, {}
            yield f"{family} {x}, outputs", regressor(**forest), x, OUTPUTS, {}
        for projection in PROJECTIONS:
            estimator = classifier(
                **forest, projection=projection, n_components=8 if projection else None
            )
            yield f"{family} {projection}", estimator, "dense", MANY, {}
        options = OPTIONS | (
            AXIS_ALIGNED if family != "SketchForest" else {"oblique": {"oblique": 1.0}}
        )
        for name, option in options.items():
            given = {"n_components": 8} | option
            yield f"{family} {name}", classifier(**forest, **given), "counts", MANY, {}
        yield f"{family} weights", classifier(**forest), "dense", FEW, {"sample_weight": WEIGHTS}
        yield (
            f"{family} balanced",
            classifier(**forest, class_weight="balanced"),
            "dense",
            CLASSES,
            {},
        )
        yield (
            f"{family} f1",
            classifier(**forest | {"bootstrap": True}, threshold="f1"),
            "dense",
            FEW,
            {},
        )
        yield f"{family} one output", regressor(**forest), "dense", OUTPUTS[:, 0], {}
    for criterion in ("entropy", "log_loss"):
        forest = sf.RandomForestClassifier(5, criterion=criterion, **common)
        yield f"RandomForest {criterion}", forest, "dense", CLASSES, {}
    for criterion in ("absolute_error", "friedman_mse", "poisson"):
        forest = sf.RandomForestRegressor(5, criterion=criterion, **common)
        yield f"RandomForest {criterion}", forest, "dense", np.abs(OUTPUTS), {}
    for splitter in ("best", "random", "oblique"):
        tree = sf.DecisionTreeClassifier(splitter=splitter, n_components=8, random_state=0)
        yield f"tree {splitter}, labels", tree, "dense", MANY, {}
        tree = sf.DecisionTreeRegressor(splitter=splitter, random_state=0)
        yield f"tree {splitter}, outputs", tree, "dense", OUTPUTS, {}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def of_array(found: Any) -> str:
    if sparse.issparse(found):
        found = sparse.csr_array(found)
        found.sort_indices()
        parts = found.indptr.astype(np.int64), found.indices.astype(np.int64), found.data
        return sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
    found = np.asarray(found)
    return sha256(repr(found.tolist()).encode() if found.dtype.kind in "OU" else found.tobytes())


def measured(estimator: Any, x: str, Y: Any, arguments: dict[str, Any]) -> dict[str, str]:
    """Hashes by what they are of."""
    X, X_new = FEATURES[x][:N_ROWS], FEATURES[x][N_ROWS:]
    try:
        estimator.fit(X, Y, **arguments)
    except ValueError as error:  # what is refused must be refused; its words may change
        return {"refused": type(error).__name__}
    hashes = {
        "predict": of_array(estimator.predict(X_new)),
        "apply": of_array(estimator.apply(X_new)),
        "leaf_weights": of_array(estimator.leaf_weights(X_new)),
        "importances": of_array(estimator.feature_importances_),
    }
    if hasattr(estimator, "predict_proba"):
        hashes["predict_proba"] = of_array(estimator.predict_proba(X_new))
    if getattr(Y, "ndim", 1) == 2 and hasattr(estimator, "predict_topk"):
        labels, scores = estimator.predict_topk(X_new, k=3)
        hashes["predict_topk"] = of_array(labels) + of_array(scores)
        hashes["predict_sparse"] = of_array(estimator.predict_sparse(X_new, k=3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sf"
        estimator.save(path)
        hashes["model file"] = sha256(path.read_bytes())
        loaded = sf.load_forest(path)
        hashes["loaded"] = of_array(loaded.predict(X_new))
        del loaded
    return hashes


def compare(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> int:
    """Prints what differs; the number of settings that do."""
    differing = 0
    for name in sorted({*before, *after}):
        old, new = before.get(name, {}), after.get(name, {})
        what = [each for each in {**old, **new} if old.get(each) != new.get(each)]
        differing += bool(what)
        if what:
            print(f"{name}: {', '.join(what)}")
    n_hashes = sum(map(len, after.values()))
    print(f"{len(after)} settings, {n_hashes} hashes, {differing} settings differ")
    return differing


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    given = parser.parse_args()
    if given.compare:
        sys.exit(compare(*(json.loads(path.read_text()) for path in given.compare)) > 0)
    warnings.simplefilter("ignore")
    found = {name: measured(*setting) for name, *setting in settings()}
    print(json.dumps(found, indent=1))

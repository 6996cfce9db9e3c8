"""The published scores and memory, on the real data sets in SKETCHFOREST_DATA."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn import ensemble

import sketchforest
from sketchforest.datasets import list_datasets, load
from sketchforest.metrics import lrap

SEEDS = (0, 1, 2)


def given_split(name):
    if name not in list_datasets():
        pytest.skip(f"{name}.npz is not here; set SKETCHFOREST_DATA to the folder that holds it.")
    data = load(name)
    train, test = data.splits["train"], data.splits["test"]
    return data.X[train], data.Y[train], data.X[test], data.Y[test]


def fitted_and_score(kind, split, **params):
    X, Y, X_test, Y_test = split
    forest = kind(n_jobs=2, **params).fit(X, Y)
    return forest, lrap(Y_test, forest.predict_proba(X_test))


@pytest.fixture(scope="module")
def delicious():
    return given_split("delicious")


@pytest.mark.parametrize(
    ("params", "expected", "tolerance"),
    [
        # scikit-learn's forest reaches 0.3787 on the original outputs.
        pytest.param({"projection": None}, 0.3787, 0.003, marks=pytest.mark.slow),
        ({"n_components": 25}, 0.378, 0.004),
        pytest.param({"n_components": 1}, 0.3745, 0.005, marks=pytest.mark.slow),
    ],
)
def test_delicious_ranks_as_well_as_the_exact_forest(delicious, params, expected, tolerance):
    scores = [
        fitted_and_score(
            sketchforest.RandomForestClassifier, delicious, random_state=seed, **params
        )[1]
        for seed in SEEDS
    ]
    assert np.mean(scores) == pytest.approx(expected, abs=tolerance)


def test_delicious_trees_are_as_large_as_scikit_learns(delicious):
    X, Y, _, _ = delicious
    forest = sketchforest.RandomForestClassifier(
        n_estimators=20, projection=None, random_state=0, n_jobs=2
    ).fit(X, Y)
    n_nodes = [2 * tree.get_n_leaves() - 1 for tree in forest.estimators_]
    assert np.mean(n_nodes) == pytest.approx(13_220, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_bibtex_original_outputs_rank_as_well_as_scikit_learn(kind):
    split = given_split("bibtex")
    X, Y, X_test, Y_test = split
    ours = [
        fitted_and_score(
            getattr(sketchforest, f"{kind}Classifier"), split, projection=None, random_state=seed
        )[1]
        for seed in SEEDS
    ]
    theirs = getattr(ensemble, f"{kind}Regressor")(
        max_features="sqrt", n_jobs=2, random_state=0
    ).fit(X.astype(np.float32).toarray(), Y.toarray())
    theirs_score = lrap(Y_test, theirs.predict(X_test.astype(np.float32).toarray()))
    assert np.mean(ours) == pytest.approx(theirs_score, abs=0.006)


MEMORY_SCRIPT = """
from pathlib import Path
from sketchforest import RandomForestClassifier
from sketchforest.datasets import load

def peak():
    # Not ru_maxrss, which includes the peak of the parent process.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024

data = load("delicious")
train, test = data.splits["train"], data.splits["test"]
forest = RandomForestClassifier(n_components=25, n_jobs=2, random_state=0)
forest.fit(data.X[train], data.Y[train])
fitted = peak()
forest.predict_sparse(data.X[test])
print(fitted, peak() - fitted)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_delicious_fits_in_a_gigabyte_and_predicts_in_300_megabytes_more(delicious):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY_SCRIPT],
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    fit_megabytes, predict_megabytes = map(float, done.stdout.split())
    assert fit_megabytes < 1000
    assert predict_megabytes < 300

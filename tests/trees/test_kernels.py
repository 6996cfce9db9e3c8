"""The kernels of all instruction sets: the same bits, and no code where it cannot be executed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sketchforest import _core

ROOT = Path(__file__).parents[2]
VARIABLE = "SKETCHFOREST_KERNELS"

# Every kernel: outputs in rows of 1, 4, 8 and many vectors, floats and doubles, dense and sparse;
# best and random cuts; small nodes and large ones; codes by rank and by value; missing values.
SCRIPT = '''
import hashlib
import numpy as np
from scipy import sparse
import sketchforest as sf
from sketchforest import _core

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 24)).astype(np.float32)
X[:, ::3] = rng.integers(0, 5, (300, 8))
Y = (X @ rng.normal(size=(24, 90)) + 2 * rng.normal(size=(300, 90)) > 5).astype(np.uint8)
gaps = np.where(rng.random(X.shape) < 0.1, np.float32(np.nan), X)
few = sparse.csr_matrix(np.where(np.abs(X) < 1, 0, X))
binary = sparse.csr_matrix((rng.random((300, 60)) < 0.1).astype(np.float32))
digest = hashlib.sha256()


def recorded(grow):
    """All that is grown: the gains are doubles here, and differ where one sum does."""

    def record(*arguments):
        grown = grow(*arguments)
        *tree, directions = grown
        for array in (*tree, *directions):
            digest.update(np.asarray(array).tobytes())
        return grown

    return record


_core.grow, _core.grow_oblique = recorded(_core.grow), recorded(_core.grow_oblique)
for data in (X, X.astype(np.float64), gaps, few, binary):
    for n_components in (None, 1, 3, 7, 16, 25, 33, 70):
        for kind in (sf.RandomForestClassifier, sf.ExtraTreesClassifier):
            projection = None if n_components is None else "gaussian"
            forest = kind(1, projection=projection, n_components=n_components, random_state=1)
            forest.fit(data, sparse.csr_matrix(Y))
            digest.update(forest.predict_proba(data).tobytes())
            digest.update(forest.feature_importances_.tobytes())
    for n_components in (3, 16, 70):
        forest = sf.SketchForestClassifier(2, n_components=n_components, random_state=1)
        digest.update(forest.fit(data, Y).predict_proba(data).tobytes())
    for kind in (sf.RandomForestRegressor, sf.ExtraTreesRegressor, sf.SketchForestRegressor):
        forest = kind(2, projection=None, random_state=1)
        weights = rng.random(300)
        forest.fit(data, Y[:, :9] * weights[:, None], weights)
        digest.update(forest.predict(data).tobytes())
print(_core.kernels_in_use(), digest.hexdigest())
'''


def run(script, kernels):
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, VARIABLE: kernels},
        capture_output=True,
        text=True,
    )


NONE, *OTHERS = _core.available_kernels()


@pytest.mark.parametrize(
    "others",
    [OTHERS[-1:], pytest.param(OTHERS[:-1], marks=pytest.mark.slow)],
    ids=["best", "others"],
)
def test_every_instruction_set_of_the_machine_grows_and_predicts_the_same_bits(others):
    results = {}
    for kernels in (NONE, *others):
        done = run(SCRIPT, kernels)
        assert done.returncode == 0, done.stderr
        used, results[kernels] = done.stdout.split()
        assert used == kernels
    assert len(set(results.values())) == 1, results


def test_the_fastest_kernels_are_used_where_the_environment_names_none():
    done = run("from sketchforest import _core; print(_core.kernels_in_use())", "")
    assert done.stdout.strip() == _core.available_kernels()[-1]


@pytest.mark.parametrize(
    "kernels", ["v5", *(pytest.param(name, marks=pytest.mark.slow) for name in ("V3", "baseline "))]
)
def test_kernels_that_the_machine_does_not_have_are_refused_in_one_sentence(kernels):
    done = run("from sketchforest import RandomForestClassifier", kernels)
    assert done.returncode != 0
    available = ", ".join(_core.available_kernels())
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {VARIABLE} must name kernels that this machine can execute ({available}); "
        f"got '{kernels}'. Unset it for the fastest of them."
    )


def kernel_objects(level):
    """Compiled kernels in the build folder, without those of sources that are gone."""
    for folder in ROOT.glob(f"build/*/CMakeFiles/kernels_{level}.dir"):
        for object_file in folder.rglob("*.o"):
            if (ROOT / object_file.relative_to(folder).with_suffix("")).exists():
                yield object_file


@pytest.mark.parametrize("level", ["v3", "v4"])
def test_no_kernel_object_defines_a_symbol_that_the_linker_may_use_for_others(level):
    """Of an inline function that several objects define, the linker keeps any one. If it kept that
    of a kernel, a machine without its instructions would fail in code that is not a kernel."""
    objects = list(kernel_objects(level))
    if not shutil.which("nm") or not objects:
        pytest.skip("needs nm and the build folder of an editable install")
    listing = subprocess.run(
        ["nm", "--print-file-name", "--defined-only", "--demangle", *objects],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    symbols = [line.split(":", 1)[1].split(maxsplit=2) for line in listing]
    assert any(name.endswith(f"{level}::table") for _, _, name in symbols)
    assert [name for _, kind, name in symbols if kind in "WVu"] == []

"""Sparse matrices whose indices point outside of them are refused: they used to corrupt memory."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
)

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
    elif how == "past the end":
        matrix.indices[3] = 10**6
    elif how == "negative":
        matrix.indices[3] = -5
    elif how == "pointer falls":
        matrix.indptr[2] = matrix.indptr[1] - 1
    elif how == "pointer too far":
        matrix.indptr[-1] += 1000
    return matrix


CASES = [
    *((layout, how) for layout in ("csr", "csc") for how in ("past the end", "negative")),
    *((layout, how) for layout in ("csr", "csc") for how in ("pointer falls", "pointer too far")),
    ("coo", "past the end"),
    ("coo", "negative"),
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
    with pytest.raises(ValueError, match=f"^X {REFUSED}"):
        fitted.predict(broken(X, layout, how))
    with pytest.raises(ValueError, match=f"^X {REFUSED}"):
        fitted.apply(broken(X, layout, how))
    assert abs(fitted.predict(X) - expected).sum() == 0

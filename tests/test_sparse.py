"""Sparse matrices of every format become CSR with index arrays of our own, or are refused."""

import re

import numpy as np
import pytest
from scipy import sparse

from sketchforest._utils.sparse import checked_csr

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
DENSE = np.array([[0, 2, 0, 0], [0, 0, 0, 0], [3, 0, 0, 4]], np.float32)
REFUSED = r"^X must be a sparse matrix whose indices lie within its shape \(3, 4\); got one where "


def in_format(layout, kind):
    return getattr(sparse, f"{layout}_{kind}")(DENSE)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", FORMATS)
def test_every_format_becomes_canonical_csr(layout, kind):
    given = in_format(layout, kind)
    found = checked_csr("X", given)
    assert isinstance(found, sparse.csr_array)
    assert found.has_canonical_format
    assert found.dtype == DENSE.dtype
    assert found.indices.dtype == found.indptr.dtype == np.int32
    np.testing.assert_array_equal(found.toarray(), DENSE)
    np.testing.assert_array_equal(given.toarray(), DENSE)


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
def test_index_arrays_are_copies(layout):
    given = in_format(layout, "array")
    found = checked_csr("X", given)
    given.indices[:] = 10**6
    given.indptr[:] = 10**6
    np.testing.assert_array_equal(found.toarray(), DENSE)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("index", [np.int64, np.uint32, np.int8])
def test_duplicates_in_any_order_and_type_of_index_add_up_and_the_matrix_stays(layout, index):
    arrays = {
        "csr": ([1.0, 2.0, 4.0, 3.0], [3, 1, 1, 0], [0, 3, 3, 4]),
        "csc": ([3.0, 2.0, 4.0, 1.0], [2, 0, 0, 0], [0, 1, 3, 3, 4]),
    }
    if layout == "coo":
        places = [0, 0, 2, 0], [3, 1, 0, 1]
        given = sparse.coo_array(([1.0, 2.0, 3.0, 4.0], places), shape=(3, 4))
        given.coords = tuple(np.array(axis, index) for axis in given.coords)
    else:
        given = getattr(sparse, f"{layout}_array")(arrays[layout], shape=(3, 4))
        given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    before = given.data.copy()
    found = checked_csr("X", given)
    np.testing.assert_array_equal(found.toarray(), [[0, 6, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0]])
    assert found.nnz == 3
    np.testing.assert_array_equal(given.data, before)
    assert checked_csr("X", given, merge=False).nnz == 4


def test_more_columns_than_32_bits_count_keep_wide_indices():
    wide = sparse.coo_array(([1.0], ([0], [2**40])), shape=(2, 2**41))
    for layout in ("coo", "csr"):
        found = checked_csr("X", wide.asformat(layout))
        assert found.indices.tolist() == [2**40]


def test_halves_and_numbers_of_other_machines_are_read():
    for dtype in (np.float16, ">f8", ">i4", bool):
        arrays = np.array([1, 1, 1], dtype), np.array([1, 1, 0], ">i4"), np.array([0, 2, 2, 3])
        given = sparse.csr_array(arrays, shape=(3, 4))
        found = checked_csr("X", given)
        once = 1 if dtype is bool else 2
        np.testing.assert_array_equal(found.toarray(), [[0, once, 0, 0], [0] * 4, [1, 0, 0, 0]])


def test_entries_behind_the_last_row_are_left_out():
    given = in_format("csr", "array")
    given.data, given.indices = np.append(given.data, 7), np.append(given.indices, 10**6)
    assert checked_csr("X", given).nnz == 3


def broken(layout, how):
    matrix = in_format(layout, "array")
    if layout == "bsr":
        matrix = sparse.bsr_array(DENSE, blocksize=(1, 2))
    if layout in ("csr", "csc", "bsr"):
        matrix.indices, matrix.indptr = matrix.indices.copy(), matrix.indptr.copy()
    match how:
        case "index past the end":
            matrix.indices[1] = 10**6
        case "negative index":
            matrix.indices[1] = -5
        case "indptr falls":
            matrix.indptr[1] = 3
            matrix.indptr[2] = 1
        case "indptr past the end":
            matrix.indptr[-1] += 1000
        case "indptr begins late":
            matrix.indptr[0] = -1
        case "short indptr":
            matrix.indptr = matrix.indptr[:-1]
        case "no indptr":
            matrix.indptr = matrix.indptr[:0]
        case "few data":
            matrix.data = matrix.data[:1]
        case "fractions":
            matrix.indices = matrix.indices + 0.5
        case "blocks of nothing":
            matrix.data = matrix.data[:, :0]
        case "row past the end":
            matrix.coords[0][1] = 10**6
        case "few rows":
            matrix.coords = (matrix.coords[0][:1], matrix.coords[1])
        case "column past the end":
            if layout == "coo":
                matrix.coords[1][1] = 10**6
            elif layout == "lil":
                matrix.rows[0] = [10**6]
            else:
                dict.__setitem__(matrix._dict, (0, 10**6), 1.0)
        case "negative column":
            if layout == "coo":
                matrix.coords[1][1] = -1
            elif layout == "lil":
                matrix.rows[0] = [-7]
            else:
                dict.__setitem__(matrix._dict, (0, -7), 1.0)
        case "more columns than values":
            matrix.rows[0] = [0, 1, 2]
        case "lists that are none":
            matrix.rows[0] = None
        case "few lists":
            matrix.rows, matrix.data = matrix.rows[:2], matrix.data[:2]
        case "few offsets":
            matrix.offsets = matrix.offsets[:1]
        case "flat diagonals":
            matrix.data = matrix.data.ravel()
    return matrix


COMPRESSED = (
    "index past the end",
    "negative index",
    "indptr falls",
    "indptr past the end",
    "indptr begins late",
    "short indptr",
    "no indptr",
    "few data",
    "fractions",
)
BROKEN = [
    *((layout, how) for layout in ("csr", "csc", "bsr") for how in COMPRESSED),
    ("bsr", "blocks of nothing"),
    *(("coo", how) for how in ("row past the end", "few rows")),
    *((layout, "column past the end") for layout in ("coo", "lil", "dok")),
    *((layout, "negative column") for layout in ("coo", "lil", "dok")),
    *(("lil", how) for how in ("more columns than values", "lists that are none", "few lists")),
    *(("dia", how) for how in ("few offsets", "flat diagonals")),
]


@pytest.mark.parametrize(("layout", "how"), BROKEN)
def test_what_points_outside_is_refused_in_one_sentence(layout, how):
    with pytest.raises(ValueError, match=REFUSED) as caught:
        checked_csr("X", broken(layout, how))
    assert "\n" not in str(caught.value)
    assert re.search(r"Rebuild it from its entries: scipy\.sparse\.csr_array", str(caught.value))


@pytest.mark.parametrize("shape", [(4,), (2, 2, 2)])
def test_other_than_two_dimensions_are_refused(shape):
    with pytest.raises(ValueError, match=r"^X must be 2-d if it is sparse; got"):
        checked_csr("X", sparse.coo_array(np.ones(shape)))


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (3, 4)])
def test_an_empty_matrix_is_one(layout, shape):
    given = sparse.coo_array(shape).asformat(layout)
    assert checked_csr("X", given).shape == shape

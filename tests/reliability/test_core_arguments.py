"""What fuzz_core.py has found: each argument is refused, by its name where it has one, or right."""

import functools
import re

import numpy as np
import pytest
from core_calls import Made, recorded_calls
from hostile_values import misaligned

from sketchforest import RandomForestClassifier, _core

calls = functools.cache(recorded_calls)


def of(name, holds=lambda *args: True):
    """Arguments of a call that is right, of those for which it holds."""
    return next(list(args) for args in calls()[name] if holds(*args))


def with_fields(made, **fields):
    return Made(made.kind, made.fields | fields)


def result(name, args):
    return getattr(_core, name)(*[a.build() if isinstance(a, Made) else a for a in args])


def is_dense(codes, *_):
    return codes.fields["row_codes"] is not None


def dense_codes():
    return of("Codes", is_dense)[0]


def codes_by_value():
    return of("Codes", lambda codes: codes.fields["values"] is None)[0]


def sparse_codes():
    return of("Codes", lambda codes: codes.fields["row_start"] is not None)[0]


def float_rows(*, is_sparse=False):
    return of("FloatRows", lambda rows: (rows.fields["indptr"] is not None) == is_sparse)[0]


def a_forest():
    return of("Forest")[0]


def changed(array, at, value):
    array = np.array(array)
    array[at] = value
    return array


@pytest.mark.parametrize("number", [-1, 2**64])
def test_numbers_that_are_no_sizes_are_refused_by_name(number):
    with pytest.raises(ValueError, match="n_features must be at least 0"):
        with_fields(a_forest(), n_features=number).build()


def test_names_that_are_no_text_are_refused():
    with pytest.raises(TypeError, match="names must be text"):
        _core.SparseRows(**{"\ud800": 1})


def test_codes_by_row_are_those_by_column():
    swapped = np.array(dense_codes().fields["row_codes"])[::-1].copy()
    with pytest.raises(ValueError, match="codes do not fit"):
        with_fields(dense_codes(), row_codes=swapped).build()


@pytest.mark.parametrize("code", [0, 2**32 - 2])  # of no number
def test_codes_by_value_are_of_numbers(code):
    codes = changed(codes_by_value().fields["codes"], (0, 0), code)
    rows = changed(codes_by_value().fields["row_codes"], (0, 0), code)
    with pytest.raises(ValueError, match="codes do not fit"):
        with_fields(codes_by_value(), codes=codes, row_codes=rows).build()


def test_an_entry_of_sparse_codes_is_no_zero():
    made = of(
        "Codes", lambda c: c.fields["row_start"] is not None and c.fields["codes"] is not None
    )
    fields = made[0].fields
    zero = fields["zero_code"][fields["columns"][0]]
    with pytest.raises(ValueError, match="codes do not fit"):
        with_fields(made[0], codes=changed(fields["codes"], 0, zero)).build()


@pytest.mark.parametrize("made", [dense_codes, sparse_codes])
def test_values_of_a_feature_ascend(made):
    right = made()
    with pytest.raises(ValueError, match="values of a feature must ascend"):
        with_fields(right, values=np.array(right.fields["values"])[::-1].copy()).build()


def test_dense_rows_are_padded_by_less_than_8_features():
    values = np.pad(float_rows().fields["data"], [(0, 0), (0, 8)])
    with pytest.raises(ValueError, match="zeros up to a multiple of 8"):
        with_fields(float_rows(), data=values).build()


def test_columns_below_zero_are_refused_however_many_features_there_are():
    columns = changed(float_rows(is_sparse=True).fields["indices"], 0, -1)
    with pytest.raises(ValueError, match="too many rows or features"):
        with_fields(float_rows(is_sparse=True), indices=columns, n_features=2**40).build()
    with pytest.raises(ValueError, match="members are out of range"):
        with_fields(
            a_forest(), members=changed(a_forest().fields["members"], 0, -1), n_rows=2**40
        ).build()


def test_a_forest_has_at_most_as_many_features_as_nodes_can_name():
    with pytest.raises(ValueError, match="too many features"):
        with_fields(a_forest(), n_features=2**60).build()


def test_max_features_is_at_most_the_number_of_features():
    args = of("grow", is_dense)
    args[4] = with_fields(args[4], max_features=args[0].fields["n_features"] + 1)
    with pytest.raises(ValueError, match="max_features must be"):
        result("grow", args)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("ridge", -1.0), ("ridge", np.nan), ("min_side", -0.1), ("min_side", np.nan)),
        *(("min_side", 1.1), ("weights_per_row", -1.0), ("weights_per_row", np.inf)),
        *(("n_threads", 0), ("n_threads", 4097)),
    ],
)
def test_oblique_params_are_numbers_in_their_range(name, value):
    args = of("grow_oblique")
    args[4] = with_fields(args[4], **{name: value})
    with pytest.raises(ValueError, match=name):
        result("grow_oblique", args)


@pytest.mark.parametrize("name", ["grow", "grow_oblique"])
def test_weights_of_a_bag_have_a_finite_sum(name):
    args = of(name)
    args[3] = np.full(len(args[3]), 1e308)
    with pytest.raises(ValueError, match="must have a finite sum"):
        result(name, args)


@pytest.mark.parametrize("impurity", ["entropy", "label_entropy", "poisson"])
def test_outputs_that_are_counted_are_not_below_zero(impurity):
    args = of("grow", lambda codes, outputs, *_: isinstance(outputs, np.ndarray))
    args[1] = changed(args[1], (0, 0), -1)
    args[4] = with_fields(args[4], impurity=_core.Impurity[impurity])
    with pytest.raises(ValueError, match="at least 0"):
        result("grow", args)


def test_one_row_is_explained_by_a_leaf_of_each_tree():
    args = of("contributions")
    for found in (np.repeat(args[1], 2, axis=0), args[1][:, :-1].copy(), changed(args[1], 0, -1)):
        with pytest.raises(ValueError, match="one row must have a leaf in each tree"):
            result("contributions", [args[0], found, *args[2:]])
    with pytest.raises(ValueError, match="a row for each training row"):
        result("contributions", [*args[:2], args[2][:-1], *args[3:]])
    with pytest.raises(ValueError, match="missing or infinite"):
        result("contributions", [*args[:2], changed(args[2], (0, 0), np.inf), *args[3:]])
    args = of("contributions", lambda *args: args[4] is not None)
    with pytest.raises(ValueError, match="as oblique trees see them"):
        result("contributions", [*args[:4], None])


def test_directions_belong_to_trees_that_are_oblique():
    forest = of("contributions", lambda *args: args[4] is not None)[0]
    with pytest.raises(ValueError, match="directions do not fit the trees"):
        with_fields(forest, is_oblique=None).build()


@pytest.mark.parametrize(
    ("places", "refusal"),
    [
        ([[0, 0]], "each tree but the first"),
        ([[0, 0], [0, 0]], "one part alone"),
        ([[0, 0], [2, 0]], "a leaf of a tree before it"),
        ([[-1, 0], [0, 1]], "a leaf of a tree before it"),
        ([[0, -1], [0, 1]], "a leaf of a tree before it"),
        ([[0, 0], [0, 2**31]], "a leaf of a tree before it"),
        ([[0], [1]], "a tree and a leaf"),
    ],
)
def test_parts_stand_for_leaves_of_their_own_in_trees_before_them(places, refusal):
    rng = np.random.default_rng(0)
    forest = RandomForestClassifier(3, random_state=0).fit(rng.random((50, 4)), np.arange(50) % 3)
    with pytest.raises(ValueError, match=refusal):
        _core.join_parts(forest.fitted_.forest, np.array(places))


@pytest.mark.parametrize("end", [1, 257, -(2**63)])
def test_a_feature_has_at_most_255_bins_and_one_of_missing_values(end):
    for (bins,) in calls()["BinnedX"]:
        with pytest.raises(ValueError, match="1 to 255 bins"):
            with_fields(bins, bin_start=changed(bins.fields["bin_start"], 1, end)).build()


def test_zeros_of_sparse_x_have_a_bin():
    bins = of("BinnedX", lambda bins: bins.fields["zero_place"] is not None)[0]
    for place in (bins.fields["bin_start"][1], 2**32 - 1):
        with pytest.raises(ValueError, match="a zero lies in no bin"):
            with_fields(bins, zero_place=changed(bins.fields["zero_place"], 0, place)).build()


def test_medians_are_of_numbers():
    args = of("weighted_medians")
    args[0] = changed(args[0], (0, 0), np.nan)
    with pytest.raises(ValueError, match="missing or infinite"):
        result("weighted_medians", args)


@pytest.mark.parametrize("name", ["average_csr", "average_best"])
def test_averages_that_are_no_numbers_are_refused(name):
    starts, members = np.array([0, 2]), np.array([0, 1], np.int32)
    leaves = {"leaf_start": np.array([0, 2]), "member_start": np.array([0, 2], np.uint32)}
    weights = np.array([1e307, 1e307])
    made = _core.Leaves(tree_members=starts, members=members, weights=weights, n_rows=2, **leaves)
    rows = _core.SparseRows(
        indptr=np.array([0, 1, 2]),
        indices=np.zeros(2, np.int32),
        data=np.array([3e38, -3e38], np.float32),
        n_columns=1,
    )
    with pytest.raises(ValueError, match="finite sum"):
        getattr(_core, name)(made, rows, np.zeros((1, 1), np.int32), 1)


@pytest.mark.parametrize(("n_rows", "n_draws"), [(2**31, 1), (2**32 - 1, 1), (3, 2**32)])
def test_draws_are_of_rows_that_can_be_numbered(n_rows, n_draws):
    with pytest.raises(ValueError, match="at most"):
        _core.draw_rows(1, n_rows, n_draws)


def test_arrays_that_are_not_aligned_are_copied_or_refused():
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 4)), rng.integers(0, 3, 50)
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    odd = misaligned(X)
    assert not odd.flags.aligned
    np.testing.assert_array_equal(forest.predict_proba(odd), forest.predict_proba(X))
    again = RandomForestClassifier(3, random_state=0).fit(odd, y)
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
    with pytest.raises(TypeError, match=re.escape("must be a contiguous, aligned array")):
        with_fields(a_forest(), nodes=misaligned(np.array(a_forest().fields["nodes"]))).build()


def test_directions_of_trees_that_are_not_oblique_are_not_read():
    none_there = with_fields(a_forest(), direction_start=np.zeros(0, np.int64)).build()
    gains = np.ones(len(a_forest().fields["nodes"]), np.float32)
    expected = _core.importances(a_forest().build(), gains)
    np.testing.assert_array_equal(_core.importances(none_there, gains), expected)


@pytest.mark.parametrize("scalar", [np.datetime64(0, "s"), np.float64(1), memoryview(b"12345678")])
def test_what_is_no_array_is_refused(scalar):
    args = of("average", lambda leaves, outputs, *_: True)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        result("average", [*args[:2], scalar, args[3]])


def test_any_byte_of_a_boolean_array_but_zero_is_true():
    args = of("rank_columns", lambda x, *_: x.shape[1] > 1)
    X = np.array([[0, 1, 2, 255]], np.uint8).view(bool).T
    codes = np.zeros((1, 4), args[1].dtype)
    _core.rank_columns(X, codes, 0, 1)
    assert codes.tolist() == [[0, 1, 1, 1]]

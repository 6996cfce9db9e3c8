// What the core reads again and again, as objects of Python: each holds its arrays for as long as
// it lives, was checked when it was made, and never changes. So a call may use it from any thread.
#pragma once

#include <mutex>

#include "arrays.hpp"
#include "check.hpp"

namespace sketchforest {

struct HeldSparseRows {
    HeldSparseRows(Vector<std::int64_t> row_start, Vector<std::int32_t> columns,
                   Maybe<Vector<float>> values, std::size_t n_columns);

    Vector<std::int64_t> row_start;
    Vector<std::int32_t> columns;
    Maybe<Vector<float>> values;
    SparseRows rows;

    std::size_t n_rows() const { return row_start.size() - 1; }
};

// X, coded.
class HeldCodes {
  public:
    using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
    struct Given {
        std::size_t n_rows, n_features;
        Maybe<Array> codes, row_codes;
        Array values;
        Vector<std::int64_t> value_start;
        Maybe<Vector<std::int64_t>> row_start;  // of sparse X
        Maybe<Vector<std::int32_t>> columns, column_size;
        Maybe<Vector<std::uint32_t>> zero_code;
        bool by_value;
    };
    explicit HeldCodes(Given given);

    Given given;
    Codes codes;

  private:
    void require_shapes() const;
};

// X as oblique trees see it.
struct HeldFloatRows {
    HeldFloatRows(Matrix<float> values, std::size_t n_features);
    HeldFloatRows(Vector<float> values, Vector<std::int64_t> row_start,
                  Vector<std::int32_t> columns, std::size_t n_features);

    nb::ndarray<const float, nb::c_contig, nb::device::cpu> values;
    Maybe<Vector<std::int64_t>> row_start;
    Maybe<Vector<std::int32_t>> columns;
    FloatRows rows;
};

// The training rows in the leaves of trees.
class HeldLeaves {
  public:
    using Weights = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    struct Given {
        Vector<std::int64_t> leaf_start, tree_members;
        Vector<std::uint32_t> member_start;
        Vector<std::int32_t> members;
        Maybe<Weights> weights;  // counts in bytes, or doubles
        std::size_t n_rows;

        LeafArrays arrays() const;
    };

    explicit HeldLeaves(Given given) : HeldLeaves(std::move(given), true) {}

    Given given;
    Leaves leaves;

  protected:
    HeldLeaves(Given given, bool is_all);  // else more is checked with it
};

class HeldForest : public HeldLeaves {
  public:
    struct GivenTrees {
        Matrix<std::int32_t> nodes;
        Maybe<Vector<double>> thresholds;
        Maybe<Vector<float>> gains;
        Vector<std::int32_t> depths;
        Vector<std::int64_t> node_start;
        std::size_t n_features;
        // Of oblique trees.
        Maybe<Vector<std::int64_t>> direction_start;
        Maybe<Vector<std::int32_t>> direction_columns;
        Maybe<Vector<std::uint16_t>> direction_weights;
        Maybe<Vector<std::uint8_t>> is_oblique;
    };
    HeldForest(Given given, GivenTrees trees);

    GivenTrees given_trees;
    Trees trees;
    ObliqueTrees oblique;

    // The same trees with what sparse rows pass over, found by the first thread that asks.
    Trees trees_with_zero_chains() const;

  private:
    mutable std::once_flag zero_chains_found_;
    mutable std::vector<std::uint32_t> zero_chains_;
};

}  // namespace sketchforest

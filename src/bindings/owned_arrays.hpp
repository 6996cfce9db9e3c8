// Python objects that own the arrays the core reads. Each is validated when it is created and never
// changes, so any thread may use it.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "arrays.hpp"
#include "check.hpp"
#include "hierarchy.hpp"

namespace sketchforest {

// Arrays and numbers by their names.
class OwnedArrays {
  public:
    explicit OwnedArrays(const nb::kwargs& given);

    // An attribute. Arrays are read-only and keep this object alive.
    nb::object shown(const std::string& name) const;
    std::size_t number(const std::string& name) const;
    bool gives_number(const std::string& name) const;

  protected:
    using Array = Aligned<nb::ro, nb::c_contig, nb::device::cpu>;
    using Shape = std::initializer_list<std::size_t>;
    static constexpr std::size_t any = ~std::size_t{0};

    const Array* find(const std::string& name) const;  // null: None, or not given
    // Null if there is none; a TypeError or ValueError if it has another type or shape.
    template <class T>
    const T* pointer(const std::string& name, Shape shape = {any}) const {
        const Array* array = find(name);
        if (array) require_array(name, *array, array->dtype() == nb::dtype<T>(), shape);
        return array ? static_cast<const T*>(array->data()) : nullptr;
    }
    template <class T>
    std::span<const T> span(const std::string& name, Shape shape = {any}) const {
        const T* data = pointer<T>(name, shape);
        return data ? std::span(data, find(name)->size()) : std::span<const T>();
    }
    // The same, but a TypeError if there is none.
    template <class T>
    std::span<const T> required(const std::string& name, Shape shape = {any}) const {
        if (!find(name)) throw nb::type_error((name + " must be given").c_str());
        return span<T>(name, shape);
    }
    bool is_given(const std::string& name) const { return find(name) || numbers_.contains(name); }

  private:
    static void require_array(const std::string& name, const Array& array, bool has_type,
                              Shape shape);

    std::map<std::string, Array> arrays_;
    std::map<std::string, std::size_t> numbers_;
    std::set<std::string> nones_;
};

struct OwnedSparseRows : OwnedArrays {
    explicit OwnedSparseRows(const nb::kwargs& given);
    SparseRows rows;
    std::size_t n_rows;
};

// Encoded X.
struct OwnedCodes : OwnedArrays {
    explicit OwnedCodes(const nb::kwargs& given);
    Codes codes;
};

// X for oblique trees.
struct OwnedFloatRows : OwnedArrays {
    explicit OwnedFloatRows(const nb::kwargs& given);
    FloatRows rows;
};

// The training rows in the leaves of trees.
struct OwnedLeaves : OwnedArrays {
    explicit OwnedLeaves(const nb::kwargs& given) : OwnedLeaves(given, true) {}
    Leaves leaves;
    std::size_t n_rows;

  protected:
    OwnedLeaves(const nb::kwargs& given, bool is_all);  // else more is checked with it
    LeafArrays arrays() const;
};

class OwnedForest : public OwnedLeaves {
  public:
    explicit OwnedForest(const nb::kwargs& given);
    Trees trees;
    ObliqueTrees oblique;
    std::size_t n_features;

    // The same trees with what sparse rows pass over, found by the first thread that asks.
    Trees trees_with_zero_chains() const;
    // Found by the first thread that asks, too.
    const Hierarchy& hierarchy() const;

  private:
    mutable std::once_flag hierarchy_found_;
    mutable std::optional<Hierarchy> hierarchy_;
    mutable std::once_flag zero_chains_found_;
    mutable std::vector<std::uint32_t> zero_chains_;
};

}  // namespace sketchforest

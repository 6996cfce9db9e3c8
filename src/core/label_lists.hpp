// Sparse outputs of the rows of one subset: the labels of each row, side by side.
#pragma once

#include <algorithm>

#include "data.hpp"

namespace sketchforest {

struct LabelLists {
    std::vector<std::uint64_t> start{0};
    std::vector<std::uint32_t> n_labels;
    std::vector<std::int32_t> labels;  // padded
    std::vector<float> values;         // empty where every value is 1

    void clear() {
        start.assign(1, 0);
        n_labels.clear();
        labels.clear();
        values.clear();
    }

    // Lists are padded with a label that no row has, to a multiple of `padding`, so that several
    // labels can be read at a time: how many there are is hard to predict.
    void append(const std::int32_t* from, const float* from_values, std::int64_t begin,
                std::int64_t end, std::size_t padding, std::size_t no_label) {
        labels.insert(labels.end(), from + begin, from + end);
        n_labels.push_back(static_cast<std::uint32_t>(end - begin));
        labels.resize((labels.size() + padding - 1) / padding * padding,
                      static_cast<std::int32_t>(no_label));
        if (from_values) values.insert(values.end(), from_values + begin, from_values + end);
        start.push_back(labels.size());
    }

    bool are_equal(std::uint32_t a, std::uint32_t b) const {
        const auto same = [&](const auto& array) {
            return std::equal(array.begin() + start[a], array.begin() + start[a + 1],
                              array.begin() + start[b], array.begin() + start[b + 1]);
        };
        return same(labels) && (values.empty() || same(values));
    }
};

}  // namespace sketchforest

#include "held.hpp"
#include "levels.hpp"
#include "native_work.hpp"
#include "stop.hpp"

namespace sketchforest {
namespace {

// None where `stop` was set before the tree was finished.
nb::object grow_tree(const HeldFloatRows& x, Matrix<float> z, Vector<std::int32_t> rows,
                     Vector<double> weights, const ObliqueParams& params, const StopFlag& flag) {
    require(z.shape(0) == rows.size() && z.shape(1) > 0 && z.shape(1) % 8 == 0,
            "outputs have another shape");
    const Bag bag{to_span(rows), to_span(weights)};
    check(params);
    PythonStop stop(flag);
    ObliqueTree grown;
    {
        const NativeWork work;
        check(bag, x.rows.n_rows);
        check_finite({z.data(), z.size()});
        grown = grow_oblique(x.rows, z.data(), z.shape(1), bag, params, stop);
    }
    if (stop.signalled()) throw nb::python_error();
    if (grown.tree.leaf_start.empty()) return nb::none();
    Directions& directions = grown.directions;
    return nb::make_tuple(to_tuple(grown.tree),
                          to_arrays(directions.start, directions.columns, directions.weights));
}

nb::tuple learn(const HeldCodes& codes, std::size_t most) {
    require(!codes.codes.sparse && !codes.codes.by_value, "levels are learnt from dense ranks");
    LearntLevels learnt;
    {
        const NativeWork work;
        learnt = learn_levels(codes.codes, most);
    }
    return to_arrays(learnt.level_start, learnt.bounds, learnt.levels);
}

template <class T>
void levels(Aligned<const T, nb::ndim<2>, nb::device::cpu> x, Vector<std::int64_t> level_start,
            Vector<double> bounds, Vector<float> levels, OutMatrix<float> out) {
    require(level_start.size() == x.shape(1) + 1 && bounds.size() == levels.size() &&
                out.shape(0) == x.shape(0) && out.shape(1) >= x.shape(1),
            "levels have another shape");
    const NativeWork work;
    check_starts(to_span(level_start), levels.size(), "levels do not add up");
    find_levels<T>({x.shape(1), level_start.data(), bounds.data(), levels.data()}, x.data(),
                   x.stride(0), x.stride(1), x.shape(0), out.data(), out.shape(1));
}

}  // namespace

void bind_oblique(nb::module_& m) {
    nb::class_<ObliqueParams, TreeLimits>(m, "ObliqueParams")
        .def(nb::init<>())
        .def_rw("ridge", &ObliqueParams::ridge)
        .def_rw("n_steps", &ObliqueParams::n_steps)
        .def_rw("n_power_steps", &ObliqueParams::n_power_steps)
        .def_rw("n_refinements", &ObliqueParams::n_refinements)
        .def_rw("min_side", &ObliqueParams::min_side)
        .def_rw("weights_per_row", &ObliqueParams::weights_per_row);
    m.def("grow_oblique", &grow_tree, "x"_a, "z"_a, "rows"_a, "weights"_a, "params"_a, "stop"_a);
    m.def("learn_levels", &learn, "codes"_a, "most"_a);
    const auto find_levels = [&](auto function) {
        m.def("find_levels", function, "x"_a, "level_start"_a, "bounds"_a, "levels"_a,
              "out"_a.noconvert());
    };
    find_levels(&levels<float>);
    find_levels(&levels<double>);
}

}  // namespace sketchforest

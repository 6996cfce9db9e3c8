// Translates between numpy arrays and the core, and releases the GIL; decides nothing.
#include "arrays.hpp"
#include "instruction_sets.hpp"

namespace sketchforest {
namespace {

nb::list available_kernels() {
    nb::list names;
    for (const InstructionSet& set : available_sets()) names.append(set.name);
    return names;
}

void bind_kernels(nb::module_& m) {
    set_in_use();  // a wrong name in the environment is told at import
    m.def("available_kernels", &available_kernels);
    m.def("kernels_in_use", [] { return set_in_use().name; });
}

}  // namespace
}  // namespace sketchforest

NB_MODULE(_core, m) {
    sketchforest::bind_kernels(m);
    sketchforest::bind_encoding(m);
    sketchforest::bind_growing(m);
    sketchforest::bind_oblique(m);
    sketchforest::bind_predicting(m);
    sketchforest::bind_ranking(m);
}

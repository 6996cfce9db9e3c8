// Translates between numpy arrays and the core, and releases the GIL; decides nothing.
#include <new>
#include <stdexcept>

#include "arrays.hpp"
#include "instruction_sets.hpp"
#include "native_work.hpp"

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

void bind_arrays() {
    numpy_array = nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
}

// Where there is no memory, or where what is asked for is more than any machine has.
void bind_errors() {
    nb::register_exception_translator([](const std::exception_ptr& error, void*) {
        constexpr const char* sentence =
            "There is not enough memory for this. Use fewer rows at a time, fewer trees, or fewer "
            "threads (n_jobs).";
        try {
            std::rethrow_exception(error);
        } catch (const std::bad_alloc&) {
            PyErr_SetString(PyExc_MemoryError, sentence);
        } catch (const std::length_error&) {
            PyErr_SetString(PyExc_MemoryError, sentence);
        }
    });
}

// The first exception of a thread takes memory that the system cannot do without: where there is
// none, it ends the process. So there is one while there is memory.
void prepare_thread() {
    try {
        throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
    }
}

// What must be done when the process ends, or is doubled.
void bind_process(nb::module_& m) {
    nb::set_leak_warnings(false);  // threads that rest hold objects to the end
    m.def("is_closing", &NativeWork::closing);
    m.def("prepare_thread", &prepare_thread);
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&NativeWork::close));
    const nb::object os = nb::module_::import_("os");
    if (nb::hasattr(os, "register_at_fork"))
        os.attr("register_at_fork")(nb::arg("after_in_child") =
                                        nb::cpp_function(&NativeWork::forget_others));
}

}  // namespace
}  // namespace sketchforest

NB_MODULE(_core, m) {
    sketchforest::bind_arrays();
    sketchforest::bind_process(m);
    sketchforest::bind_errors();
    sketchforest::bind_kernels(m);
    sketchforest::bind_encoding(m);
    sketchforest::bind_growing(m);
    sketchforest::bind_hierarchy(m);
    sketchforest::bind_held(m);
    sketchforest::bind_boosting(m);
    sketchforest::bind_predicting(m);
    sketchforest::bind_ranking(m);
}

// Vectors aligned to cache lines.
#pragma once

#include <new>
#include <vector>

namespace sketchforest {

template <class T>
struct Aligned {
    using value_type = T;
    Aligned() = default;
    template <class U>
    Aligned(const Aligned<U>&) {}
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T* at, std::size_t) { ::operator delete(at, std::align_val_t{64}); }
    bool operator==(const Aligned&) const { return true; }
};
template <class T>
using AlignedVector = std::vector<T, Aligned<T>>;

}  // namespace sketchforest

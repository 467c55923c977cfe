#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace phy::detail {

/// Allocates at multiples of a cache line.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};

    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new(count * sizeof(T), alignment));
    }
    void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, alignment); }

    friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

/// For arrays that kernels load and store by vectors: one of 64 bytes is then in one cache line, where
/// std::vector has it in two.
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace phy::detail

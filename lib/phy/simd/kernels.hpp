#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "phy/core/backend.hpp"
#include "phy/core/error.hpp"
#include "phy/simd/targets.hpp"

/// Choice of a room's kernels: a struct of function pointers, which a kernels-inl.h file fills for scalar and
/// for each instruction set (simd/for_each_target.inc).
namespace phy::detail {

template <class Kernels>
using KernelsByTarget = std::array<const Kernels*, instruction_sets.size()>;

/// The kernels of a backend. Throws BackendError if it does not run on this machine or needs device memory.
template <class Kernels>
const Kernels& kernels_of(const Backend& backend, const Kernels& scalar,
                          const KernelsByTarget<Kernels>& by_target) {
    if (backend.kind() == Backend::Kind::scalar) return scalar;
    for (std::size_t i = 0; i < instruction_sets.size(); ++i) {
        const bool is_it =
            backend.kind() == Backend::Kind::cpu && backend.instruction_set() == instruction_sets[i].name;
        if (is_it && by_target[i] != nullptr && instruction_sets[i].supported()) return *by_target[i];
    }
    throw BackendError("backend '" + backend.name() + "' does not run on this machine");
}

}  // namespace phy::detail

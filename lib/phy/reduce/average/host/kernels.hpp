#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "phy/core/backend.hpp"
#include "phy/reduce/average/math/sizes.hpp"
#include "phy/reduce/reduce_operators.hpp"

namespace phy::detail {

/// Matrix times means, which lie in panels.
template <class T>
struct Multiplication {
    using Component = typename ComponentOfNumber<T>::Type;

    const T* matrix;
    const Component* panels;
    T* out;
    std::size_t length;
    std::size_t batches;

    /// Of components.
    static constexpr std::size_t step = panel_batches<T>() * sizeof(T) / sizeof(Component);

    [[nodiscard]] const Component* panel(std::size_t index) const { return panels + index * length * step; }

    /// Batches of a panel; the last may be part of one.
    [[nodiscard]] std::size_t used(std::size_t index) const {
        return std::min(panel_batches<T>(), batches - index * panel_batches<T>());
    }

    /// Where an output of a panel's batch goes.
    [[nodiscard]] T& result(std::size_t panel, std::size_t batch, std::size_t l) const {
        return out[(panel * panel_batches<T>() + batch) * length + l];
    }
};

/// How an output ends.
template <class R>
constexpr R finished(R sum) {
    return canonical(sum + R(0));
}

/// The outputs from first to end - 1 of the batches of a panel.
template <class T>
using Multiply = void (*)(const Multiplication<T>& job, std::size_t panel, std::size_t first,
                          std::size_t end);

using AverageKernels = std::tuple<Multiply<float>, Multiply<double>, Multiply<std::complex<float>>,
                                  Multiply<std::complex<double>>>;

/// Throws BackendError if the backend does not run here or needs device memory.
const AverageKernels& average_kernels(const Backend& backend);

extern const AverageKernels scalar_average_kernels;

}  // namespace phy::detail

#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/reduce/average_matvec.hpp"
#include "phy/reduce/reduce_rows.hpp"

/// Sizes of the arrays of average_matvec(), the layout of its workspace, and the arguments of its kernels.
namespace phy::detail {

template <class T>
struct ComponentOfNumber {
    using Type = T;
};
template <class R>
struct ComponentOfNumber<std::complex<R>> {
    using Type = R;
};

/// Batches per panel. On a host the means are stored in panels: for each k the components of the batches,
/// real parts first, as vectors of every instruction set load them.
template <class T>
constexpr std::size_t panel_batches() {
    return 128 / sizeof(typename ComponentOfNumber<T>::Type);
}
inline constexpr std::size_t panel_alignment = 64;

/// In elements.
struct AverageSizes {
    std::size_t in;
    std::size_t matrix;
    std::size_t out;
    std::size_t panels;  ///< on a host; at least as many as out
};

/// Throws ArgumentError as average_matvec_workspace_bytes() does. panel: panel_batches<T>().
AverageSizes average_sizes(const AverageShape& shape, std::size_t bytes_of_element, std::size_t panel);

/// The layout of the workspace.
template <class T>
struct AverageWorkspace {
    T* elements;                    ///< aligned for vectors: panels on a host, means on a device
    std::span<std::byte> of_means;  ///< workspace of reduce_rows()

    static std::size_t bytes_of_means(const AverageShape& shape) {
        return reduce_rows_workspace_bytes<Mean<T>>(shape.batches * shape.length, shape.observations);
    }
    static std::size_t bytes(const AverageShape& shape, const AverageSizes& sizes) {
        return sizes.panels * sizeof(T) + panel_alignment - 1 + bytes_of_means(shape);
    }

    AverageWorkspace(std::byte* memory, const AverageShape& shape, const AverageSizes& sizes) {
        const auto misaligned = reinterpret_cast<std::uintptr_t>(memory) % panel_alignment;
        std::byte* const aligned = memory + (misaligned == 0 ? 0 : panel_alignment - misaligned);
        elements = reinterpret_cast<T*>(aligned);
        of_means = {aligned + sizes.panels * sizeof(T), bytes_of_means(shape)};
    }
};

/// The sizes of a call. Throws ArgumentError as average_matvec() does.
template <class T>
AverageSizes checked_sizes(const AverageShape& shape, std::size_t in, std::size_t matrix, std::size_t out,
                           std::size_t workspace) {
    const AverageSizes sizes = average_sizes(shape, sizeof(T), panel_batches<T>());
    check_size("average_matvec: in", in, sizes.in);
    check_size("average_matvec: matrix", matrix, sizes.matrix);
    check_size("average_matvec: out", out, sizes.out);
    const std::size_t expected = shape.batches == 0 ? 0 : AverageWorkspace<T>::bytes(shape, sizes);
    if (workspace < expected)
        throw ArgumentError("average_matvec: workspace has " + std::to_string(workspace) +
                            " bytes: expected at least " + std::to_string(expected));
    return sizes;
}

/// Matrix times means in panels.
template <class T>
struct Multiplication {
    using Component = typename ComponentOfNumber<T>::Type;

    const T* matrix;
    const Component* panels;
    T* out;
    std::size_t length;
    std::size_t batches;

    /// In components.
    static constexpr std::size_t step = panel_batches<T>() * sizeof(T) / sizeof(Component);

    [[nodiscard]] const Component* panel(std::size_t index) const { return panels + index * length * step; }

    /// Number of batches in a panel; the last panel may have fewer.
    [[nodiscard]] std::size_t used(std::size_t index) const {
        return std::min(panel_batches<T>(), batches - index * panel_batches<T>());
    }

    /// The output of a panel's batch.
    [[nodiscard]] T& result(std::size_t panel, std::size_t batch, std::size_t l) const {
        return out[(panel * panel_batches<T>() + batch) * length + l];
    }
};

/// The last step of an output.
template <class R>
constexpr R finished(R sum) {
    return canonical(sum + R(0));
}

/// Computes outputs first to end - 1 for the batches of a panel.
template <class T>
using Multiply = void (*)(const Multiplication<T>& job, std::size_t panel, std::size_t first,
                          std::size_t end);

using AverageKernels = std::tuple<Multiply<float>, Multiply<double>, Multiply<std::complex<float>>,
                                  Multiply<std::complex<double>>>;

}  // namespace phy::detail

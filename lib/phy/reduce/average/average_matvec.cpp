#include "phy/reduce/average_matvec.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "phy/reduce/average/layout.hpp"
#include "phy/reduce/reduce_rows.hpp"

#define PHY_KERNELS "phy/reduce/average/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

/// A quarter of the range of pointers remains for alignment and for the nodes of means: less than one per
/// 2048 elements.
constexpr std::size_t max_bytes = PTRDIFF_MAX / 4 * 3;

std::size_t product(const AverageShape& shape, std::initializer_list<std::size_t> factors) {
    std::size_t product = 1;
    for (const std::size_t factor : factors) {
        if (__builtin_mul_overflow(product, factor, &product) || product > max_bytes)
            throw ArgumentError("average_matvec: N = " + std::to_string(shape.batches) + ", L = " +
                                std::to_string(shape.length) + ", M = " + std::to_string(shape.observations) +
                                " need arrays larger than the address space: expected fewer elements");
    }
    return product;
}

void check_positive(const char* name, std::size_t value) {
    if (value == 0)
        throw ArgumentError("average_matvec: " + std::string(name) + " is 0: expected at least 1");
}

/// The work that a thread takes at a time: outputs whose rows of the matrix stay in its L2 cache, and enough
/// fmas for some microseconds.
constexpr std::size_t rows_of_piece = 64;
constexpr std::size_t min_products = std::size_t{1} << 17;

/// Rows this short have one element per lane of the tree. Without the empty lanes their means take a fraction
/// of the time of reduce_rows().
constexpr std::size_t max_of_short_row = 32;
static_assert(max_of_short_row <= row_tree.lanes);

template <class T>
T mean_of_short_row(const T* row, std::size_t length) {
    constexpr Mean<T> op;
    typename Mean<T>::Node nodes[max_of_short_row];
    for (std::size_t i = 0; i < length; ++i)
        nodes[i] = op.of(row[i], i);
    std::size_t left = length;
    for (std::size_t half = std::bit_ceil(length) / 2; half > 0; half /= 2) {
        for (std::size_t v = 0; v + half < left; ++v)
            nodes[v] = op.join(nodes[v], nodes[v + half]);
        left = half;
    }
    return op.finish(nodes[0], length);
}

template <class T>
void average_rows(const Host& host, std::span<const T> in, std::size_t length, std::span<T> out,
                  std::span<std::byte> workspace) {
    if (length > max_of_short_row) return reduce_rows<Mean<T>>(host, in, out.size(), out, workspace);
    constexpr std::size_t elements_of_piece = std::size_t{1} << 14;
    share_pieces(host, out.size(), elements_of_piece / length, [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t row = first; row < end; ++row)
            out[row] = mean_of_short_row(&in[row * length], length);
    });
}

/// Copies the means of batches to a panel and fills unused places with zeros.
template <class T>
void pack(const Multiplication<T>& job, const T* means, typename Multiplication<T>::Component* panels,
          std::size_t panel) {
    using R = typename Multiplication<T>::Component;
    constexpr std::size_t batches = panel_batches<T>();
    const std::size_t used = job.used(panel);
    R* to = panels + (job.panel(panel) - job.panels);
    const T* const from = means + panel * batches * job.length;
    for (std::size_t k = 0; k < job.length; ++k, to += Multiplication<T>::step) {
        for (std::size_t batch = 0; batch < batches; ++batch) {
            const T mean = batch < used ? from[batch * job.length + k] : T(0);
            if constexpr (is_complex<T>) {
                to[batch] = mean.real();
                to[batches + batch] = mean.imag();
            } else {
                to[batch] = mean;
            }
        }
    }
}

/// Neighbouring items use the same rows of the matrix.
template <class T>
void multiply_all(const Host& host, const Multiplication<T>& job, std::size_t panels) {
    const auto multiply = std::get<Multiply<T>>(PHY_KERNELS_FOR(host.backend(), AverageKernels));
    const std::size_t items = panels * pieces_of(job.length, rows_of_piece);
    const std::size_t products = rows_of_piece * Multiplication<T>::step * job.length;
    const std::size_t enough = std::max<std::size_t>(1, min_products / products);
    share_pieces(host, items, enough, [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t item = first; item < end; ++item) {
            const std::size_t row = item / panels * rows_of_piece;
            multiply(job, item % panels, row, std::min(row + rows_of_piece, job.length));
        }
    });
}

}  // namespace

AverageSizes average_sizes(const AverageShape& shape, std::size_t bytes_of_element, std::size_t panel) {
    check_positive("length (L)", shape.length);
    check_positive("observations (M)", shape.observations);
    const std::size_t panels = shape.batches / panel + (shape.batches % panel != 0 ? 1 : 0);
    const auto elements = [&](std::initializer_list<std::size_t> factors) {
        return product(shape, factors) / bytes_of_element;
    };
    return {.in = elements({shape.length, shape.observations, bytes_of_element, shape.batches}),
            .matrix = elements({shape.length, shape.length, bytes_of_element}),
            .out = elements({shape.length, bytes_of_element, shape.batches}),
            .panels = elements({shape.length, panel, bytes_of_element, panels})};
}

}  // namespace detail

template <class T>
std::size_t average_matvec_workspace_bytes(const AverageShape& shape) {
    const auto sizes = detail::average_sizes(shape, sizeof(T), detail::panel_batches<T>());
    return shape.batches == 0 ? 0 : detail::AverageWorkspace<T>::bytes(shape, sizes);
}

template <class T>
void average_matvec(const Host& host, std::span<const T> in, const AverageShape& shape,
                    std::span<const T> matrix, std::span<T> out, std::span<std::byte> workspace) {
    using Job = detail::Multiplication<T>;
    const auto sizes =
        detail::checked_sizes<T>(shape, in.size(), matrix.size(), out.size(), workspace.size());
    if (shape.batches == 0) return;
    const detail::AverageWorkspace<T> places(workspace.data(), shape, sizes);
    // The output array holds the means for now.
    detail::average_rows(host, in, shape.observations, out, places.of_means);
    auto* const panels = reinterpret_cast<typename Job::Component*>(places.elements);
    const Job job{matrix.data(), panels, out.data(), shape.length, shape.batches};
    const std::size_t count = sizes.panels / (detail::panel_batches<T>() * shape.length);
    const std::size_t enough = std::max<std::size_t>(1, detail::min_products / (Job::step * shape.length));
    detail::share_pieces(host, count, enough, [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t panel = first; panel < end; ++panel)
            detail::pack(job, out.data(), panels, panel);
    });
    detail::multiply_all(host, job, count);
}

#define PHY_DEFINE_AVERAGE_MATVEC(T)                                                                    \
    template std::size_t average_matvec_workspace_bytes<T>(const AverageShape& shape);                  \
    template void average_matvec<T>(const Host& host, std::span<const T> in, const AverageShape& shape, \
                                    std::span<const T> matrix, std::span<T> out,                        \
                                    std::span<std::byte> workspace);
PHY_DEFINE_AVERAGE_MATVEC(float)
PHY_DEFINE_AVERAGE_MATVEC(double)
PHY_DEFINE_AVERAGE_MATVEC(std::complex<float>)
PHY_DEFINE_AVERAGE_MATVEC(std::complex<double>)

}  // namespace phy

#include "phy/channel/average_matvec_cuda.hpp"

#include <algorithm>

#include "phy/channel/average/cuda/launch.hpp"
#include "phy/channel/average/cuda/tuning.hpp"
#include "phy/measure/reduce_rows_cuda.hpp"

namespace phy::gpu {
namespace detail {

// The only place for numbers that decide how fast it is; more of them are in multiply.cuh: the shapes of
// tiles.
AverageTuning average_tuning(const AverageShape& shape, std::size_t bytes_of_element,
                             std::size_t products_of_element, int multiprocessors) {
    constexpr double large_batches = 64;
    constexpr double large_outputs = 64;
    // Of an H200, in seconds: to read a byte, and to take a product with sums of 8 and of 4 bytes.
    constexpr double of_byte = 1.0 / 4.5e12;
    constexpr double of_wide_product = 1.0 / 1.0e13;
    constexpr double of_narrow_product = 1.0 / 2.0e13;
    // What a kernel more costs is less than what it hides only in longer calls.
    constexpr double least_seconds = 60e-6;
    constexpr std::size_t granularity = 64;

    const auto batches = static_cast<double>(shape.batches);
    const auto length = static_cast<double>(shape.length);
    const auto row_bytes = static_cast<double>(shape.observations) * static_cast<double>(bytes_of_element);
    const bool wide = bytes_of_element / products_of_element * (products_of_element == 4 ? 2 : 1) == 8;
    const double reading = batches * length * row_bytes * of_byte;
    const double multiplying = batches * length * length * static_cast<double>(products_of_element) *
                               (wide ? of_wide_product : of_narrow_product);
    AverageTuning tuning{
        .large_tiles = batches * length >= large_batches * large_outputs * 0.75 * multiprocessors, .late = 0};
    if (shape.observations > most_late_observations || reading < least_seconds || multiplying > reading / 2)
        return tuning;
    const double share = std::max(0.125, 1.5 * multiplying / reading);
    const auto late = static_cast<std::size_t>(batches * share) / granularity * granularity;
    if (late > 0 && shape.batches > late) tuning.late = late;
    return tuning;
}

namespace {

/// What the kernel needs that averages and multiplies at the same time.
template <class T>
bool rows_are_aligned(DeviceSpan<const T> matrix, std::size_t length) {
    constexpr std::size_t word = 16;
    return reinterpret_cast<std::uintptr_t>(matrix.data()) % word == 0 && length * sizeof(T) % word == 0;
}

}  // namespace

template <class T>
void average_matvec_tuned(const Device& device, DeviceSpan<const T> in, const AverageShape& shape,
                          DeviceSpan<const T> matrix, DeviceSpan<T> out, DeviceSpan<std::byte> workspace,
                          cudaStream_t stream, const AverageTuning* tuning) {
    namespace host = phy::detail;
    const auto sizes = host::checked_sizes<T>(shape, in.size(), matrix.size(), out.size(), workspace.size());
    if (shape.batches == 0) return;
    constexpr std::size_t products = host::ComponentOfNumber<T>::is_complex ? 4 : 1;
    const AverageTuning use =
        tuning != nullptr ? *tuning : average_tuning(shape, sizeof(T), products, device.multiprocessors());
    const CurrentDevice current(device);
    const host::AverageWorkspace<T> places(workspace.data(), shape, sizes);
    const std::size_t late = rows_are_aligned(matrix, shape.length) ? use.late : 0;
    const std::size_t early = shape.batches - late;
    const std::size_t rows = early * shape.length;
    if (early > 0)
        reduce_rows<Mean<T>>(device, in.first(rows * shape.observations), rows,
                             device_span(places.elements, rows),
                             device_span(places.of_means.data(), places.of_means.size()), stream);
    const MultiplyCall<T> multiply_early{.matrix = matrix.data(),
                                         .means = places.elements,
                                         .out = out.data(),
                                         .batches = early,
                                         .length = shape.length};
    if (late == 0) return start_multiply(multiply_early, use.large_tiles, stream);
    const MeansCall<T> means{.in = in.data() + rows * shape.observations,
                             .means = places.elements + rows,
                             .rows = late * shape.length,
                             .observations = shape.observations};
    start_both(multiply_early, means, stream);
    const MultiplyCall<T> multiply_late{.matrix = matrix.data(),
                                        .means = places.elements + rows,
                                        .out = out.data() + rows,
                                        .batches = late,
                                        .length = shape.length};
    start_multiply(multiply_late, false, stream);
}

}  // namespace detail

template <class T>
void average_matvec(const Device& device, DeviceSpan<const T> in, const AverageShape& shape,
                    DeviceSpan<const T> matrix, DeviceSpan<T> out, DeviceSpan<std::byte> workspace,
                    cudaStream_t stream) {
    detail::average_matvec_tuned<T>(device, in, shape, matrix, out, workspace, stream, nullptr);
}

#define PHY_DEFINE_AVERAGE_MATVEC(T)                                                                         \
    template void detail::average_matvec_tuned<T>(const Device& device, DeviceSpan<const T> in,              \
                                                  const AverageShape& shape, DeviceSpan<const T> matrix,     \
                                                  DeviceSpan<T> out, DeviceSpan<std::byte> workspace,        \
                                                  cudaStream_t stream, const AverageTuning* tuning);         \
    template void average_matvec<T>(const Device& device, DeviceSpan<const T> in, const AverageShape& shape, \
                                    DeviceSpan<const T> matrix, DeviceSpan<T> out,                           \
                                    DeviceSpan<std::byte> workspace, cudaStream_t stream);
PHY_DEFINE_AVERAGE_MATVEC(float)
PHY_DEFINE_AVERAGE_MATVEC(double)
PHY_DEFINE_AVERAGE_MATVEC(std::complex<float>)
PHY_DEFINE_AVERAGE_MATVEC(std::complex<double>)

}  // namespace phy::gpu

#include "phy/channel/average_matvec_cuda.hpp"

#include <algorithm>

#include "phy/channel/average/cuda/launch.hpp"
#include "phy/channel/average/cuda/tuning.hpp"
#include "phy/measure/reduce_rows_cuda.hpp"

namespace phy::gpu {
namespace detail {

// The only place for numbers that decide how fast it is; more of them are in multiply.cuh: the shapes of
// tiles.
AverageTuning average_tuning(const AverageShape& shape, std::size_t bytes_of_component,
                             std::size_t components, bool may_be_late, int multiprocessors) {
    // Of an H200, in seconds: to read a byte, and to take a product.
    constexpr double of_byte = 1.0 / 4.5e12;
    const double of_product = bytes_of_component == sizeof(double) ? 1.0 / 1.0e13 : 1.0 / 2.0e13;
    // One kernel more costs less than what it hides only in longer calls, and the multiplication is to be
    // over before the late batches are averaged.
    constexpr double least_seconds = 60e-6;
    constexpr double least_share = 0.125;
    constexpr double margin = 1.5;
    constexpr std::size_t granularity = 64;
    // Outputs of a multiprocessor that make it worth to hold many sums in a thread.
    constexpr double outputs_of_large_tile = 64.0 * 64.0 * 0.75;

    const auto length = static_cast<double>(shape.length);
    const double outputs = static_cast<double>(shape.batches) * length;
    const double reading = outputs * static_cast<double>(shape.observations) *
                           static_cast<double>(bytes_of_component * components) * of_byte;
    const double multiplying = outputs * length * static_cast<double>(components * components) * of_product;
    std::size_t late = 0;
    if (may_be_late && reading >= least_seconds && multiplying < reading) {
        const double share = std::max(least_share, margin * multiplying / (reading + margin * multiplying));
        late =
            static_cast<std::size_t>(static_cast<double>(shape.batches) * share) / granularity * granularity;
    }
    const double alone = late == 0 ? outputs : static_cast<double>(late) * length;
    return {.late = late, .large_tiles = alone >= outputs_of_large_tile * multiprocessors};
}

namespace {

/// What the kernel needs of a matrix that averages and multiplies at the same time.
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
    constexpr std::size_t bytes = sizeof(typename host::ComponentOfNumber<T>::Type);
    const bool aligned = rows_are_aligned(matrix, shape.length);
    const bool may_be_late = aligned && shape.observations <= most_late_observations;
    const AverageTuning use = tuning != nullptr ? *tuning
                                                : average_tuning(shape, bytes, sizeof(T) / bytes, may_be_late,
                                                                 device.multiprocessors());
    const CurrentDevice current(device);
    const host::AverageWorkspace<T> places(workspace.data(), shape, sizes);
    const std::size_t late = aligned ? use.late : 0;
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
    start_multiply(multiply_late, use.large_tiles, stream);
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

#include "phy/reduce/average_matvec.hpp"

#include "phy/reduce/average/launch.hpp"
#include "phy/reduce/average/layout.hpp"
#include "phy/reduce/reduce_rows.hpp"

namespace phy::gpu {
namespace detail {

namespace {

/// A good choice for a device with this many multiprocessors. The shapes of tiles are in multiply.cuh.
TileSize suitable_tiles(const AverageShape& shape, int multiprocessors) {
    // Outputs per multiprocessor from which on threads should hold many sums.
    constexpr double outputs_of_large_tile = 64.0 * 64.0 * 0.75;
    const double outputs = static_cast<double>(shape.batches) * static_cast<double>(shape.length);
    return outputs >= outputs_of_large_tile * multiprocessors ? TileSize::large : TileSize::small;
}

}  // namespace

template <class T>
void average_matvec_tuned(const Device& device, DeviceSpan<const T> in, const AverageShape& shape,
                          DeviceSpan<const T> matrix, DeviceSpan<T> out, DeviceSpan<std::byte> workspace,
                          cudaStream_t stream, std::optional<TileSize> tiles) {
    namespace host = phy::detail;
    const auto sizes = host::checked_sizes<T>(shape, in.size(), matrix.size(), out.size(), workspace.size());
    if (shape.batches == 0) return;
    const host::AverageWorkspace<T> places(workspace.data(), shape, sizes);
    const std::size_t rows = shape.batches * shape.length;
    reduce_rows<Mean<T>>(device, in, rows, device_span(places.elements, rows),
                         device_span(places.of_means.data(), places.of_means.size()), stream);
    const CurrentDevice current(device);
    start_multiply<T>({.matrix = matrix.data(),
                       .means = places.elements,
                       .out = out.data(),
                       .batches = shape.batches,
                       .length = shape.length},
                      tiles.value_or(suitable_tiles(shape, device.multiprocessors())), stream);
}

}  // namespace detail

template <class T>
void average_matvec(const Device& device, DeviceSpan<const T> in, const AverageShape& shape,
                    DeviceSpan<const T> matrix, DeviceSpan<T> out, DeviceSpan<std::byte> workspace,
                    cudaStream_t stream) {
    detail::average_matvec_tuned<T>(device, in, shape, matrix, out, workspace, stream, {});
}

#define PHY_DEFINE_AVERAGE_MATVEC(T)                                                                         \
    template void detail::average_matvec_tuned<T>(const Device& device, DeviceSpan<const T> in,              \
                                                  const AverageShape& shape, DeviceSpan<const T> matrix,     \
                                                  DeviceSpan<T> out, DeviceSpan<std::byte> workspace,        \
                                                  cudaStream_t stream, std::optional<TileSize> tiles);       \
    template void average_matvec<T>(const Device& device, DeviceSpan<const T> in, const AverageShape& shape, \
                                    DeviceSpan<const T> matrix, DeviceSpan<T> out,                           \
                                    DeviceSpan<std::byte> workspace, cudaStream_t stream);
PHY_DEFINE_AVERAGE_MATVEC(float)
PHY_DEFINE_AVERAGE_MATVEC(double)
PHY_DEFINE_AVERAGE_MATVEC(std::complex<float>)
PHY_DEFINE_AVERAGE_MATVEC(std::complex<double>)

}  // namespace phy::gpu

#pragma once

#include <array>
#include <cstddef>

#include "phy/core/backend.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/equalizer/equalizer.hpp"

/// The interface between the equaliser, which cuts slots into pieces of rows, and the code that is compiled
/// once for every instruction set. A row is what neighbouring subcarriers have of one number.
namespace phy::detail {

/// Kernels work on whole vectors of up to this many subcarriers: rows can be read up to a multiple of it.
inline constexpr std::size_t max_lanes = 16;

constexpr std::size_t whole_vectors(std::size_t subcarriers) {
    return (subcarriers + max_lanes - 1) / max_lanes * max_lanes;
}

/// Rows of channel coefficients: (estimates, antennas, layers, 2).
struct ChannelRows {
    const float* first;
    std::size_t stride;  ///< floats from row to row
    int antennas;
    int estimates;
    const float* weights;  ///< one an estimate; null: one estimate as it is
    float noise;           ///< N0 with the error of the estimate; NaN: everything is erased
};

/// A row of received samples for each antenna, real and imaginary parts in turns.
struct ReceivedRows {
    const float* first;
    std::size_t stride;  ///< floats from antenna to antenna
    cf32 phase;
};

/// Where results of neighbouring resource elements go: (elements, layers).
struct EqualizedRow {
    float* symbols;
    float* noise;
};

/// Rows of a triangular matrix of (antennas, antennas) are applied to rows of antennas.
struct WhiteningRows {
    const cf32* matrix;
    int antennas;
};

struct EqualizerKernels {
    /// A weight set for each resource element.
    using Solve = void (*)(const ChannelRows& channel, const ReceivedRows& received, std::size_t count,
                           const EqualizedRow& out);
    /// A weight set for each subcarrier: filter_rows() rows, `stride` floats apart.
    using MakeFilters = void (*)(const ChannelRows& channel, std::size_t count, float* filters,
                                 std::size_t stride);
    using ApplyFilters = void (*)(const float* filters, std::size_t stride, int antennas,
                                  const ReceivedRows& received, std::size_t count, const EqualizedRow& out);

    /// By layers - 1, and by whether Equalization::mmse. One layer has but one way.
    std::array<std::array<Solve, 2>, max_layers> solve;
    std::array<std::array<MakeFilters, 2>, max_layers> make_filters;
    std::array<ApplyFilters, max_layers> apply_filters;

    /// Whiten received rows, and the two rows that antennas have of a layer, where they lie; strides are
    /// floats from antenna to antenna.
    void (*whiten_received)(const WhiteningRows& whitening, float* rows, std::size_t stride,
                            std::size_t count);
    void (*whiten_channel)(const WhiteningRows& whitening, float* rows, std::size_t stride, std::size_t row,
                           std::size_t count);
};

/// Of each antenna the weights of all layers, real and imaginary; then the noise of each layer.
constexpr std::size_t filter_rows(int layers, int antennas) {
    return static_cast<std::size_t>((2 * antennas + 1) * layers);
}

/// Throws BackendError if the backend does not run here or needs device memory.
const EqualizerKernels& equalizer_kernels(const Backend& backend);

extern const EqualizerKernels scalar_equalizer_kernels;

}  // namespace phy::detail

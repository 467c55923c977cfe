#pragma once

#include <array>
#include <cstddef>

#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/equalizer/equalizer.hpp"

/// The interface between the equaliser, which splits slots into pieces of rows, and the code that is compiled
/// once per instruction set. A row holds one number of neighbouring subcarriers.
namespace phy::detail {

/// Kernels use whole vectors of up to this many subcarriers, so rows must be readable up to a multiple of it.
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
    const float* weights;  ///< one per estimate; null: one estimate, unchanged
    float noise;           ///< N0 plus the error of the estimate; NaN: all elements are erased
};

/// One row of received samples per antenna, real and imaginary parts alternating.
struct ReceivedRows {
    const float* first;
    std::size_t stride;  ///< floats from antenna to antenna
    cf32 phase;
};

/// Results of neighbouring resource elements: (elements, layers).
struct EqualizedRow {
    float* symbols;
    float* noise;
    float* pairs;  ///< LayerPair, or null; for Solve with two layers
};

/// A triangular matrix of (antennas, antennas) that multiplies rows of antennas.
struct WhiteningRows {
    const cf32* matrix;
    int antennas;
};

inline constexpr std::size_t floats_of_pair = sizeof(LayerPair) / sizeof(float);

struct EqualizerKernels {
    /// Solves the equations of each resource element.
    using Solve = void (*)(const ChannelRows& channel, const ReceivedRows& received, std::size_t count,
                           const EqualizedRow& out);
    /// Makes the filter of each subcarrier: filter_rows() rows, `stride` floats apart.
    using MakeFilters = void (*)(const ChannelRows& channel, std::size_t count, float* filters,
                                 std::size_t stride);
    using ApplyFilters = void (*)(const float* filters, std::size_t stride, int antennas,
                                  const ReceivedRows& received, std::size_t count, const EqualizedRow& out);

    /// By layers - 1, and by whether Equalization::mmse. For one layer both are equal.
    std::array<std::array<Solve, 2>, max_layers> solve;
    std::array<std::array<MakeFilters, 2>, max_layers> make_filters;
    std::array<ApplyFilters, max_layers> apply_filters;

    /// Whiten received rows, which may stay where they are, and in place the two rows of a layer of all
    /// antennas. Strides are floats from antenna to antenna.
    void (*whiten_received)(const WhiteningRows& whitening, const ReceivedRows& from, float* to,
                            std::size_t stride, std::size_t count);
    void (*whiten_channel)(const WhiteningRows& whitening, float* rows, std::size_t stride, std::size_t row,
                           std::size_t count);
};

/// For each antenna the weights of all layers, real and imaginary; then the noise of each layer.
constexpr std::size_t filter_rows(int layers, int antennas) {
    return static_cast<std::size_t>((2 * antennas + 1) * layers);
}

}  // namespace phy::detail

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/slot_estimate.hpp"

/// The interface between the host side of the CUDA equaliser and its kernels.
namespace phy::gpu::detail {

// Tuning: these numbers affect speed only.

constexpr unsigned equalizer_threads = 128;  ///< per block
constexpr unsigned whitening_threads = 128;

/// Min blocks per multiprocessor: five hide more of the loads' latency. From compute capability 10.0 on ptxas
/// would spill registers for them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int resident_equalizer_blocks = 1;
#else
constexpr int resident_equalizer_blocks = 5;
#endif

/// Max blocks per multiprocessor that share the symbols of a group. Each makes the filters again, so only as
/// many as can be resident at once.
constexpr unsigned equalizer_blocks_wanted = 4;

/// WeightGroup in device memory.
struct DeviceGroup {
    std::int32_t first_weight;  ///< index of the first set's row of weights; -1: `estimate` unchanged
    std::int32_t estimate;
    std::int32_t symbols;
    std::array<std::int32_t, phy::symbols_per_slot> symbol;
};

/// SlotEstimate as kernels read it: floats.
constexpr unsigned floats_of_estimate = 52;
constexpr unsigned error_of_estimate = 1;
constexpr unsigned time_set_of_estimate = 7;
constexpr unsigned phases_of_estimate = 8;
static_assert(sizeof(SlotEstimate) == floats_of_estimate * sizeof(float));
static_assert(offsetof(SlotEstimate, noise_variance) == 0);
static_assert(offsetof(SlotEstimate, channel_error) == error_of_estimate * sizeof(float));
static_assert(offsetof(SlotEstimate, time_set) == time_set_of_estimate * sizeof(float));
static_assert(offsetof(SlotEstimate, phase) == phases_of_estimate * sizeof(float));

/// Max blocks of a grid in the dimension of slots.
constexpr std::size_t max_blocks_of_slots = 65535;

struct EqualizerJob {
    SampleFormat format;
    float unit;  ///< the value of an integer sample of 1
    const std::byte* grid;
    const float* channel;
    const float* slots;
    const float* whitening;  ///< (slots, subbands, antennas, antennas), complex; or null
    const ResourceMap::Entry* entries;
    const float* weights;
    const DeviceGroup* groups;  ///< of this launch
    unsigned group_count;
    unsigned parts;  ///< number of parts of a group's symbols; without shared filters, of the groups
    unsigned sample_bytes;
    unsigned estimates;
    unsigned time_sets;
    unsigned antennas;
    unsigned layers;
    unsigned subcarriers;
    unsigned subbands;
    unsigned of_subband;  ///< subcarriers
    unsigned slot_count;
    unsigned elements;  ///< per slot
    bool mmse;
    bool shares_filters;
    bool is_followed;  ///< by another job of the call, which may run beside it
    bool follows;      ///< the other job
};

/// A parameter of its own: as members of the job, kernels of several antennas take up to 28 registers more.
struct EqualizerOutput {
    float* symbols;
    float* noise;
    LayerPair* pairs;  ///< or null
    bool aligned;      ///< both to 16 bytes
};

/// Makes whitening matrices of covariances, and whitens channel coefficients.
struct WhiteningJob {
    const float* covariance;
    const float* slots;
    const float* channel;
    float* whitening;
    float* whitened;
    unsigned estimates;
    unsigned antennas;
    unsigned layers;
    unsigned subcarriers;
    unsigned subbands;
    unsigned of_subband;  ///< subcarriers
    unsigned slot_count;
};

/// Start kernels on the current device.
void launch(const EqualizerJob& job, const EqualizerOutput& out, cudaStream_t stream);
void launch(const WhiteningJob& job, cudaStream_t stream);

}  // namespace phy::gpu::detail

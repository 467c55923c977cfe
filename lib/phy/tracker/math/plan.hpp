#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/measure/math/symbol_scale.hpp"
#include "phy/tracker/tracker.hpp"

/// The order in which phases are followed, on every backend.
namespace phy::detail {

/// Virtual lanes of the sums over an OFDM symbol: lane i adds its symbols i, i + 128 ... in this order, and
/// lanes are joined as in step 3 of Tree.
inline constexpr std::size_t tracker_lanes = 128;

/// The most symbols of an OFDM symbol that are used.
inline constexpr std::uint32_t max_tracked_symbols = 512;

/// Of symbols one after the other, so that all of a cache line is used. Even, so that the rotation of
/// pi/2-BPSK alternates from run to run as within one.
inline constexpr std::uint32_t tracked_run = 16;
static_assert(tracked_run % 2 == 0 && tracker_lanes % tracked_run == 0 &&
              max_tracked_symbols % tracker_lanes == 0);

/// Of `count` symbols every so many runs one is used.
constexpr std::uint32_t stride_of(std::uint32_t count) {
    return (count + max_tracked_symbols - 1) / max_tracked_symbols;
}

/// A step that is tried in an OFDM symbol, as exp(j step).
struct TriedStep {
    float re;
    float im;
};

/// An OFDM symbol with data, but without DM-RS.
struct TrackStep {
    std::uint32_t first;   ///< index of its first symbol in the slot
    std::uint32_t count;   ///< of symbols
    std::uint32_t stride;  ///< see stride_of()
    std::uint32_t symbol;
    std::uint32_t first_ptrs;  ///< in place_ptrs()
    std::uint32_t ptrs;        ///< count

    [[nodiscard]] constexpr std::uint32_t used() const {
        const std::uint32_t apart = tracked_run * stride;
        const std::uint32_t rest = count % apart;
        return count / apart * tracked_run + (rest < tracked_run ? rest : tracked_run);
    }
    /// Index of a used symbol among those of the OFDM symbol.
    [[nodiscard]] constexpr std::uint32_t index_of(std::uint32_t used) const {
        return used / tracked_run * tracked_run * stride + used % tracked_run;
    }
};

/// A phase that was followed to a step, and F there: 0 if it is that of the step before.
struct TrackedPhase {
    float re;
    float im;
    float information;
};

/// The phase of a step, and the factors of noise variances with this phase and without one.
struct TrackedSymbol {
    TrackedPhase phase;
    float noise;
    float noise_still;
};

struct TrackPlan {
    static constexpr std::size_t max_steps = symbols_per_slot - 1;
    static constexpr std::size_t max_tried_steps = 15;

    std::array<TrackStep, max_steps> steps = {};  ///< chain by chain
    std::array<std::uint32_t, max_steps + 1> chain =
        {};  ///< first step of each chain, and the end of the last
    std::uint32_t chains = 0;
    std::array<TriedStep, max_tried_steps> tried = {};  ///< from 1 on; 0: no step
    std::uint32_t tried_count = 0;
    SymbolScale scale = {};
    std::size_t symbols = 0;       ///< per slot
    std::size_t ptrs_symbols = 0;  ///< per slot: PT-RS elements x layers
    std::size_t pilots = 0;        ///< per slot, of PT-RS
    float ptrs_amplitude = 1.0F;

    [[nodiscard]] constexpr std::uint32_t step_count() const { return chain[chains]; }
};

/// A PT-RS: where its symbol is among those of PT-RS in a slot, and what it repeats among the slot's pilots.
struct TrackedPtrs {
    std::uint32_t symbol;
    std::uint32_t pilot;
};

/// Throws ArgumentError if a value is out of its range.
TrackPlan track_plan(const PhaseTrackerConfig& config);

/// Returns the PT-RS of a slot, step by step, and adds to the plan where those of each step are. Leaves out
/// those of ports without a layer.
std::vector<TrackedPtrs> place_ptrs(const PhaseTrackerConfig& config, TrackPlan& plan);

struct TrackerSizes {
    std::size_t symbols;
    std::size_t noise_variance;
    std::size_t slots;
    std::size_t pairs;
    std::size_t ptrs;
    std::size_t ptrs_noise_variance;
    std::size_t pilots;
};
/// Throws ArgumentError if sizes do not fit.
void check(const PhaseTrackerConfig& config, const TrackPlan& plan, const TrackerSizes& sizes);

}  // namespace phy::detail

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/measure/math/symbol_scale.hpp"
#include "phy/tracker/tracker.hpp"

/// The order in which phases are followed, on every backend.
namespace phy::detail {

/// Virtual lanes of the sums over an OFDM symbol: lane i adds its symbols i, i + 128 ... in this order, and
/// lanes are joined as in step 3 of Tree.
inline constexpr std::size_t tracker_lanes = 128;

/// The most symbols of an OFDM symbol that are used.
inline constexpr std::size_t max_tracked_symbols = 1024;

/// A step that is tried in an OFDM symbol, as exp(j step).
struct TriedStep {
    float re;
    float im;
};

/// An OFDM symbol with data, but without DM-RS.
struct TrackStep {
    std::uint32_t first;  ///< index of its first symbol in the slot
    std::uint32_t count;  ///< of symbols
    std::uint32_t
        stride;  ///< between symbols that are used; odd, so that the rotation of pi/2-BPSK alternates
    std::uint32_t symbol;

    [[nodiscard]] constexpr std::uint32_t used() const { return (count + stride - 1) / stride; }
};

/// A phase that was followed to a step, and F there: 0 if it is that of the step before.
struct TrackedPhase {
    float re;
    float im;
    float information;
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
    std::size_t symbols = 0;  ///< per slot

    [[nodiscard]] constexpr std::uint32_t step_count() const { return chain[chains]; }
};

/// Throws ArgumentError if a value is out of its range.
TrackPlan track_plan(const PhaseTrackerConfig& config);

struct TrackerSizes {
    std::size_t symbols;
    std::size_t noise_variance;
    std::size_t slots;
    std::size_t pairs;
};
/// Throws ArgumentError if sizes do not fit.
void check(const PhaseTrackerConfig& config, const TrackPlan& plan, const TrackerSizes& sizes);

}  // namespace phy::detail

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "link_sim/link.hpp"
#include "link_sim/statistics.hpp"

namespace phy::apps {

/// When a point ends: when every receiver has so many wrong bits or so many bits have been sent, but not
/// before the slots.
struct StopRule {
    std::uint64_t errors = 1000;
    std::uint64_t max_bits = 10'000'000;
    std::uint64_t min_slots = 1;
};

/// What has come of a point so far, or in the end.
struct PointState {
    std::uint64_t slots = 0;
    std::vector<LinkSums> sums;  ///< of each receiver: (known, soft_bits) of LinkConfig

    /// From 0 to 1.
    [[nodiscard]] double done(const StopRule& rule) const;
};

/// Simulates slot after slot of a point, on so many threads; calls on_progress several times a second. The
/// result is that of one thread: slots are counted in their order, and what threads do after the last of them
/// is dropped. Throws what the chain or on_progress throws.
PointState simulate(const LinkConfig& config, const StopRule& rule, int threads,
                    const std::function<void(const PointState&)>& on_progress);

}  // namespace phy::apps

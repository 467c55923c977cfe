#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "link_sim/link.hpp"
#include "link_sim/statistics.hpp"

namespace phy::apps {

/// When a point ends: every receiver has enough errors, or enough was sent, but not before the min number of
/// slots.
struct StopRule {
    bool counts_blocks = false;  ///< errors and what was sent are transport blocks, not bits before decoding
    std::uint64_t errors = 1000;
    std::uint64_t max_sent = 10'000'000;
    std::uint64_t min_slots = 1;
};

/// Results of a point, so far or final.
struct PointState {
    std::uint64_t slots = 0;
    std::vector<LinkSums> sums;  ///< per receiver: (known, soft_bits) of LinkConfig

    /// Adds the sums of the next slot.
    void add(std::span<const LinkSums> of_slot);

    /// The progress, from 0 to 1.
    [[nodiscard]] double done(const StopRule& rule) const;
};

/// Simulates the slots of a point on the given number of threads, and calls on_progress several times per
/// second. The result does not depend on the number of threads: slots are counted in order, and work on slots
/// after the last is dropped. Throws what the chain or on_progress throws.
PointState simulate(const LinkConfig& config, const StopRule& rule, int threads,
                    const std::function<void(const PointState&)>& on_progress);

}  // namespace phy::apps

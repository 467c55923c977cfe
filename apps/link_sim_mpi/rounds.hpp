#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "link_sim/simulation.hpp"

/// The ranks simulate slots in rounds. Rank 0 plans each round from the results of those before.
namespace phy::apps {

/// Neighbouring slots of a point.
struct SlotBlock {
    std::uint64_t point = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// What is left of a simulation, on rank 0. The numbers of a point depend on its first slots until it is
/// done, in their order, and not on rounds: more slots are dropped.
class Rounds {
public:
    /// states: so far, one per point.
    Rounds(std::vector<PointState> states, const StopRule& rule);

    /// About so many slots of points that are not done, point by point; none if all are. slots: at least 1.
    [[nodiscard]] std::vector<SlotBlock> next(std::uint64_t slots) const;

    /// sums: of the slots of that block, (slots, receivers). Blocks of a point come in their order.
    void add(const SlotBlock& block, std::span<const LinkSums> sums);

    [[nodiscard]] const std::vector<PointState>& states() const { return states_; }
    [[nodiscard]] double done(std::uint64_t point) const { return states_[point].done(rule_); }

private:
    /// Slots that a point may still need.
    [[nodiscard]] std::uint64_t left(std::uint64_t point) const;

    std::vector<PointState> states_;
    StopRule rule_;
};

/// Cuts blocks into tasks of at most so many slots.
std::vector<SlotBlock> cut(const std::vector<SlotBlock>& blocks, std::uint64_t slots);

std::string to_text(const std::vector<SlotBlock>& blocks);
std::vector<SlotBlock> parse_blocks(const std::string& text);

/// The bytes of sums, for a program of the same build.
std::string bytes_of(std::span<const LinkSums> sums);

/// Throws FileError for another number of bytes than that of whole sums.
std::vector<LinkSums> sums_from(std::string_view bytes);

}  // namespace phy::apps

#include "link_sim_mpi/rounds.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "phy/core/error.hpp"

namespace phy::apps {

Rounds::Rounds(std::vector<PointState> states, const StopRule& rule)
    : states_(std::move(states)), rule_(rule) {}

std::uint64_t Rounds::left(std::uint64_t point) const {
    const double share = done(point);
    if (share >= 1.0) return 0;
    const double slots = static_cast<double>(states_[point].slots);
    // A tenth more than expected: a round for a few last slots costs more than they do.
    const double expected = 1.1 * slots * (1.0 - share) / share + 1.0;
    // No error yet says nothing of how many slots are left.
    return share > 0.0 && expected < 1e15 ? static_cast<std::uint64_t>(expected)
                                          : std::numeric_limits<std::uint64_t>::max();
}

std::vector<SlotBlock> Rounds::next(std::uint64_t slots) const {
    std::vector<SlotBlock> blocks;
    std::uint64_t points = 0;
    for (std::uint64_t point = 0; point < states_.size(); ++point)
        points += left(point) > 0 ? 1U : 0U;
    for (std::uint64_t point = 0; point < states_.size(); ++point) {
        const std::uint64_t count = left(point);
        if (count == 0) continue;
        // What earlier points did not need is for later ones.
        const std::uint64_t share = std::max<std::uint64_t>(1, slots / points--);
        blocks.push_back({point, states_[point].slots, std::min(count, share)});
        slots -= std::min(slots, blocks.back().count);
    }
    return blocks;
}

void Rounds::add(const SlotBlock& block, std::span<const LinkSums> sums) {
    PointState& state = states_[block.point];
    const std::size_t receivers = state.sums.size();
    for (std::uint64_t slot = 0; slot < block.count && done(block.point) < 1.0; ++slot)
        state.add(sums.subspan(slot * receivers, receivers));
}

std::vector<SlotBlock> cut(const std::vector<SlotBlock>& blocks, std::uint64_t slots) {
    std::vector<SlotBlock> pieces;
    for (const SlotBlock& block : blocks)
        for (std::uint64_t first = 0; first < block.count; first += slots)
            pieces.push_back({block.point, block.first + first, std::min(slots, block.count - first)});
    return pieces;
}

std::string to_text(const std::vector<SlotBlock>& blocks) {
    std::string text;
    for (const SlotBlock& block : blocks)
        text += fmt::format("{} {} {}\n", block.point, block.first, block.count);
    return text;
}

std::vector<SlotBlock> parse_blocks(const std::string& text) {
    std::istringstream in(text);
    std::vector<SlotBlock> blocks;
    for (SlotBlock block; in >> block.point >> block.first >> block.count;)
        blocks.push_back(block);
    return blocks;
}

std::string bytes_of(std::span<const LinkSums> sums) {
    static_assert(std::is_trivially_copyable_v<LinkSums>);
    return {reinterpret_cast<const char*>(sums.data()), sums.size_bytes()};
}

std::vector<LinkSums> sums_from(std::string_view bytes) {
    if (bytes.size() % sizeof(LinkSums) != 0)
        throw FileError(
            fmt::format("sums of slots: {} bytes are no multiple of {}", bytes.size(), sizeof(LinkSums)));
    std::vector<LinkSums> sums(bytes.size() / sizeof(LinkSums));
    std::memcpy(static_cast<void*>(sums.data()), bytes.data(), bytes.size());
    return sums;
}

}  // namespace phy::apps

#include "phy/coding/transport_block.hpp"

#include <algorithm>
#include <string>

#include "phy/coding/base_graph.hpp"
#include "phy/coding/crc.hpp"
#include "phy/coding/rate_matching.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

namespace phy {
namespace {

constexpr std::size_t max_coded_bits = std::size_t{1} << 31U;
constexpr std::size_t max_size = std::size_t{1} << 24U;
constexpr int max_layers = 8;
constexpr std::size_t max_size_of_crc16 = 3824;

void check(const TransportBlockConfig& config) {
    detail::check_enum("modulation", config.modulation, all_modulations.back());
    if (config.size == 0 || config.size % 8 != 0 || config.size > max_size)
        throw ArgumentError("size " + std::to_string(config.size) +
                            ": expected a multiple of 8 bits, up to 2^24");
    if (!(config.code_rate > 0.0 && config.code_rate <= 1.0))
        throw ArgumentError("code_rate " + std::to_string(config.code_rate) +
                            ": expected above 0, at most 1");
    if (config.layers < 1 || config.layers > max_layers)
        throw ArgumentError("layers " + std::to_string(config.layers) + ": expected 1 to " +
                            std::to_string(max_layers));
    const std::size_t unit = static_cast<std::size_t>(config.layers) * bits_per_symbol(config.modulation);
    if (config.coded_bits == 0 || config.coded_bits % unit != 0 || config.coded_bits > max_coded_bits)
        throw ArgumentError("coded_bits " + std::to_string(config.coded_bits) + ": expected a multiple of " +
                            std::to_string(unit) + ", layers times bits per symbol, up to 2^31");
    if (config.limited_buffer && *config.limited_buffer == 0)
        throw ArgumentError("limited_buffer 0: expected above 0");
}

/// Clauses 6.2.2 and 7.2.2.
BaseGraph graph_of(const TransportBlockConfig& config) {
    const bool is_short =
        config.size <= 292 || (config.size <= max_size_of_crc16 && config.code_rate <= 0.67);
    return is_short || config.code_rate <= 0.25 ? BaseGraph::bg2 : BaseGraph::bg1;
}

/// K_b of clause 5.2.2 for B bits.
std::size_t used_columns(BaseGraph graph, std::size_t bits) {
    if (graph == BaseGraph::bg1) return 22;
    if (bits > 640) return 10;
    if (bits > 560) return 9;
    return bits > 192 ? 8 : 6;
}

}  // namespace

CodeBlocks code_blocks(const TransportBlockConfig& config) {
    check(config);
    CodeBlocks blocks = {.graph = graph_of(config)};
    const std::size_t longest = blocks.graph == BaseGraph::bg1 ? 8448 : 3840;
    blocks.transport_block_crc =
        config.size > max_size_of_crc16 ? detail::crc24a.length : detail::crc16.length;
    const std::size_t bits = config.size + static_cast<std::size_t>(blocks.transport_block_crc);
    blocks.count = 1;
    std::size_t all_bits = bits;
    if (bits > longest) {
        blocks.code_block_crc = detail::crc24b.length;
        const auto parity = static_cast<std::size_t>(blocks.code_block_crc);
        blocks.count = (bits + longest - parity - 1) / (longest - parity);
        all_bits += blocks.count * parity;
    }
    if (all_bits % (8 * blocks.count) != 0)
        throw ArgumentError("size " + std::to_string(config.size) +
                            ": expected one of TS 38.214 clause 5.1.3.2, which divides into " +
                            std::to_string(blocks.count) + " code blocks of equal length in bytes");
    blocks.bits = all_bits / blocks.count;
    const std::size_t columns = used_columns(blocks.graph, bits);
    blocks.lifting_size = detail::lifting_size(static_cast<int>((blocks.bits + columns - 1) / columns));
    const auto size = static_cast<std::size_t>(blocks.lifting_size);
    const detail::BaseGraphFacts& facts = detail::facts_of(blocks.graph);
    blocks.information_bits = static_cast<std::size_t>(facts.information_columns) * size;
    blocks.buffer_size = static_cast<std::size_t>(facts.columns() - detail::punctured_columns) * size;
    if (config.limited_buffer) {
        const std::size_t limit = std::min(*config.limited_buffer, max_coded_bits) * 3 / 2 / blocks.count;
        blocks.buffer_size = std::min(blocks.buffer_size, limit);
    }
    const std::size_t systematic = blocks.bits - std::min(blocks.bits, detail::punctured_columns * size);
    if (blocks.buffer_size <= systematic)
        throw ArgumentError("limited_buffer " + std::to_string(config.limited_buffer.value_or(0)) +
                            ": expected more than the bits of the transport block");
    return blocks;
}

}  // namespace phy

namespace phy::detail {
namespace {

/// Factors of Z in table 5.4.2.1-2.
constexpr std::uint32_t first_columns[][redundancy_versions] = {{0, 17, 33, 56}, {0, 13, 25, 43}};

std::uint32_t rank_of(const RateMatching& matching, std::uint32_t place) {
    if (place < matching.filler_begin) return place;
    return std::max(place, matching.filler_end) - (matching.filler_end - matching.filler_begin);
}

/// Columns of the base graph for the bits before `end` in the buffer.
int columns_to(std::uint32_t end, const CodeBlocks& blocks) {
    const auto size = static_cast<std::uint32_t>(blocks.lifting_size);
    const int columns = punctured_columns + static_cast<int>((end + size - 1) / size);
    return std::max(columns, facts_of(blocks.graph).information_columns + core_rows);
}

}  // namespace

RateMatching rate_matching(const TransportBlockConfig& config, const CodeBlocks& blocks) {
    const auto size = static_cast<std::uint32_t>(blocks.lifting_size);
    const auto count = static_cast<std::uint32_t>(blocks.count);
    const std::uint32_t punctured = punctured_columns * size;
    RateMatching matching;
    matching.buffer = static_cast<std::uint32_t>(blocks.buffer_size);
    const auto in_buffer = [&](std::size_t bit) {
        return std::min(static_cast<std::uint32_t>(std::max<std::size_t>(bit, punctured)) - punctured,
                        matching.buffer);
    };
    matching.filler_begin = in_buffer(blocks.bits);
    matching.filler_end = in_buffer(blocks.information_bits);
    const auto& firsts = first_columns[static_cast<std::size_t>(blocks.graph)];
    const auto columns = static_cast<std::uint32_t>(facts_of(blocks.graph).columns() - punctured_columns);
    for (std::size_t version = 0; version < redundancy_versions; ++version) {
        const std::uint32_t first = firsts[version] * matching.buffer / (columns * size) * size;
        matching.first_ranks[version] = rank_of(matching, first) % matching.usable();
    }
    matching.bits_per_symbol = static_cast<std::uint32_t>(bits_per_symbol(config.modulation));
    matching.more = static_cast<std::uint32_t>(config.layers);
    const auto units =
        static_cast<std::uint32_t>(config.coded_bits / (matching.bits_per_symbol * matching.more));
    matching.symbols = units / count * matching.more;
    matching.short_blocks = count - units % count;
    return matching;
}

int buffer_columns(const CodeBlocks& blocks) {
    return columns_to(static_cast<std::uint32_t>(blocks.buffer_size), blocks);
}

int sent_columns(const RateMatching& matching, const CodeBlocks& blocks, int redundancy_version) {
    const std::uint32_t longest = matching.symbols_of(blocks.count - 1) * matching.bits_per_symbol;
    const std::uint32_t first = matching.first_ranks[redundancy_version];
    const std::uint32_t end =
        longest >= matching.usable() - first ? matching.buffer : matching.place_of(first + longest - 1) + 1;
    return columns_to(end, blocks);
}

void check_redundancy_version(int redundancy_version) {
    if (redundancy_version < 0 || redundancy_version >= redundancy_versions)
        throw ArgumentError("redundancy_version " + std::to_string(redundancy_version) + ": expected 0 to 3");
}

}  // namespace phy::detail

#include "phy/coding/decoder_checks.hpp"

#include <algorithm>
#include <string>

#include "phy/coding/kernels.hpp"
#include "phy/core/check.hpp"
#include "phy/core/demapper_config.hpp"

namespace phy::detail {
namespace {

/// Smaller messages vanish in check nodes of high code rates.
constexpr float min_largest_nats = 3.0F;

}  // namespace

const TransportDecoderConfig& checked(const TransportDecoderConfig& config) {
    check_enum("soft-bit format", config.format, all_soft_bit_formats.back());
    check_llr({.scale = config.scale, .clip = config.clip});
    check_range("iterations", config.iterations, 1, 255);
    return config;
}

void check_sizes(const TransportDecoderConfig& config, const CodeBlocks& blocks, int redundancy_version,
                 SoftBitFormat format, const DecoderSizes& sizes) {
    check_redundancy_version(redundancy_version);
    if (format != config.format)
        throw ArgumentError("llr is in " + std::string(to_string(format)) + ": expected " +
                            std::string(to_string(config.format)));
    check_size("llr", sizes.llr, sizes.results * config.block.coded_bits);
    check_size("payload", sizes.payload, sizes.results * (config.block.size / 8));
    if (sizes.soft_buffers != 0)
        check_size("soft_buffers", sizes.soft_buffers, sizes.results * blocks.count * blocks.buffer_size);
    if (sizes.extrinsic != 0) check_size("extrinsic", sizes.extrinsic, sizes.llr);
}

std::vector<LdpcPlan> make_plans(const CodeBlocks& blocks, const RateMatching& matching) {
    std::vector<LdpcPlan> plans;
    for (int version = 0; version < redundancy_versions; ++version)
        plans.emplace_back(blocks.graph, blocks.lifting_size, sent_columns(matching, blocks, version));
    plans.emplace_back(blocks.graph, blocks.lifting_size, buffer_columns(blocks));
    return plans;
}

Crc transport_block_crc(const CodeBlocks& blocks) {
    return blocks.transport_block_crc == crc16.length ? crc16 : crc24a;
}

float units_of(const TransportDecoderConfig& config) {
    if (config.format != SoftBitFormat::int8) return units_per_nat;
    return std::max(units_per_nat / config.scale,
                    min_largest_nats * units_per_nat / static_cast<float>(config.clip));
}

}  // namespace phy::detail

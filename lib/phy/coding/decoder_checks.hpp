#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/coding/crc.hpp"
#include "phy/coding/ldpc_plan.hpp"
#include "phy/coding/rate_matching.hpp"
#include "phy/coding/transport_decoder.hpp"

/// What decoders of both places derive from their configuration, and check.
namespace phy::detail {

/// Elements of the arrays of a call.
struct DecoderSizes {
    std::size_t llr;
    std::size_t payload;
    std::size_t results;
    std::size_t soft_buffers;
    std::size_t extrinsic;
};

/// In DecodedBlock::failed_blocks while the block is decoded.
inline constexpr std::uint32_t is_pending = 0x80000000;

/// The configuration; throws ArgumentError if a value of the decoder is out of its range.
const TransportDecoderConfig& checked(const TransportDecoderConfig& config);

/// Throws ArgumentError as TransportDecoder's call does.
void check_sizes(const TransportDecoderConfig& config, const CodeBlocks& blocks, int redundancy_version,
                 SoftBitFormat format, const DecoderSizes& sizes);

/// One plan per redundancy version, then that of all columns in the buffer.
std::vector<LdpcPlan> make_plans(const CodeBlocks& blocks, const RateMatching& matching);

Crc transport_block_crc(const CodeBlocks& blocks);

/// Units of LLRs per step of a soft bit.
float units_of(const TransportDecoderConfig& config);

}  // namespace phy::detail

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "link_sim/statistics.hpp"
#include "phy/phy.hpp"
#include "transmission/transmitter.hpp"

/// Transport blocks of a simulation: one per slot, with redundancy version 0.
namespace phy::apps {

/// How the transport blocks of a point are coded and decoded.
struct BlockCoding {
    double code_rate = 0.0;       ///< R
    std::optional<int> mcs = {};  ///< the index that gave the code rate
    int iterations = 20;          ///< of the decoder, at most
};

/// An entry of an MCS table of PDSCH.
struct Mcs {
    Modulation modulation;
    double code_rate;
};

/// table: a name as in a link, such as "qam256". None if the table does not exist or if the index has no code
/// rate there.
std::optional<Mcs> find_mcs(std::string_view table, int index);

/// Of the size by TS 38.214 clause 5.1.3.2. Throws ArgumentError as transport_block_config() does.
TransportBlockConfig transport_block_of(const SlotAllocation& allocation, Modulation modulation,
                                        const BlockCoding& coding);

/// Draws random transport blocks and encodes them.
class BlockSource {
public:
    BlockSource(const Host& host, const TransportBlockConfig& block);

    /// bits: the codeword, one bit per byte.
    void draw(const RandomSequence& random, std::span<std::uint8_t> bits);

    /// Of the last block, as TransportEncoder takes it.
    [[nodiscard]] std::span<const std::uint8_t> payload() const { return payload_; }

private:
    TransportEncoder encode_;
    std::vector<std::uint8_t> payload_;
};

/// Decodes transport blocks and compares them with those sent.
class BlockMeter {
public:
    BlockMeter(const Host& host, const TransportDecoder::Config& config);

    /// detect: soft bits with what the decoder knows, see JointDetector; up to `iterations` times, until the
    /// CRC of the block holds.
    BlockSums operator()(SoftBitView soft_bits, std::span<const std::uint8_t> sent, int iterations,
                         const std::function<SoftBitView(std::span<const std::int8_t>)>& detect);

private:
    TransportDecoder decode_;
    std::vector<std::uint8_t> payload_;
    std::vector<std::int8_t> extrinsic_;
};

}  // namespace phy::apps

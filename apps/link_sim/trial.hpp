#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "link_sim/air.hpp"
#include "link_sim/link.hpp"
#include "link_sim/statistics.hpp"
#include "transmission/transmitter.hpp"

namespace phy::apps {

/// Sends slots of a point through a channel and measures each receiver's output. A slot depends on the seed,
/// the modulation, the SNR and its number only. All receivers get the same slots.
class Trial {
public:
    explicit Trial(const LinkConfig& config);

    /// sums: one per receiver, (equalizers, soft_bits) of LinkConfig.
    void run(std::uint64_t slot, std::span<LinkSums> sums);

private:
    void draw(const RandomSequence& random);
    void measure(Receiver& receiver, std::span<LinkSums> sums);

    LinkConfig config_;
    Host host_;
    Air air_;
    std::optional<BlockSource> blocks_;  ///< with coding
    Transmitter transmitter_;
    std::vector<Receiver> receivers_;
    SymbolMeter measure_symbols_;
    std::vector<SoftBitMeter> measure_soft_bits_;
    std::vector<BlockMeter> measure_blocks_;  ///< with coding
    std::vector<std::uint8_t> bits_;
};

}  // namespace phy::apps

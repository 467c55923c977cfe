#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "link_sim/link.hpp"
#include "link_sim/statistics.hpp"
#include "transmission/channel.hpp"
#include "transmission/transmitter.hpp"

namespace phy::apps {

/// Sends slots of a point through a channel and measures each receiver's output. A slot depends on the seed,
/// the modulation, the SNR and its number only. All receivers get the same slots.
class Trial {
public:
    explicit Trial(const LinkConfig& config);

    /// sums: one per receiver, (known, soft_bits) of LinkConfig.
    void run(std::uint64_t slot, std::span<LinkSums> sums);

private:
    void measure(Receiver& receiver, std::span<LinkSums> sums);

    LinkConfig config_;
    Host host_;
    Channel channel_;
    Transmitter transmitter_;
    std::vector<Receiver> receivers_;
    SymbolMeter measure_symbols_;
    std::vector<SoftBitMeter> measure_soft_bits_;
    std::vector<std::uint8_t> bits_;
    std::vector<float> coefficients_;
    std::vector<cf32> received_;
};

}  // namespace phy::apps

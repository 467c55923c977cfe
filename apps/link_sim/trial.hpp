#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "link_sim/link.hpp"
#include "link_sim/statistics.hpp"
#include "transmission/channel.hpp"
#include "transmission/transmitter.hpp"

namespace phy::apps {

/// Sends slots of a point through a channel, and measures what each receiver makes of them. A slot is drawn
/// from the seed, the modulation, the SNR and its number alone, and all receivers hear the same.
class Trial {
public:
    explicit Trial(const LinkConfig& config);

    /// sums: of each receiver, (known, soft_bits) of LinkConfig.
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

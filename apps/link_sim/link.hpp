#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "link_sim/channel.hpp"
#include "link_sim/statistics.hpp"
#include "phy/phy.hpp"

/// The example of how to link a chain: from bits to soft bits, with what phy has for each step.
namespace phy::apps {

/// What a receiver is told and need not estimate.
struct Knowledge {
    bool channel = false;
    bool noise = false;
};

/// "channel", "noise", "channel,noise" or "none".
std::string_view to_string(const Knowledge& known);

/// "mmse", "zero-forcing".
std::string_view to_string(Equalization equalization);

/// How soft bits are made.
struct SoftBitChoice {
    Method method = Method::max_log;
    SoftBitFormat format = SoftBitFormat::float32;
    float scale = 6.0F;  ///< int8: least significant bits a nat
};

/// A point of a curve, and who receives it.
struct LinkConfig {
    Modulation modulation = Modulation::qpsk;
    double snr_db = 0.0;  ///< the power of all layers at an antenna over that of its noise
    SlotAllocation allocation;
    Channel::Config channel;
    Equalization equalization = Equalization::mmse;
    std::vector<Knowledge> known;          ///< each equalises
    std::vector<SoftBitChoice> soft_bits;  ///< each demaps what each of those has equalised
    std::uint64_t seed = 1;

    [[nodiscard]] std::size_t receivers() const { return known.size() * soft_bits.size(); }
};

/// Interim
class Link {
public:
    explicit Link(const LinkConfig& config);
    void simulate(std::uint64_t slot, std::span<LinkSums> sums);

private:
    LinkConfig config_;
    Host host_;
    Mapper map_;
    SymbolMeter measure_;
    std::vector<SoftDemapper> demap_;
};

}  // namespace phy::apps

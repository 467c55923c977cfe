#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/machine/host.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/receiver/acquisition/fourier.hpp"
#include "phy/receiver/acquisition/samples.hpp"
#include "phy/receiver/link.hpp"

namespace phy::detail {

/// A DM-RS symbol in time, without its prefix, as it appears in samples of a capture.
struct DmrsReference {
    std::size_t begin = 0;                 ///< samples from the start of the slot
    std::vector<std::vector<cf32>> kinds;  ///< one per CDM group and code in frequency, each of unit energy
};

/// The references of a slot's first DM-RS symbols, at most four, with the link's OFDM. Codes in time differ
/// by a sign only, which does not affect powers.
std::vector<DmrsReference> make_references(const Host& host, const Link& link, const OfdmConfig& ofdm,
                                           int slot);

/// Correlates samples with DM-RS symbols, by overlap-save.
class DmrsCorrelator {
public:
    explicit DmrsCorrelator(std::vector<DmrsReference> references);

    /// For slots that begin at samples first, first + 1 ...: the share of power that matches DM-RS, over all
    /// antennas, kinds of pilots and DM-RS symbols.
    [[nodiscard]] std::vector<float> operator()(const AntennaSamples& samples, std::int64_t first,
                                                std::size_t count);

private:
    struct Spectrum {
        std::vector<float> re;
        std::vector<float> im;
    };

    void load(const AntennaSamples& samples, std::size_t antenna, std::int64_t first);
    void add_powers(const Spectrum& reference, std::span<float> powers);

    std::vector<DmrsReference> references_;
    std::size_t size_ = 0;  ///< per reference
    FourierTransform transform_;
    std::vector<std::vector<Spectrum>> spectra_;  ///< by symbol and kind, conjugated
    Spectrum block_;
    Spectrum product_;
};

}  // namespace phy::detail

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/receiver/acquisition/fourier.hpp"
#include "phy/receiver/acquisition/reference.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {

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

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "estimator/random_profile.hpp"
#include "estimator/tap_wiener.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"
#include "transmission/channel.hpp"

/// What ChannelEstimator costs on a channel, beside Wiener filters that know more.
namespace phy_test {

/// Equalised symbols, (data elements, layers), each with the variance of its noise.
struct EqualizedSymbols {
    std::vector<phy::cf32> symbols;
    std::vector<float> noise;
};

/// The MMSE equaliser of chain_reference.hpp with the channel of a reference filter. grid: (antennas,
/// symbols, subcarriers).
EqualizedSymbols equalized_by_reference(const phy::SlotAllocation& allocation, int antennas,
                                        const TapWiener::Estimate& estimate, double noise_variance,
                                        std::span<const phy::cf32> grid);

/// How good the reception of a slot is.
struct ReceptionQuality {
    double channel_error = 0.0;  ///< of coefficients, over their mean power
    /// Rms of the MMSE estimates of symbols less the symbols sent. These are the equalised symbols over 1 +
    /// the variance of their noise: without that bias a few faded elements would decide.
    double evm = 0.0;
    double information = 0.0;  ///< of max-log soft bits, in bits per symbol
};

/// The same slot by three receivers.
struct ProfileLoss {
    ReceptionQuality phy;    ///< phy::ChannelEstimator, phy::Equalizer
    ReceptionQuality genie;  ///< Wiener filter that knows delays and mean powers of all taps, timing and N0
    ReceptionQuality flat;   ///< Wiener filter for a flat profile over +-1/2 prefix that knows N0

    [[nodiscard]] double evm_over_genie_db() const;
    [[nodiscard]] double evm_over_flat_db() const;
};

/// A drawn case, to be sent at several SNRs.
class ProfileTrial {
public:
    /// Throws ArgumentError if the estimator refuses the allocation.
    explicit ProfileTrial(const ProfileCase& drawn);

    /// snr_db: power of all layers over noise at an antenna. The modulation is one that suits the SNR.
    [[nodiscard]] ProfileLoss run(double snr_db);

private:
    struct Slot;

    [[nodiscard]] Slot send(double snr_db) const;
    [[nodiscard]] ReceptionQuality receive(const Slot& slot);
    [[nodiscard]] ReceptionQuality receive_with(const TapWiener& filter, const Slot& slot) const;
    [[nodiscard]] ReceptionQuality quality_of(const Slot& slot, const EqualizedSymbols& received,
                                              double channel_error) const;

    ProfileCase drawn_;
    phy::apps::Channel channel_;
    std::vector<float> coefficients_;  ///< (antennas, layers, 2, subcarriers)
    std::vector<phy::cf32> pilots_;
    TapWiener genie_;
    TapWiener flat_;
    phy::ChannelEstimator estimate_;
    phy::Equalizer equalize_;
};

}  // namespace phy_test

#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "phy/receiver/acquisition/fourier.hpp"
#include "phy/receiver/acquisition/samples.hpp"
#include "phy/receiver/chain/plan.hpp"

namespace phy::detail {

/// A frequency offset, and its standard deviation over symbols, in Hz; infinite if they are too few.
struct PrefixFrequency {
    double hertz = 0.0;
    double deviation = 0.0;

    /// True if noise may explain the difference from another frequency.
    [[nodiscard]] bool may_be(double other) const;
    [[nodiscard]] bool is_certain() const { return !may_be(0.0); }
};

/// Prefixes whose frequency has a larger deviation, over the subcarrier spacing, agree by chance: there are
/// none. By chance it is at least this in 99 of 100 recordings.
inline constexpr double max_prefix_deviation = 0.05;

/// From terms of PrefixCorrelator, without those of strong samples and short bursts.
PrefixFrequency frequency_of(std::vector<std::complex<double>> terms, double subcarrier_spacing);

/// Compares cyclic prefixes with the samples that they repeat, on the subcarriers of an allocation only:
/// neighbours may be other transmitters. It uses the later half of each prefix, which has the least
/// interference from the previous symbol.
class PrefixCorrelator {
public:
    explicit PrefixCorrelator(const ReceiverPlan& plan);

    /// Appends a term for each symbol of a slot: the sum of conj(prefix) x end over antennas. Its phase is
    /// 2 pi f N, where f is the frequency offset in turns per sample. samples: (antennas,
    /// ReceiverPlan::input); the signal is `late` samples late.
    void operator()(SymbolView samples, std::uint64_t slot, std::int64_t late,
                    std::vector<std::complex<double>>& terms);

private:
    void load(const AntennaSamples& samples, std::size_t antenna, std::int64_t first, std::size_t count,
              std::vector<float>& re, std::vector<float>& im);
    void choose_bins(const Link& link, const OfdmConfig& ofdm);

    OfdmTiming timing_;
    std::size_t antennas_;
    std::size_t length_;
    int first_symbol_;
    int symbols_;
    std::complex<double> phase_;  ///< phase of frequency_shift over N samples
    FourierTransform transform_;
    std::vector<bool> bins_;  ///< those of the allocation
    std::vector<float> re_[2];
    std::vector<float> im_[2];
};

}  // namespace phy::detail

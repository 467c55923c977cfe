#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/ofdm/ofdm_config.hpp"

namespace phy::apps {

/// The signal of OFDM symbols at any sample rate: their subcarriers are summed at the time of each sample,
/// without an FFT. It is that of OfdmModulator, with amplitudes divided by sample rate / subcarrier spacing.
class Waveform {
public:
    /// config: of the carrier, at a rate of an FFT, which sets the lengths of prefixes.
    Waveform(const OfdmConfig& config, double sample_rate);

    [[nodiscard]] const OfdmTiming& timing() const { return timing_; }

    /// Samples per sample of timing().
    [[nodiscard]] double scale() const { return sample_rate_ / config_.sample_rate; }

    /// Sample rate / subcarrier spacing.
    [[nodiscard]] double samples_per_symbol() const { return sample_rate_ / config_.subcarrier_spacing; }

    /// grid: (symbols, subcarriers) of an antenna; first: the time of the first sample, in samples after the
    /// start of the slot. Before and after the slot samples are 0.
    void make(std::span<const cf32> grid, std::uint64_t slot, double first, std::span<cf32> samples);

private:
    void add_symbol(std::span<const cf32> elements, std::uint64_t slot, std::size_t symbol, double first,
                    std::span<cf32> samples);

    OfdmConfig config_;
    OfdmTiming timing_;
    double sample_rate_;
    std::vector<std::complex<double>> steps_;  ///< from a subcarrier to the next, per sample
    std::vector<std::complex<double>> sums_;
};

}  // namespace phy::apps

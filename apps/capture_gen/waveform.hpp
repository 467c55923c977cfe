#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/ofdm/ofdm_config.hpp"

namespace phy::apps {

/// When samples are taken.
struct SampleTimes {
    double first = 0.0;  ///< of the first, in samples after the start of the slot
    double rate = 0.0;   ///< Hz
};

/// The signal of OFDM symbols at any sample rate: their subcarriers are summed at the time of each sample,
/// without an FFT. It is that of OfdmModulator, with amplitudes divided by sample rate / subcarrier spacing.
class Waveform {
public:
    /// config: of the carrier, at a rate of an FFT, which sets the lengths of prefixes.
    explicit Waveform(const OfdmConfig& config) : config_(config), timing_(config) {}

    [[nodiscard]] const OfdmTiming& timing() const { return timing_; }

    /// grid: (symbols, subcarriers) of an antenna. Before and after the slot samples are 0.
    void make(std::span<const cf32> grid, std::uint64_t slot, const SampleTimes& times,
              std::span<cf32> samples);

private:
    void add_symbol(std::span<const cf32> elements, std::uint64_t slot, std::size_t symbol,
                    const SampleTimes& times, std::span<cf32> samples);

    OfdmConfig config_;
    OfdmTiming timing_;
    std::vector<std::complex<double>> steps_;  ///< from a subcarrier to the next, per sample
    std::vector<std::complex<double>> sums_;
};

}  // namespace phy::apps

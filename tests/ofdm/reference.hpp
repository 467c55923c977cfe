#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/ofdm/ofdm_config.hpp"
#include "support/reference_dft.hpp"

/// Transforms and OFDM in binary64, independent of the library.
namespace phy_test {

inline double power_of(const Points& x) {
    double power = 0.0;
    for (const std::complex<double>& point : x)
        power += std::norm(point);
    return power;
}

/// The rms of the error over the rms of the truth.
template <typename Range>
double relative_error(const Range& values, const Points& truth) {
    double error = 0.0;
    for (std::size_t i = 0; i < truth.size(); ++i)
        error += std::norm(std::complex<double>(values[i]) - truth[i]);
    return std::sqrt(error / power_of(truth));
}

/// The library's max error of a transform of N points, relative to the rms of the output.
inline double transform_error(std::size_t size) {
    return 3e-8 * std::log2(static_cast<double>(size));
}

/// The library's max error of phases.
inline constexpr double phase_error = 2e-7;

/// A symbol's position by clause 5.3.1, in units of T_c = 1 / (480000 x 4096) s, kappa = 64.
struct ReferenceSymbol {
    std::size_t start;     ///< samples from the start of the slot
    std::size_t prefix;    ///< samples
    double end_of_prefix;  ///< samples from the start of the subframe
};

class ReferenceTiming {
public:
    explicit ReferenceTiming(const phy::OfdmConfig& config)
        : extended_(config.cyclic_prefix == phy::CyclicPrefix::extended),
          slots_(static_cast<int>(config.subcarrier_spacing / 15000.0)),
          rate_(config.sample_rate) {
        // By summing all symbols of a subframe.
        const int symbols = (extended_ ? 12 : 14) * slots_;
        std::int64_t at = 0;
        for (int l = 0; l < symbols; ++l) {
            starts_.push_back(at);
            prefixes_.push_back(prefix(l));
            at += prefix(l) + 2048 * 64 / slots_;
        }
        starts_.push_back(at);
    }

    [[nodiscard]] std::size_t symbols() const { return extended_ ? 12 : 14; }
    [[nodiscard]] std::size_t slots() const { return static_cast<std::size_t>(slots_); }

    [[nodiscard]] ReferenceSymbol symbol(std::uint64_t slot, std::size_t number) const {
        const std::size_t first = slot % slots() * symbols();
        const std::size_t l = first + number;
        return {samples(starts_[l] - starts_[first]), samples(prefixes_[l]),
                static_cast<double>(samples(starts_[l] + prefixes_[l]))};
    }

    [[nodiscard]] std::size_t slot_samples(std::uint64_t slot) const {
        const std::size_t first = slot % slots() * symbols();
        return samples(starts_[first + symbols()] - starts_[first]);
    }

    /// From slot 0 on.
    [[nodiscard]] std::size_t slot_start(std::uint64_t slot) const {
        return slot / slots() * samples(starts_.back()) + samples(starts_[slot % slots() * symbols()]);
    }

private:
    [[nodiscard]] std::int64_t prefix(int l) const {
        if (extended_) return 512 * 64 / slots_;
        return 144 * 64 / slots_ + (l == 0 || l == 7 * slots_ ? 16 * 64 : 0);
    }
    [[nodiscard]] std::size_t samples(std::int64_t units) const {
        return static_cast<std::size_t>(
            std::llround(static_cast<double>(units) * rate_ / (480000.0 * 4096.0)));
    }

    bool extended_;
    int slots_;
    double rate_;
    std::vector<std::int64_t> starts_;
    std::vector<std::int64_t> prefixes_;
};

/// The grid (slots, symbols, subcarriers) of an antenna's samples, which begin at the first slot.
inline Points reference_grid(const phy::OfdmDemodulatorConfig& given, const Points& samples,
                             std::uint64_t first_slot, std::size_t slots) {
    const phy::OfdmConfig& config = given.ofdm;
    const ReferenceTiming timing(config);
    const std::size_t prefix = timing.symbol(0, 1).prefix;
    const std::size_t offset =
        given.window_offset ? static_cast<std::size_t>(*given.window_offset) : prefix / 2;
    const auto size = static_cast<std::size_t>(std::llround(config.sample_rate / config.subcarrier_spacing));
    const ReferenceDft dft(size, -1.0);
    Points bins;
    Points grid;
    std::size_t start_of_slot = 0;
    for (std::uint64_t slot = first_slot; slot < first_slot + slots; ++slot) {
        for (std::size_t l = 0; l < timing.symbols(); ++l) {
            const ReferenceSymbol symbol = timing.symbol(slot, l);
            const std::size_t window = symbol.start + symbol.prefix - offset;
            Points x(size);
            for (std::size_t i = 0; i < size; ++i) {
                const auto time = static_cast<double>(timing.slot_start(slot) + window + i);
                x[i] =
                    samples[start_of_slot + window + i] *
                    turns(std::fmod(config.frequency_shift * time, config.sample_rate) / config.sample_rate);
            }
            dft(x, bins);
            const std::complex<double> phase =
                turns(std::fmod(config.center_frequency / config.sample_rate * symbol.end_of_prefix, 1.0));
            const int zero = 6 * config.resource_blocks - config.k0;
            for (int i = 0; i < 12 * config.resource_blocks; ++i) {
                const int frequency = i - zero;
                const auto bin = static_cast<std::size_t>(frequency + static_cast<int>(size)) % size;
                const auto ramp = turns(static_cast<double>(frequency) * static_cast<double>(offset) /
                                        static_cast<double>(size));
                grid.push_back(bins[bin] * phase * ramp);
            }
        }
        start_of_slot += timing.slot_samples(slot);
    }
    return grid;
}

}  // namespace phy_test

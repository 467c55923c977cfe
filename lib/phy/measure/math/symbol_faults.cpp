#include "phy/measure/symbol_faults.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy {
namespace {

namespace elementary = detail::elementary;
using Complex = std::complex<double>;

constexpr std::uint64_t min_symbols = 256;
/// Max squared EVM without the fault, as a share of that with it.
constexpr double clear_share = 0.7;
constexpr double negligible = 1e-4;
/// One phase explains blocks of different phases if its squared EVM is at most so many times larger.
constexpr double same_phase = 1.3;

/// Blocks, frequencies and fractions of their steps in the search for a rotation.
constexpr std::size_t searched_blocks = 2;
constexpr std::size_t frequencies = 1024;
constexpr int fractions = 64;
/// Decisions that are at least this share as bad as those of noise may be those of a rotation.
constexpr double hopeless_share = 0.25;
constexpr int refinements = 2;

constexpr double degrees = 180.0 / std::numbers::pi;

/// Frequency in turns per symbol and phase in turns of a block.
struct Turning {
    double frequency = 0.0;
    double phase = 0.0;
};

class FaultFinder {
public:
    FaultFinder(const Host& host, Modulation modulation, std::span<const cf32> symbols, std::size_t block)
        : modulation_(modulation),
          meter_(host, {.modulation = modulation}),
          symbols_(symbols),
          block_(block),
          power_(bits_per_symbol(modulation) == 1 ? 2 : 4) {}

    SymbolFaults operator()() {
        const SymbolSums sums = meter_(symbols_);
        if (sums.symbols < min_symbols) return {};
        ratio_ = sums.error / sums.decided;
        if (!(ratio_ > negligible)) return {};
        best_ratio_ = clear_share * ratio_;
        try_offset(sums);
        if (bits_per_symbol(modulation_) > 1) try_imbalance(sums);
        try_rotation();
        return found_;
    }

private:
    [[nodiscard]] double ratio_of(std::span<const cf32> symbols) {
        const SymbolSums sums = meter_(symbols);
        return sums.error / sums.decided;
    }

    void take(double ratio, const SymbolFaults& fault) {
        if (!(ratio < best_ratio_)) return;
        best_ratio_ = ratio;
        found_ = fault;
    }

    /// With each symbol changed.
    template <typename Change>
    [[nodiscard]] std::vector<cf32> changed(Change change) const {
        std::vector<cf32> result;
        result.reserve(symbols_.size());
        for (const cf32 symbol : symbols_)
            result.emplace_back(change(Complex(symbol)));
        return result;
    }

    void try_offset(const SymbolSums& sums);
    void try_imbalance(const SymbolSums& sums);
    void try_rotation();

    [[nodiscard]] std::span<const cf32> block_of(std::size_t index) const {
        const std::size_t first = index * block_;
        return symbols_.subspan(first, std::min(block_, symbols_.size() - first));
    }
    [[nodiscard]] std::vector<Complex> powers_of(std::size_t index) const;
    [[nodiscard]] double find_frequency(const std::vector<std::vector<Complex>>& powers) const;
    [[nodiscard]] static Complex sum_at(std::span<const Complex> powers, double frequency);
    [[nodiscard]] std::vector<cf32> turned_back(std::size_t index, const Turning& turning) const;
    void refine(std::size_t index, Turning& turning);

    Modulation modulation_;
    SymbolMeter meter_;
    std::span<const cf32> symbols_;
    std::size_t block_;
    int power_;  ///< of symbols, which removes their modulation
    double ratio_ = 0.0;
    double best_ratio_ = 0.0;
    SymbolFaults found_;
};

void FaultFinder::try_offset(const SymbolSums& sums) {
    const auto count = static_cast<double>(sums.symbols);
    const Complex mean(sums.i / count, sums.q / count);
    const double power = (sums.ii + sums.qq) / count;
    const double rest = power - std::norm(mean);
    if (!(rest > 0.0)) return;
    const double factor = std::sqrt(power / rest);
    const std::vector<cf32> without = changed([&](Complex symbol) { return factor * (symbol - mean); });
    take(ratio_of(without),
         {.fault = SymbolFault::offset, .offset_i = factor * mean.real(), .offset_q = factor * mean.imag()});
}

void FaultFinder::try_imbalance(const SymbolSums& sums) {
    const SymbolMeasurement measured = measurement_of(sums, meter_.config(), SampleFormat::cf32);
    const auto count = static_cast<double>(sums.symbols);
    const double ii = sums.ii / count;
    const double qq = sums.qq / count;
    const double iq = sums.iq / count;
    const double area = std::sqrt(std::max(ii * qq - iq * iq, 0.0));
    // The inverse root of the covariance, of the same mean power.
    const double sum = std::sqrt(ii + qq + 2.0 * area);
    const double factor = std::sqrt(0.5 * (ii + qq)) / (area * sum);
    const std::vector<cf32> without = changed([&](Complex symbol) {
        return factor * Complex((qq + area) * symbol.real() - iq * symbol.imag(),
                                (ii + area) * symbol.imag() - iq * symbol.real());
    });
    take(ratio_of(without), {.fault = SymbolFault::imbalance,
                             .iq_gain_db = measured.iq_gain_db,
                             .iq_phase_deg = measured.iq_phase_deg});
}

/// The powers of a block's symbols: real and positive without a rotation, in the mean.
std::vector<Complex> FaultFinder::powers_of(std::size_t index) const {
    std::vector<Complex> powers;
    for (const cf32 symbol : block_of(index)) {
        Complex value(symbol);
        if (!std::isfinite(std::norm(value))) value = 0.0;
        value *= value;
        const bool is_odd = powers.size() % 2 != 0;
        if (power_ == 4)
            value *= -value;
        else
            value *= Complex(0.0, modulation_ == Modulation::pi2_bpsk && is_odd ? 1.0 : -1.0);
        powers.push_back(value);
    }
    return powers;
}

Complex FaultFinder::sum_at(std::span<const Complex> powers, double frequency) {
    const Complex step = elementary::turn(-frequency);
    Complex phasor = 1.0;
    Complex sum = 0.0;
    for (const Complex value : powers) {
        sum += value * phasor;
        phasor *= step;
    }
    return sum;
}

/// Of the powers, in turns per symbol.
double FaultFinder::find_frequency(const std::vector<std::vector<Complex>>& powers) const {
    const auto strength = [&](double frequency) {
        double sum = 0.0;
        for (std::size_t i = 0; i < std::min(searched_blocks, powers.size()); ++i)
            sum += std::norm(sum_at(powers[i], frequency));
        return sum;
    };
    constexpr double step = 1.0 / static_cast<double>(frequencies);
    double best = 0.0;
    double most = strength(0.0);
    const auto try_frequency = [&](double frequency) {
        const double here = strength(frequency);
        if (!(here > most)) return;
        most = here;
        best = frequency;
    };
    for (std::size_t i = 1; i < frequencies; ++i)
        try_frequency(static_cast<double>(i) * step - (2 * i > frequencies ? 1.0 : 0.0));
    const double middle = best;
    for (int i = -fractions + 1; i < fractions; ++i)
        try_frequency(middle + i * step / fractions);
    return best;
}

std::vector<cf32> FaultFinder::turned_back(std::size_t index, const Turning& turning) const {
    const Complex step = elementary::turn(-turning.frequency);
    Complex phasor = elementary::turn(-turning.phase);
    std::vector<cf32> result;
    for (const cf32 symbol : block_of(index)) {
        result.emplace_back(Complex(symbol) * phasor);
        phasor *= step;
    }
    return result;
}

/// By decisions: the phases of both halves.
void FaultFinder::refine(std::size_t index, Turning& turning) {
    const std::vector<cf32> symbols = turned_back(index, turning);
    const std::size_t half = symbols.size() / 4 * 2;
    if (half == 0) return;
    const auto phase_of = [&](std::span<const cf32> part) {
        return measurement_of(meter_(part), meter_.config(), SampleFormat::cf32).phase_deg / 360.0;
    };
    const double first = phase_of(std::span(symbols).first(half));
    const double second = phase_of(std::span(symbols).subspan(half));
    if (!std::isfinite(first) || !std::isfinite(second)) return;
    const double slope = 2.0 * (second - first) / static_cast<double>(symbols.size());
    turning.frequency += slope;
    turning.phase += first - 0.5 * static_cast<double>(half) * slope;
}

void FaultFinder::try_rotation() {
    const std::size_t blocks = (symbols_.size() + block_ - 1) / block_;
    std::vector<std::vector<Complex>> powers;
    for (std::size_t i = 0; i < blocks; ++i)
        powers.push_back(powers_of(i));
    const ExpectedDecisions noise = expected_decisions(modulation_, {.gain = 0.0, .noise_variance = 1.0});
    const bool may_rotate = ratio_ > hopeless_share * noise.error / noise.decided;
    const double frequency = may_rotate ? find_frequency(powers) : 0.0;
    std::vector<cf32> by_block;
    Complex mean = 0.0;
    for (std::size_t i = 0; i < blocks; ++i) {
        const double phase = elementary::angle_of(sum_at(powers[i], frequency)) / (2.0 * std::numbers::pi);
        Turning turning = {.frequency = frequency / power_, .phase = phase / power_};
        for (int turn = 0; turn < refinements; ++turn)
            refine(i, turning);
        const std::vector<cf32> back = turned_back(i, turning);
        by_block.insert(by_block.end(), back.begin(), back.end());
        mean += elementary::turn(turning.phase * power_);
    }
    const double by_block_ratio = ratio_of(by_block);
    double phase = elementary::angle_of(mean) / power_;
    const auto turned = [&] {
        const Complex back = elementary::phasor(-phase);
        return changed([&](Complex symbol) { return symbol * back; });
    };
    for (int turn = 0; turn < refinements; ++turn) {
        const SymbolMeasurement left = measurement_of(meter_(turned()), meter_.config(), SampleFormat::cf32);
        if (std::isfinite(left.phase_deg)) phase += left.phase_deg / degrees;
    }
    const double once_ratio = ratio_of(turned());
    if (once_ratio <= same_phase * by_block_ratio)
        take(once_ratio, {.fault = SymbolFault::rotated, .phase_deg = phase * degrees});
    else
        take(by_block_ratio, {.fault = SymbolFault::rotating});
}

}  // namespace

SymbolFaults find_symbol_fault(const Host& host, Modulation modulation, std::span<const cf32> symbols,
                               std::size_t block) {
    detail::check_enum("modulation", modulation, all_modulations.back());
    if (block < 2 || block % 2 != 0)
        throw ArgumentError("block " + std::to_string(block) + ": expected an even number from 2 on");
    return FaultFinder(host, modulation, symbols, block)();
}

}  // namespace phy

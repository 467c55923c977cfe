#include "phy/measure/symbol_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "phy/core/check.hpp"
#include "phy/core/constellation.hpp"
#include "phy/core/error.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy {
namespace {

namespace elementary = detail::elementary;

constexpr int max_turns = 6;
constexpr double same_excess = 0.03;
constexpr double min_excess = 0.1;
/// Levels this much less likely than the nearest do not count.
constexpr double negligible = 30.0;

/// A coordinate against the levels of an axis with Gaussian noise.
struct AxisFit {
    double least = 0.0;  ///< the nearest level's distance^2
    double sum = 1.0;    ///< over levels, of exp((least - distance^2) / variance)
    double error = 0.0;  ///< expected distance^2

    [[nodiscard]] double log_sum(double variance) const {
        return (sum == 1.0 ? 0.0 : elementary::log(sum)) - least / variance;
    }
};

AxisFit fit_axis(double y, double unit, int levels, double variance) {
    const double top = levels - 1;
    const double nearest = std::clamp(2.0 * std::round((y / unit + top) / 2.0) - top, -top, top);
    const double least = (y - unit * nearest) * (y - unit * nearest);
    double sum = 1.0;
    double error = least;
    const auto add = [&](double level) {
        const double distance = (y - unit * level) * (y - unit * level);
        const double exponent = (distance - least) / variance;
        if (exponent > negligible) return false;
        const double weight = elementary::exp(-exponent);
        sum += weight;
        error += weight * distance;
        return true;
    };
    for (double level = nearest + 2.0; level <= top && add(level); level += 2.0) {
    }
    for (double level = nearest - 2.0; level >= -top && add(level); level -= 2.0) {
    }
    return {.least = least, .sum = sum, .error = error / sum};
}

class Fitter {
public:
    Fitter(std::span<const cf32> symbols, std::span<const float> noise, std::size_t codeword,
           std::size_t step, Modulation modulation)
        : symbols_(symbols),
          noise_(noise),
          codeword_(codeword),
          step_(step),
          modulation_(modulation),
          is_diagonal_(bits_per_symbol(modulation) == 1),
          levels_(1 << bits_per_axis(modulation)),
          unit_(axis_unit(modulation)) {}

    SymbolFit operator()() {
        measure_power();
        SymbolFit fit;
        fit.bits.assign((symbols_.size() + step_ - 1) / step_, 0.0);
        if (count_ == 0.0) return fit;
        for (int turn = 0; turn < max_turns; ++turn) {
            // Expectation maximisation.
            double error = 0.0;
            visit([&](const Symbol& symbol) { error += error_of(symbol, fit.excess) / symbol.n0; });
            const double better = std::max(error / count_, min_excess);
            const bool is_last = std::fabs(better - fit.excess) < same_excess * fit.excess;
            fit.excess = better;
            if (is_last) break;
        }
        double sum = 0.0;
        visit([&](const Symbol& symbol) {
            const double likelihood = log_likelihood(symbol, fit.excess);
            fit.bits[symbol.index] = (likelihood - log_gaussian(symbol, power_)) / std::numbers::ln2;
            sum += likelihood - log_gaussian(symbol, 1.0 + fit.excess * symbol.n0);
        });
        fit.evidence = sum / count_ / std::numbers::ln2;
        return fit;
    }

private:
    struct Symbol {
        std::size_t index;
        double i;  ///< of diagonal constellations: along and across the diagonal
        double q;
        double n0;
        double power;
    };

    template <typename Visitor>
    void visit(Visitor visitor) const {
        for (std::size_t n = 0; n < symbols_.size(); n += step_) {
            const double n0 = noise_[n];
            double i = symbols_[n].real();
            double q = symbols_[n].imag();
            const double power = i * i + q * q;
            if (!(n0 > 0.0 && std::isfinite(n0) && std::isfinite(power))) continue;
            if (is_diagonal_) {
                if (modulation_ == Modulation::pi2_bpsk && n % codeword_ % 2 != 0) i = -i;
                const double along = (i + q) * 0.5 * std::numbers::sqrt2;
                q = (i - q) * 0.5 * std::numbers::sqrt2;
                i = along;
            }
            visitor(Symbol{.index = n / step_, .i = i, .q = q, .n0 = n0, .power = power});
        }
    }

    void measure_power() {
        visit([this](const Symbol& symbol) {
            power_ += symbol.power;
            count_ += 1.0;
        });
        power_ /= std::max(count_, 1.0);
    }

    [[nodiscard]] double error_of(const Symbol& symbol, double excess) const {
        const double variance = excess * symbol.n0;
        const double i = axis(symbol.i, variance).error;
        return i + (is_diagonal_ ? symbol.q * symbol.q : axis(symbol.q, variance).error);
    }

    /// Both without the factor 1 / pi.
    [[nodiscard]] static double log_gaussian(const Symbol& symbol, double variance) {
        return -symbol.power / variance - elementary::log(variance);
    }
    [[nodiscard]] double log_likelihood(const Symbol& symbol, double excess) const {
        const double variance = excess * symbol.n0;
        const double i = axis(symbol.i, variance).log_sum(variance);
        const double q =
            is_diagonal_ ? -symbol.q * symbol.q / variance : axis(symbol.q, variance).log_sum(variance);
        const double points = static_cast<double>(bits_per_symbol(modulation_)) * std::numbers::ln2;
        return i + q - points - elementary::log(variance);
    }

    [[nodiscard]] AxisFit axis(double y, double variance) const {
        return fit_axis(y, is_diagonal_ ? 1.0 : unit_, levels_, variance);
    }

    std::span<const cf32> symbols_;
    std::span<const float> noise_;
    std::size_t codeword_;
    std::size_t step_;
    Modulation modulation_;
    bool is_diagonal_;
    int levels_;
    double unit_;
    double count_ = 0.0;
    double power_ = 0.0;
};

}  // namespace

bool SymbolFit::is_better_than(const SymbolFit& other, double min_bits) const {
    detail::check_size("bits", other.bits.size(), bits.size());
    constexpr double deviations = 6.0;
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const double more = bits[i] - other.bits[i];
        sum += more;
        squares += more * more;
    }
    const auto count = static_cast<double>(std::max<std::size_t>(bits.size(), 1));
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(squares / count - mean * mean, 0.0) / count);
    return mean > min_bits && mean > deviations * deviation;
}

SymbolFit fit_symbols(std::span<const cf32> symbols, std::span<const float> noise, std::size_t codeword,
                      std::size_t step, Modulation modulation) {
    detail::check_enum("modulation", modulation, all_modulations.back());
    detail::check_size("noise", noise.size(), symbols.size());
    if (codeword == 0 || step == 0) throw ArgumentError("codeword or step 0: expected at least 1");
    return Fitter(symbols, noise, codeword, step, modulation)();
}

}  // namespace phy

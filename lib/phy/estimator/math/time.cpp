#include "phy/estimator/math/time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "phy/dmrs/slot_allocation.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/numerics/matrix.hpp"

namespace phy::detail {
namespace {

/// The angle that the fastest path turns by from the first to the last DM-RS, of each set of weights.
constexpr std::array<double, max_time_changes> angles = {0.0, 0.012, 0.03, 0.07, 0.15, 0.3,
                                                         0.5, 0.8,   1.2,  1.8,  2.8,  4.2};

/// E|error|^2 of an estimate over the power of the channel.
constexpr std::array<double, max_time_errors> errors_of_estimates = {1e-5, 1e-4, 1e-3, 1e-2, 1e-1};

constexpr double two_pi = 6.283185307179586;

double middle(const DmrsConfig& dmrs, int estimate) {
    const auto first = static_cast<std::size_t>(estimate * dmrs.length);
    return 0.5 * (dmrs.symbols[first] + dmrs.symbols[first + static_cast<std::size_t>(dmrs.length) - 1]);
}

/// Symbols between neighbouring DM-RS.
std::vector<double> gaps_of(const DmrsConfig& dmrs, int estimates) {
    std::vector<double> gaps;
    for (int i = 0; i + 1 < estimates; ++i)
        gaps.push_back(middle(dmrs, i + 1) - middle(dmrs, i));
    return gaps;
}

/// The correlation of the channel over 0, 0.5, 1 ... 13.5 symbols. angle: of the fastest wave in one symbol.
class Correlation {
public:
    explicit Correlation(double angle) {
        for (std::size_t i = 0; i < at_.size(); ++i)
            at_[i] = elementary::bessel_j0(0.5 * angle * static_cast<double>(i));
    }

    double operator()(double symbols) const { return at_[static_cast<std::size_t>(2.0 * std::abs(symbols))]; }

private:
    std::array<double, 2 * symbols_per_slot> at_{};
};

std::vector<double> linear_weights(const DmrsConfig& dmrs, int estimates, int symbol) {
    std::vector<double> weights(static_cast<std::size_t>(estimates));
    int right = 0;
    while (right < estimates && middle(dmrs, right) < symbol)
        ++right;
    if (right == 0 || right == estimates) {
        weights[static_cast<std::size_t>(right == 0 ? 0 : estimates - 1)] = 1.0;
        return weights;
    }
    const double left_at = middle(dmrs, right - 1);
    const double share = (symbol - left_at) / (middle(dmrs, right) - left_at);
    weights[static_cast<std::size_t>(right - 1)] = 1.0 - share;
    weights[static_cast<std::size_t>(right)] = share;
    return weights;
}

/// The Wiener filter in time for estimates that are MMSE themselves: each is (1 - error) times the channel
/// and independent noise, E|noise|^2 / E|channel|^2 = error / (1 - error).
class WienerInTime {
public:
    WienerInTime(const DmrsConfig& dmrs, int estimates, const Correlation& correlation, double error)
        : dmrs_(dmrs),
          estimates_(static_cast<std::size_t>(estimates)),
          correlation_(correlation),
          gain_(1.0 / (1.0 - error)) {}

    /// Returns the weights of estimates times 1 - error.
    [[nodiscard]] std::vector<double> operator()(int symbol) const {
        Matrix a(estimates_, estimates_);
        for (std::size_t i = 0; i < estimates_; ++i)
            for (std::size_t k = 0; k < estimates_; ++k)
                a(i, k) = correlation_(at(i) - at(k)) + (i == k ? gain_ - 1.0 : 0.0);
        return solved(a, with(symbol));
    }

    [[nodiscard]] double gain() const { return gain_; }

    /// The squared error in a symbol with these weights and perfect estimates of a channel of power 1.
    [[nodiscard]] double error(int symbol, const std::vector<double>& weights) const {
        double sum = 1.0 - 2.0 * dot(weights, with(symbol));
        for (std::size_t i = 0; i < estimates_; ++i)
            for (std::size_t k = 0; k < estimates_; ++k)
                sum += weights[i] * weights[k] * correlation_(at(i) - at(k));
        return std::max(sum, 0.0);
    }

private:
    [[nodiscard]] double at(std::size_t estimate) const { return middle(dmrs_, static_cast<int>(estimate)); }
    [[nodiscard]] std::vector<double> with(int symbol) const {
        std::vector<double> result;
        for (std::size_t i = 0; i < estimates_; ++i)
            result.push_back(correlation_(symbol - at(i)));
        return result;
    }

    const DmrsConfig& dmrs_;
    std::size_t estimates_;
    const Correlation& correlation_;
    double gain_;
};

/// Errors in single resource blocks are those of a profile that is not measured: the same in all estimates,
/// so that sums of these have no less.
bool has_independent_errors(const EstimatorLayout& layout) {
    return std::ranges::any_of(layout.ranges, [](const EstimatorRange& range) { return range.blocks > 1; });
}

/// Adds a set of Wiener weights.
void add_set(EstimatorTime& time, const SlotAllocation& allocation, const WienerInTime& filter,
             bool has_independent_errors, std::size_t set) {
    double noise = 0.0;
    double error = 0.0;
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol) {
        const std::vector<double> weights = filter(symbol);
        for (const double weight : weights)
            time.weights.push_back(static_cast<float>(weight * filter.gain()));
        if (symbol < allocation.first_symbol || symbol >= allocation.first_symbol + allocation.symbols)
            continue;
        noise += dot(weights, weights);
        error += filter.error(symbol, weights);
    }
    const double noise_share = noise / allocation.symbols;
    time.sets.noise_share[set] =
        static_cast<float>(has_independent_errors ? noise_share : std::max(noise_share, 1.0));
    time.sets.error_share[set] = static_cast<float>(error / allocation.symbols);
}

/// The mean change over the gaps: 1 - correlation.
double change_of(const std::vector<double>& gaps, double angle) {
    const Correlation correlation(angle);
    double sum = 0.0;
    for (const double gap : gaps)
        sum += 1.0 - correlation(gap);
    return sum / static_cast<double>(gaps.size());
}

/// How much larger than its mean a change must be to tell of a Doppler shift. In a fade, a channel changes by
/// much of the little power that is left; the fewer paths from layers to antennas, the more slots are like
/// that.
double caution_of(const ChannelEstimatorConfig& config) {
    return 1.0 + 2.0 / (config.antennas * config.allocation.layers());
}

EstimatorTime wiener(const ChannelEstimatorConfig& config, const EstimatorLayout& layout) {
    const DmrsConfig& dmrs = config.allocation.dmrs;
    const std::vector<double> gaps = gaps_of(dmrs, layout.estimates);
    std::vector<double> per_symbol;
    if (config.doppler_spread) {
        per_symbol = {two_pi * double{*config.doppler_spread} * symbol_time(1) / config.subcarrier_spacing};
    } else {
        for (const double angle : angles)
            per_symbol.push_back(angle / sum_of(gaps));
    }
    EstimatorTime time;
    time.sets.changes = static_cast<int>(per_symbol.size());
    time.sets.errors = max_time_errors;
    for (std::size_t i = 0; i + 1 < per_symbol.size(); ++i)
        time.sets.least_change[i] = static_cast<float>(
            caution_of(config) * change_of(gaps, 0.75 * per_symbol[i] + 0.25 * per_symbol[i + 1]));
    for (std::size_t i = 0; i + 1 < errors_of_estimates.size(); ++i)
        time.sets.least_error[i] =
            static_cast<float>(std::sqrt(errors_of_estimates[i] * errors_of_estimates[i + 1]));
    std::size_t set = 0;
    for (const double angle : per_symbol) {
        const Correlation correlation(angle);
        for (const double error : errors_of_estimates)
            add_set(time, config.allocation, {dmrs, layout.estimates, correlation, error},
                    has_independent_errors(layout), set++);
    }
    return time;
}

}  // namespace

EstimatorTime make_estimator_time(const ChannelEstimatorConfig& config, const EstimatorLayout& layout) {
    if (config.time == TimeInterpolation::wiener && layout.estimates > 1) return wiener(config, layout);
    EstimatorTime time;
    time.sets.changes = time.sets.errors = 1;
    time.sets.noise_share[0] = 1.0F;
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol)
        for (const double weight : linear_weights(config.allocation.dmrs, layout.estimates, symbol))
            time.weights.push_back(static_cast<float>(weight));
    return time;
}

}  // namespace phy::detail

#include "common/error_rate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <boost/math/distributions/students_t.hpp>

namespace phy::apps {
namespace {

constexpr double normal_quantile = 1.959963984540054;  // of 97.5 %

/// quantile: of 97.5 % of the distribution of the rate.
ErrorRate wilson(double rate, double trials, double quantile) {
    const double squared = quantile * quantile / trials;
    const double center = rate + squared / 2.0;
    const double half = std::sqrt(squared * (rate * (1.0 - rate) + squared / 4.0));
    // (center - half) / (1 + squared) without cancellation.
    return {rate, rate * rate / (center + half), (center + half) / (1.0 + squared)};
}

/// trials: independent.
ErrorRate binomial(double rate, double trials) {
    if (!(trials > 0.0)) {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        return {unknown, unknown, unknown};
    }
    const double bound = -std::expm1(std::log(0.05) / trials);
    if (rate == 0.0) return {rate, 0.0, bound};
    if (rate == 1.0) return {rate, 1.0 - bound, 1.0};
    return wilson(rate, trials, normal_quantile);
}

/// Independent bits with the same variance of the rate; at most all, as chance can make the variance small.
double effective_bits(const BitErrorSums& sums, double rate) {
    if (sums.slots < 2) return sums.bits;
    const auto slots = static_cast<double>(sums.slots);
    const double squares = sums.errors_squared - 2.0 * rate * sums.product + rate * rate * sums.bits_squared;
    const double variance = slots / (slots - 1.0) * squares / (sums.bits * sums.bits);
    return rate * (1.0 - rate) >= variance * sums.bits ? sums.bits : rate * (1.0 - rate) / variance;
}

}  // namespace

ErrorRate error_rate(std::uint64_t errors, std::uint64_t trials) {
    const auto all = static_cast<double>(trials);
    return binomial(static_cast<double>(errors) / all, all);
}

BitErrorSums bit_error_sums(std::uint64_t errors, std::uint64_t bits) {
    if (bits == 0) return {};
    const auto e = static_cast<double>(errors);
    const auto b = static_cast<double>(bits);
    return {
        .slots = 1, .bits = b, .errors = e, .bits_squared = b * b, .errors_squared = e * e, .product = b * e};
}

BitErrorSums join(const BitErrorSums& left, const BitErrorSums& right) {
    return {.slots = left.slots + right.slots,
            .bits = left.bits + right.bits,
            .errors = left.errors + right.errors,
            .bits_squared = left.bits_squared + right.bits_squared,
            .errors_squared = left.errors_squared + right.errors_squared,
            .product = left.product + right.product};
}

ErrorRate error_rate(const BitErrorSums& sums, Independent independent) {
    const double rate = sums.errors / sums.bits;
    if (independent == Independent::bits) return binomial(rate, effective_bits(sums, rate));
    const ErrorRate by_slots = binomial(rate, static_cast<double>(sums.slots));
    const double with_errors = sums.errors * sums.errors / sums.errors_squared;
    if (!(with_errors >= 2.0) || rate == 1.0) return by_slots;
    const double quantile = boost::math::quantile(boost::math::students_t(with_errors - 1.0), 0.975);
    const ErrorRate by_spread = wilson(rate, effective_bits(sums, rate), quantile);
    return {rate, std::max(by_slots.low, by_spread.low), std::min(by_slots.high, by_spread.high)};
}

std::string rate_text(const ErrorRate& rate) {
    return rate.rate == 0.0 ? fmt::format("< {:.2g}", rate.high) : fmt::format("{:.4g}", rate.rate);
}

std::string interval_text(const ErrorRate& rate) {
    return fmt::format("{:.3g} to {:.3g}", rate.low, rate.high);
}

}  // namespace phy::apps

#include "phy/receiver/link/rate.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/receiver/link.hpp"

namespace phy {
namespace {

/// The filter's transition, at least and by choice, over the rate of its input.
constexpr double min_transition = 0.009;
constexpr double wanted_transition = 0.012;

/// Min output rate over the bandwidth: a longer filter would cost more than a larger FFT.
constexpr double min_oversampling = 1.1;

constexpr double max_decimation = 64.0;

/// On either side, in subcarriers.
constexpr double max_offset = 3.0;

/// Two-sided, of the carrier where it lies in the samples.
double bandwidth_of(const Link& link) {
    const double zero = 6.0 * link.allocation.carrier_resource_blocks - link.carrier.k0;
    const double above = 12.0 * link.allocation.carrier_resource_blocks - zero;
    return 2.0 * (std::max(zero, above) * link.carrier.subcarrier_spacing +
                  std::fabs(link.carrier.frequency_shift));
}

[[noreturn]] void fail_shift(const LinkCarrier& carrier, double of_carrier, const std::string& limit) {
    throw ArgumentError("carrier.frequency_shift is " + detail::number_text(carrier.frequency_shift) +
                        ": expected less at this sample rate: the carrier takes " +
                        detail::number_text(of_carrier) + " Hz around frequency 0, more than " + limit);
}

}  // namespace

namespace detail {

bool has_no_prime_above_5(int number) {
    for (const int prime : {2, 3, 5}) {
        while (number > 0 && number % prime == 0)
            number /= prime;
    }
    return number == 1;
}

std::optional<int> fft_size_at(double sample_rate, int subcarrier_spacing) {
    const double size = sample_rate / subcarrier_spacing;
    if (!(size >= fft_step && size <= largest_fft && std::trunc(size) == size)) return std::nullopt;
    const int whole = static_cast<int>(size);
    return whole % fft_step == 0 && has_no_prime_above_5(whole) ? std::optional(whole) : std::nullopt;
}

}  // namespace detail

ResamplerConfig resampler_config(const Link& link) {
    const LinkCarrier& carrier = link.carrier;
    if (!carrier.sample_rate)
        throw ArgumentError("carrier.sample_rate: missing; samples need it or an attribute sample_rate");
    const double rate = *carrier.sample_rate;
    const double spacing = carrier.subcarrier_spacing;
    const double of_carrier = bandwidth_of(link);
    const double max_bandwidth = rate * (1.0 - min_transition);
    const double bandwidth = std::min(of_carrier + 2.0 * max_offset * spacing, max_bandwidth);
    const bool is_fft_rate = detail::fft_size_at(rate, carrier.subcarrier_spacing).has_value();
    if (is_fft_rate && carrier.frequency_shift != 0.0 && of_carrier - spacing > rate)
        fail_shift(carrier, of_carrier, "the rate");
    if (is_fft_rate)
        return {.input_rate = rate,
                .output_rate = rate,
                .bandwidth = of_carrier <= max_bandwidth ? bandwidth : 0.0};
    if (!(of_carrier <= max_bandwidth))
        throw ArgumentError("carrier.sample_rate is " + detail::number_text(rate) + ": expected at least " +
                            detail::number_text(std::ceil(of_carrier / (1.0 - min_transition))) +
                            ", or the subcarrier spacing times an FFT size, for a carrier that takes " +
                            detail::number_text(of_carrier) + " Hz around frequency 0");
    const double min_rate =
        std::max({min_oversampling * bandwidth, bandwidth + wanted_transition * rate, rate / max_decimation});
    for (int size = detail::fft_step; size <= detail::largest_fft; size += detail::fft_step)
        if (size * spacing >= min_rate && detail::has_no_prime_above_5(size))
            return {.input_rate = rate, .output_rate = size * spacing, .bandwidth = bandwidth};
    fail_shift(carrier, of_carrier, "an FFT of 8192 points");
}

}  // namespace phy

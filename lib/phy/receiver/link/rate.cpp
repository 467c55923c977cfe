#include <algorithm>
#include <cmath>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/receiver/link.hpp"

namespace phy {
namespace {

constexpr int largest_fft = 8192;
constexpr int fft_step = 128;

/// The filter's transition, at least and by choice, over the rate of its input.
constexpr double min_transition = 0.009;
constexpr double wanted_transition = 0.012;

/// Min output rate over the bandwidth: a longer filter would cost more than a larger FFT.
constexpr double min_oversampling = 1.1;

constexpr double max_decimation = 64.0;

/// On either side, in subcarriers.
constexpr double max_offset = 3.0;

bool is_fft_rate(LinkCarrier carrier, double rate) {
    carrier.sample_rate = rate;
    try {
        static_cast<void>(fft_size(carrier));
        return true;
    } catch (const ArgumentError&) {
        return false;
    }
}

/// Two-sided, of the carrier where it lies in the samples.
double bandwidth_of(const Link& link) {
    const double zero = 6.0 * link.allocation.carrier_resource_blocks - link.carrier.k0;
    const double above = 12.0 * link.allocation.carrier_resource_blocks - zero;
    return 2.0 * (std::max(zero, above) * link.carrier.subcarrier_spacing +
                  std::fabs(link.carrier.frequency_shift));
}

}  // namespace

ResamplerConfig resampler_config(const Link& link) {
    const LinkCarrier& carrier = link.carrier;
    if (!carrier.sample_rate)
        throw ArgumentError("carrier.sample_rate: missing; samples need it or an attribute sample_rate");
    const double rate = *carrier.sample_rate;
    const double spacing = carrier.subcarrier_spacing;
    const double of_carrier = bandwidth_of(link);
    const double max_bandwidth = rate * (1.0 - min_transition);
    const double bandwidth = std::min(of_carrier + 2.0 * max_offset * spacing, max_bandwidth);
    if (is_fft_rate(carrier, rate))
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
    for (int size = fft_step; size <= largest_fft; size += fft_step)
        if (size * spacing >= min_rate && is_fft_rate(carrier, size * spacing))
            return {.input_rate = rate, .output_rate = size * spacing, .bandwidth = bandwidth};
    throw ArgumentError("carrier.frequency_shift is " + detail::number_text(carrier.frequency_shift) +
                        ": expected less at this sample rate: the carrier takes " +
                        detail::number_text(of_carrier) +
                        " Hz around frequency 0, more than an FFT of 8192 points");
}

}  // namespace phy

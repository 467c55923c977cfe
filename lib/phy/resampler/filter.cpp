#include "phy/resampler/filter.hpp"

#include <cmath>
#include <complex>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Attenuation of the stopband and of the passband's ripple, in dB, with room for the rounding of positions.
constexpr double attenuation = 86.0;

constexpr double max_taps = 640.0;
constexpr double max_ratio = 64.0;

/// Kaiser's formulas: the window's shape, and the taps of a transition in cycles per sample.
constexpr double shape = 0.1102 * (attenuation - 8.7);
double taps_for(double transition) {
    return (attenuation - 7.95) / (2.285 * 2.0 * pi * transition) + 1.0;
}

/// The modified Bessel function of order 0 of 2 sqrt(x).
double bessel(double x) {
    double sum = 1.0;
    double term = 1.0;
    for (double k = 1.0; term > 1e-17 * sum; ++k) {
        term *= x / (k * k);
        sum += term;
    }
    return sum;
}

void check(const ResamplerConfig& config) {
    const auto check_rate = [](const char* what, double rate) {
        if (!(rate > 0.0 && std::isfinite(rate)))
            throw ArgumentError(std::string(what) + " " + number_text(rate) +
                                ": expected a positive number of Hz");
    };
    check_rate("input_rate", config.input_rate);
    check_rate("output_rate", config.output_rate);
    check_rate("bandwidth", config.bandwidth);
    const double ratio = config.output_rate / config.input_rate;
    if (!(ratio <= max_ratio && ratio >= 1.0 / max_ratio))
        throw ArgumentError("output_rate " + number_text(config.output_rate) +
                            ": expected 1/64 to 64 times the input_rate " + number_text(config.input_rate));
}

}  // namespace

ResamplerPlan::ResamplerPlan(const ResamplerConfig& config) {
    check(config);
    const double smaller = std::fmin(config.input_rate, config.output_rate);
    const double transition = (smaller - config.bandwidth) / config.input_rate;
    const double wanted = transition > 0.0 ? taps_for(transition) : max_taps + 1.0;
    if (!(wanted <= max_taps))
        throw ArgumentError("bandwidth " + number_text(config.bandwidth) + ": expected at most " +
                            number_text(smaller - 0.009 * config.input_rate) + ", to pass at " +
                            number_text(smaller) + " samples per second");
    taps_ = (static_cast<std::uint32_t>(wanted) / partial_sums + 1) * partial_sums;
    step_ = static_cast<std::uint64_t>(std::llround(config.input_rate / config.output_rate * 0x1p32));
}

PolyphaseFilter::PolyphaseFilter(const ResamplerConfig& config) : ResamplerPlan(config) {
    // In the middle of the transition, in half-cycles per sample.
    const double cutoff = std::fmin(config.input_rate, config.output_rate) / config.input_rate;
    const double half = 0.5 * taps();
    const double of_middle = bessel(0.25 * shape * shape);
    const std::complex<double> back = elementary::turn(-0.5 * cutoff);
    coefficients_.resize(std::size_t{phases_of_sample} * taps());
    // The second half of the phases mirrors the first.
    for (std::uint32_t phase = 0; phase <= phases_of_sample / 2; ++phase) {
        float* const row = coefficients_.data() + std::size_t{phase} * taps();
        float* const mirrored = coefficients_.data() + std::size_t{phases_of_sample - phase} * taps();
        // From the sample of the first tap to the output.
        const double first = std::ldexp(phase, -static_cast<int>(phase_bits_of_sample)) + half - 1.0;
        std::complex<double> rotation = elementary::turn(std::remainder(0.5 * cutoff * first, 1.0));
        for (std::uint32_t tap = 0; tap < taps(); ++tap) {
            const double distance = first - tap;
            const double sinc = distance == 0.0 ? cutoff : rotation.imag() / (pi * distance);
            const double place = distance / half;
            const double window = bessel(0.25 * shape * shape * (1.0 - place * place)) / of_middle;
            row[tap] = static_cast<float>(sinc * window);
            if (phase > 0) mirrored[taps() - 1 - tap] = row[tap];
            rotation *= back;
        }
    }
}

ResampledSizes ResamplerPlan::checked_sizes(std::size_t rows, std::size_t inputs, std::size_t outputs) const {
    const auto of_row = [rows](const char* what, std::size_t size) {
        if (rows == 0 ? size != 0 : size % rows != 0)
            throw ArgumentError(std::string(what) + " has " + std::to_string(size) +
                                " elements: expected a multiple of the " + std::to_string(rows) + " rows");
        return rows == 0 ? 0 : size / rows;
    };
    const ResampledSizes sizes = {
        .rows = rows, .inputs = of_row("input", inputs), .outputs = of_row("output", outputs)};
    const std::uint64_t max_outputs = max_position / max_step();
    if (sizes.outputs > max_outputs)
        throw ArgumentError("output has " + std::to_string(sizes.outputs) +
                            " elements per row: expected at most " + std::to_string(max_outputs));
    return sizes;
}

}  // namespace phy::detail

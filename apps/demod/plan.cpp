#include "demod/plan.hpp"

#include <cmath>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace phy::apps {
namespace {

Modulation choose_modulation(const DemodOptions& options, const CaptureDescription& capture) {
    if (options.modulation) return *options.modulation;
    if (capture.modulation) return *capture.modulation;
    throw FileError(fmt::format("{}: {} has no attribute modulation: give --modulation", options.capture,
                                capture.dataset));
}

std::optional<float> choose_noise_variance(const DemodOptions& options, const CaptureDescription& capture) {
    if (options.noise_variance) return options.noise_variance;
    if (capture.has_noise_per_symbol) return std::nullopt;
    if (!capture.noise_variance)
        throw FileError(
            fmt::format("{}: {} has neither an attribute nor a dataset noise_variance: give --noise-variance",
                        options.capture, capture.dataset));
    if (!is_noise_variance(*capture.noise_variance))
        throw FileError(fmt::format("{}: {} has the noise_variance {}, expected a finite number above 0",
                                    options.capture, capture.dataset, *capture.noise_variance));
    return capture.noise_variance;
}

}  // namespace

bool is_noise_variance(float value) {
    return std::isfinite(value) && value > 0.0F;
}

DemodPlan make_plan(const DemodOptions& options, const CaptureDescription& capture) {
    DemodPlan plan;
    plan.modulation = choose_modulation(options, capture);
    plan.noise_variance = choose_noise_variance(options, capture);
    plan.soft_bits_per_symbol = bits_per_symbol(plan.modulation);
    plan.with_truth = capture.has_bits && capture.bits_per_symbol == plan.soft_bits_per_symbol;
    if (capture.has_bits && !plan.with_truth)
        spdlog::warn("{}: dataset bits has {} a symbol and {} has {}: no bit error rate", options.capture,
                     capture.bits_per_symbol, to_string(plan.modulation), plan.soft_bits_per_symbol);
    return plan;
}

}  // namespace phy::apps

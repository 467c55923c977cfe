#include "phy/demapper/plan.hpp"

#include <cmath>
#include <string>

#include "phy/core/check_enum.hpp"
#include "phy/core/check_size.hpp"
#include "phy/core/error.hpp"
#include "phy/core/number_text.hpp"

namespace phy::detail {
namespace {

void check_config(const SoftDemapper::Config& config) {
    check_enum("modulation", config.modulation, all_modulations.back());
    check_enum("method", config.method, Method::log_map);
    check_enum("evaluator", config.evaluator, Evaluator::table);
    if (!(config.llr_scale >= 1.0F / 64 && config.llr_scale <= 4096.0F)) {
        throw ArgumentError("llr_scale is " + number_text(config.llr_scale) + ": expected 1/64 to 4096");
    }
    if (config.llr_clip < 1 || config.llr_clip > 127) {
        throw ArgumentError("llr_clip is " + std::to_string(config.llr_clip) + ": expected 1 to 127");
    }
}

SoftDemapper::Config checked(const SoftDemapper::Config& config) {
    check_config(config);
    return config;
}

}  // namespace

Planner::Planner(const SoftDemapper::Config& config)
    : config_(checked(config)), bits_(axis_bits(config.modulation)) {}

TableKey Planner::key_for(float noise, SoftBitFormat format) const {
    return {bits_, config_.method, format, noise, config_.llr_scale, config_.llr_clip};
}

bool Planner::uses_closed_form(const NoiseVariance& noise, SoftBitFormat format) const {
    if (bits_ == 1 || config_.method == Method::max_log) return true;
    // The arithmetic evaluator gives the same bytes for a scalar N0 as for the same N0 per symbol.
    return config_.evaluator != Evaluator::arithmetic && !noise.is_per_symbol() &&
           format == SoftBitFormat::int8 && max_log_is_log_map(key_for(noise.scalar(), format));
}

std::optional<TableKey> Planner::table_for(const NoiseVariance& noise, SoftBitFormat format) const {
    if (bits_ == 1 || noise.is_per_symbol() || config_.evaluator == Evaluator::arithmetic) return {};
    if (config_.evaluator == Evaluator::automatic && config_.method == Method::max_log) return {};
    if (config_.method == Method::log_map && uses_closed_form(noise, format)) return {};
    const TableKey key = key_for(noise.scalar(), format);
    return entries_needed(key) <= static_cast<double>(largest_table) ? std::optional(key) : std::nullopt;
}

Plan Planner::make_plan(const NoiseVariance& noise, SoftBitFormat format) const {
    Plan plan;
    plan.format = format;
    plan.output = format == SoftBitFormat::int8 ? Output::int8 : Output::float32;
    const bool quantised = format == SoftBitFormat::int8;
    const float unit = quantised ? config_.llr_scale : 1.0F;
    const auto clip = static_cast<float>(config_.llr_clip);
    const float largest = quantised ? clip : format == SoftBitFormat::float16 ? largest_half : largest_llr;
    plan.closed_form = uses_closed_form(noise, format);
    if (plan.closed_form) {
        plan.gain = gain_law(bits_, unit, largest);
    } else {
        plan.gain = gain_law(bits_, 1.0, largest_llr);
        plan.nats = {unit, largest / unit};
    }
    if (!noise.is_per_symbol()) {
        const float n0 = noise.scalar();
        float scale[1 + padding];
        float limit[1 + padding];
        scalar_kernels().gains(&n0, 1, plan.gain, scale, limit);
        plan.scalar = {scale[0], limit[0]};
    }
    return plan;
}

void check_noise(const NoiseVariance& noise, std::size_t symbols) {
    if (noise.is_per_symbol()) {
        check_size("per-symbol noise variance", noise.values().size(), symbols);
    } else if (!(noise.scalar() > 0.0F) || !std::isfinite(noise.scalar())) {
        throw ArgumentError("noise variance is " + number_text(noise.scalar()) +
                            ": expected a finite positive number");
    }
}

float checked_full_scale(float full_scale) {
    if (full_scale != 0.0F &&
        !(full_scale > 0.0F && std::isnormal(full_scale) && std::isnormal(1.0F / full_scale))) {
        throw ArgumentError("full_scale is " + number_text(full_scale) +
                            ": expected a positive number with a normal reciprocal, or 0 for 2^(bits-1)");
    }
    return full_scale;
}

int checked_threads(int threads) {
    constexpr int most_threads = 1024;
    if (threads < 0 || threads > most_threads) {
        throw ArgumentError("threads is " + std::to_string(threads) + ": expected 0 (one a processor) to " +
                            std::to_string(most_threads));
    }
    return threads;
}

}  // namespace phy::detail

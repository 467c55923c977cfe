#include "phy/demapper/math/plan.hpp"

#include <cmath>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/core/error.hpp"
#include "phy/demapper/math/soft_bits-inl.h"
#include "phy/simd/ops-inl.h"

namespace phy::detail {
namespace {

bool has_normal_reciprocal(float number) {
    return std::isnormal(number) && std::isnormal(1.0F / number);
}

LlrConfig checked(const DemapperConfig& config) {
    check_config(config);
    return config.llr;
}

/// The magnitude at which soft bits saturate.
float largest_of(const LlrConfig& config, SoftBitFormat format) {
    if (format == SoftBitFormat::int8) return static_cast<float>(config.clip);
    return soft_bit_format_facts[static_cast<std::size_t>(format)].largest;
}

Gain gain_for(std::optional<float> noise, const GainRule& rule) {
    Gain gain{};
    const bool usable = noise && *noise > 0.0F && std::isfinite(*noise);
    if (usable) scalar::gain_of<scalar::Ops>(*noise, rule, gain.scale, gain.limit);
    return gain;
}

}  // namespace

BatchDemapperConfig without_modulation(const DemapperConfig& config) {
    return {.llr = config.llr, .full_scale = config.full_scale, .gain = config.gain};
}

void check_config(const DemapperConfig& config) {
    check_enum("modulation", config.modulation, all_modulations.back());
    check_config(without_modulation(config));
}

void check_config(const BatchDemapperConfig& config) {
    check_llr(config.llr);
    if (!(config.gain >= 0x1p-40F && config.gain <= 0x1p40F))
        throw ArgumentError("gain " + number_text(config.gain) + ": expected a number from 2^-40 to 2^40");
    const float full_scale = config.full_scale.value_for(SampleFormat::ci16);
    if (!has_normal_reciprocal(full_scale * config.gain)) {
        throw ArgumentError("full_scale " + number_text(full_scale) + " with gain " +
                            number_text(config.gain) + ": expected a product with a normal reciprocal");
    }
}

Planner::Planner(const DemapperConfig& config)
    : config_(checked(config)), bits_(static_cast<int>(bits_per_axis(config.modulation))) {}

TableKey Planner::key_for(float noise, SoftBitFormat format) const {
    return {bits_, config_.method, format, noise, config_.scale, config_.clip};
}

bool Planner::uses_closed_form(std::optional<float> noise, SoftBitFormat format) const {
    if (bits_ == 1 || config_.method == Method::max_log) return true;
    // The arithmetic evaluator gives the same bytes for a scalar N0 as for the same N0 per symbol.
    return config_.evaluator != Evaluator::arithmetic && noise && format == SoftBitFormat::int8 &&
           max_log_is_log_map(key_for(*noise, format));
}

std::optional<TableKey> Planner::table_for(std::optional<float> noise, SoftBitFormat format,
                                           bool closed_form) const {
    if (bits_ == 1 || !noise || config_.evaluator == Evaluator::arithmetic) return {};
    // A table of max-log, which has a closed form, is used only on request.
    if (closed_form && (config_.evaluator == Evaluator::automatic || config_.method == Method::log_map))
        return {};
    const TableKey key = key_for(*noise, format);
    return entries_needed(key) <= static_cast<double>(largest_table) ? std::optional(key) : std::nullopt;
}

Plan Planner::plan(std::optional<float> noise, SoftBitFormat format) const {
    Plan plan;
    plan.format = format;
    const bool closed_form = uses_closed_form(noise, format);
    plan.table = table_for(noise, format, closed_form);
    const float unit = format == SoftBitFormat::int8 ? config_.scale : 1.0F;
    const float largest = largest_of(config_, format);
    if (closed_form) {
        plan.gain = gain_rule(bits_, unit, largest);
    } else {
        plan.algorithm = Algorithm::log_sum;
        plan.gain = gain_rule(bits_, 1.0, largest_llr);
        plan.nats = {unit, largest / unit};
    }
    if (plan.table) plan.algorithm = Algorithm::table;
    plan.scalar = gain_for(noise, plan.gain);
    return plan;
}

Evaluator Planner::evaluator_for(std::optional<float> noise, SoftBitFormat format) const {
    check_enum("soft-bit format", format, all_soft_bit_formats.back());
    return table_for(noise, format, uses_closed_form(noise, format)) ? Evaluator::table
                                                                     : Evaluator::arithmetic;
}

void check_noise(std::optional<float> scalar, std::size_t values, std::size_t symbols) {
    if (!scalar) {
        check_size("per-symbol noise variance", values, symbols);
    } else if (!(*scalar > 0.0F) || !std::isfinite(*scalar)) {
        throw ArgumentError("noise variance is " + number_text(*scalar) +
                            ": expected a finite positive number");
    }
}

float unit_of(const BatchDemapperConfig& config, SampleFormat format) {
    return 1.0F / (config.full_scale.value_for(format) * config.gain);
}

std::vector<Planner> planners_of(const BatchDemapperConfig& config) {
    std::vector<Planner> planners;
    for (const Modulation modulation : all_modulations)
        planners.emplace_back(DemapperConfig{.modulation = modulation,
                                             .llr = config.llr,
                                             .full_scale = config.full_scale,
                                             .gain = config.gain});
    return planners;
}

}  // namespace phy::detail

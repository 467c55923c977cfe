#pragma once

#include <array>
#include <string_view>

#include "phy/core/check.hpp"
#include "phy/core/export.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/core/modulation.hpp"

namespace phy {

/// How an LLR combines the likelihoods of the constellation points.
enum class Method {
    max_log,  ///< L = (min over b=1 of |y-s|^2 - min over b=0 of |y-s|^2) / N0
    log_map,  ///< L = ln sum over b=0 of exp(-|y-s|^2/N0) - ln sum over b=1: the exact ratio
};

/// How an LLR is evaluated.
enum class Evaluator {
    automatic,   ///< the fastest one that meets the accuracy of SoftDemapper
    arithmetic,  ///< closed form (max-log) or direct log-sum-exp (log-MAP)
    table,       ///< table look-up by axis value; SoftDemapper says when it applies
};

/// "maxlog", "logmap"; "auto", "arithmetic", "table". The parsers throw ArgumentError, which lists the names.
PHY_EXPORT std::string_view to_string(Method method);
PHY_EXPORT std::string_view to_string(Evaluator evaluator);
PHY_EXPORT Method parse_method(std::string_view name);
PHY_EXPORT Evaluator parse_evaluator(std::string_view name);

/// How soft bits are computed and stored.
struct PHY_EXPORT LlrConfig {
    Method method = Method::max_log;
    Evaluator evaluator = Evaluator::automatic;
    float scale = 6.0F;  ///< int8: steps per nat, from 1/64 to 4096
    int clip = 127;      ///< int8: max magnitude of a soft bit, from 1 to 127

    friend bool operator==(const LlrConfig&, const LlrConfig&) = default;
};

namespace detail {

/// Throws ArgumentError if an enum value of the configuration is out of range.
inline void check_enums(const LlrConfig& config) {
    check_enum("method", config.method, Method::log_map);
    check_enum("evaluator", config.evaluator, Evaluator::table);
}

/// The same, and if a number is out of its range.
inline void check_llr(const LlrConfig& config) {
    check_enums(config);
    if (!(config.scale >= 1.0F / 64 && config.scale <= 4096.0F))
        throw ArgumentError("llr.scale is " + number_text(config.scale) + ": expected 1/64 to 4096");
    if (config.clip < 1 || config.clip > 127)
        throw ArgumentError("llr.clip is " + std::to_string(config.clip) + ": expected 1 to 127");
}

}  // namespace detail

/// The configuration of a demapper on every backend.
struct PHY_EXPORT DemapperConfig {
    Modulation modulation = Modulation::qpsk;
    LlrConfig llr = {};
    FullScale full_scale = {};
    float gain = 1.0F;  ///< amplitude of the constellation, from 2^-40 to 2^40; symbols are divided by it

    friend bool operator==(const DemapperConfig&, const DemapperConfig&) = default;
};

/// The configuration of a demapper of batches, where each allocation has its own modulation.
struct PHY_EXPORT BatchDemapperConfig {
    LlrConfig llr = {};
    FullScale full_scale = {};
    float gain = 1.0F;  ///< see DemapperConfig

    friend bool operator==(const BatchDemapperConfig&, const BatchDemapperConfig&) = default;
};

}  // namespace phy

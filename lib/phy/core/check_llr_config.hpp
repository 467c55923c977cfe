#pragma once

#include <string>

#include "phy/core/check_enum.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/core/error.hpp"
#include "phy/core/number_text.hpp"

namespace phy::detail {

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

}  // namespace phy::detail

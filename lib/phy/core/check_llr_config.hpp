#pragma once

#include "phy/core/check_enum.hpp"
#include "phy/core/demapper_config.hpp"

namespace phy::detail {

/// Throws ArgumentError if an enum value of the configuration is out of range.
inline void check_enums(const LlrConfig& config) {
    check_enum("method", config.method, Method::log_map);
    check_enum("evaluator", config.evaluator, Evaluator::table);
}

}  // namespace phy::detail

#pragma once

#include <array>
#include <string_view>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"

namespace phy {

/// How the likelihoods of the constellation points are combined.
enum class Method {
    max_log,  ///< L = (min over b=1 of |y-s|^2 - min over b=0 of |y-s|^2) / N0
    log_map,  ///< L = ln sum over b=0 of exp(-|y-s|^2/N0) - ln sum over b=1: the exact ratio
};

/// How an LLR is evaluated.
enum class Evaluator {
    automatic,   ///< the fastest that meets the accuracy of SoftDemapper
    arithmetic,  ///< closed form (max-log) or direct log-sum-exp (log-MAP)
    table,       ///< look-up by axis value; see SoftDemapper for when it applies
};

/// "maxlog", "logmap"; "auto", "arithmetic", "table". The parsers throw ArgumentError that lists the names.
PHY_EXPORT std::string_view to_string(Method method);
PHY_EXPORT std::string_view to_string(Evaluator evaluator);
PHY_EXPORT Method parse_method(std::string_view name);
PHY_EXPORT Evaluator parse_evaluator(std::string_view name);

/// What soft bits are: the configuration of every demapper, whatever it runs on, and of the files that hold
/// what one has made.
struct PHY_EXPORT DemapperConfig {
    Modulation modulation = Modulation::qpsk;  ///< of a batch, each allocation has its own instead
    Method method = Method::max_log;
    Evaluator evaluator = Evaluator::automatic;
    float llr_scale = 6.0F;   ///< int8: least significant bits a nat, from 1/64 to 4096
    int llr_clip = 127;       ///< int8: soft bits are limited to +-llr_clip, from 1 to 127
    float full_scale = 0.0F;  ///< integer samples: the value of 1.0; 0 means 2^(bits-1)
    float gain = 1.0F;        ///< amplitude of the constellation; symbols are divided by it; 2^-40 to 2^40

    friend bool operator==(const DemapperConfig&, const DemapperConfig&) = default;
};

}  // namespace phy

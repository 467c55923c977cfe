#pragma once

#include <optional>

#include "phy/demapper/demapper.hpp"
#include "phy/demapper/kernels.hpp"
#include "phy/demapper/table.hpp"

namespace phy::detail {

/// How all symbols of a call are evaluated.
struct Plan {
    SoftBitFormat format = SoftBitFormat::int8;
    Output output = Output::int8;
    const LlrTable* table = nullptr;  ///< if set, it serves, and what follows is unused
    bool closed_form = true;          ///< else log-sum-exp
    GainLaw gain{};                   ///< from N0 to the output, or to nats for log-sum-exp
    Gain nats{};                      ///< log-sum-exp: from nats to the output
    Gain scalar{};                    ///< the gain of the one N0, if there is one
};

/// Chooses between closed form, log-sum-exp and table, and keeps the table of the last N0.
class Planner {
public:
    /// Throws ArgumentError if a value of the configuration is out of its range.
    explicit Planner(const SoftDemapper::Config& config);

    [[nodiscard]] bool uses_table(const NoiseVariance& noise, SoftBitFormat format) const;

    /// The plan is good until the next.
    Plan make_plan(const NoiseVariance& noise, SoftBitFormat format);

private:
    [[nodiscard]] TableKey key_for(float noise, SoftBitFormat format) const;
    [[nodiscard]] bool uses_closed_form(const NoiseVariance& noise, SoftBitFormat format) const;

    SoftDemapper::Config config_;
    int bits_;
    std::optional<LlrTable> table_;
};

}  // namespace phy::detail

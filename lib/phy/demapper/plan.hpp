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

/// Chooses between closed form, log-sum-exp and table.
class Planner {
public:
    /// Throws ArgumentError if a value of the configuration is out of its range.
    explicit Planner(const SoftDemapper::Config& config);

    /// What the table is made for that serves a call, if one does.
    [[nodiscard]] std::optional<TableKey> table_for(const NoiseVariance& noise, SoftBitFormat format) const;

    /// A plan without a table; who has one that serves puts it in.
    [[nodiscard]] Plan make_plan(const NoiseVariance& noise, SoftBitFormat format) const;

private:
    [[nodiscard]] TableKey key_for(float noise, SoftBitFormat format) const;
    [[nodiscard]] bool uses_closed_form(const NoiseVariance& noise, SoftBitFormat format) const;

    SoftDemapper::Config config_;
    int bits_;
};

/// Throws ArgumentError unless a scalar N0 is finite and positive, or one a symbol has as many values as
/// there are symbols.
void check_noise(const NoiseVariance& noise, std::size_t symbols);

/// Throws ArgumentError unless full_scale is 0 or a positive number with a normal reciprocal.
float checked_full_scale(float full_scale);

/// Throws ArgumentError unless it is from 0 to 1024.
int checked_threads(int threads);

}  // namespace phy::detail

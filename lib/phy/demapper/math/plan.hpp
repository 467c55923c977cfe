#pragma once

#include <cstddef>
#include <optional>

#include "phy/core/demapper_config.hpp"
#include "phy/core/format.hpp"
#include "phy/demapper/math/formula.hpp"
#include "phy/demapper/math/table.hpp"

namespace phy::detail {

/// How all symbols of a call are evaluated.
struct Plan {
    SoftBitFormat format = SoftBitFormat::int8;
    Algorithm algorithm = Algorithm::closed_form;
    std::optional<TableKey> table = {};  ///< Algorithm::table: what it is made for
    GainRule gain{};                     ///< from N0 to the soft bit, or to nats for Algorithm::log_sum
    Gain nats{};                         ///< Algorithm::log_sum: from nats to the soft bit
    Gain scalar{};                       ///< the gain of the one N0, if there is one
};

/// Chooses between closed form, log-sum-exp and table, for one modulation.
class Planner {
public:
    /// Throws ArgumentError if a value of the configuration is out of its range.
    explicit Planner(const DemapperConfig& config);

    /// noise: the one N0; none where each symbol has its own.
    [[nodiscard]] Plan plan(std::optional<float> noise, SoftBitFormat format) const;

    /// What a call would be evaluated by.
    [[nodiscard]] Evaluator evaluator_for(std::optional<float> noise, SoftBitFormat format) const;

private:
    [[nodiscard]] TableKey key_for(float noise, SoftBitFormat format) const;
    [[nodiscard]] bool uses_closed_form(std::optional<float> noise, SoftBitFormat format) const;
    [[nodiscard]] std::optional<TableKey> table_for(std::optional<float> noise, SoftBitFormat format,
                                                    bool closed_form) const;

    DemapperConfig config_;
    int bits_;
};

/// What every kind of demapper refuses: ArgumentError.
void check_config(const DemapperConfig& config);

/// Throws ArgumentError unless a scalar N0 is finite and positive, or one a symbol has as many values as
/// there are symbols.
void check_noise(std::optional<float> scalar, std::size_t values, std::size_t symbols);

/// What components are multiplied by: the value of an integer sample of 1, or 1 over the gain.
float unit_of(const DemapperConfig& config, SampleFormat format);

/// True for floating point symbols that are to be divided by a gain; integers are multiplied by their unit
/// anyway.
bool scales_floats(const DemapperConfig& config, SampleFormat format);

}  // namespace phy::detail

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "phy/core/demapper_config.hpp"
#include "phy/core/format.hpp"
#include "phy/demapper/math/formula.hpp"
#include "phy/demapper/math/table.hpp"

namespace phy::detail {

/// How to evaluate all symbols of a call.
struct Plan {
    SoftBitFormat format = SoftBitFormat::int8;
    Algorithm algorithm = Algorithm::closed_form;
    std::optional<TableKey> table = {};  ///< Algorithm::table: its key
    GainRule gain{};                     ///< from N0 to soft bit, or to nats for Algorithm::log_sum
    Gain nats{};                         ///< Algorithm::log_sum: nats to soft bit
    Gain scalar{};                       ///< gain of a scalar N0
};

/// Chooses between closed form, log-sum-exp and table, for one modulation.
class Planner {
public:
    /// Throws ArgumentError if a value of the configuration is out of its range.
    explicit Planner(const DemapperConfig& config);

    /// noise: the scalar N0; none: one per symbol.
    [[nodiscard]] Plan plan(std::optional<float> noise, SoftBitFormat format) const;

    /// The evaluator that a call would use.
    [[nodiscard]] Evaluator evaluator_for(std::optional<float> noise, SoftBitFormat format) const;

private:
    [[nodiscard]] TableKey key_for(float noise, SoftBitFormat format) const;
    [[nodiscard]] bool uses_closed_form(std::optional<float> noise, SoftBitFormat format) const;
    [[nodiscard]] std::optional<TableKey> table_for(std::optional<float> noise, SoftBitFormat format,
                                                    bool closed_form) const;

    LlrConfig config_;
    int bits_;
};

/// One planner per modulation.
std::vector<Planner> planners_of(const BatchDemapperConfig& config);

/// Throw ArgumentError on what no kind of demapper accepts.
void check_config(const DemapperConfig& config);
void check_config(const BatchDemapperConfig& config);

/// What does not depend on the modulation.
BatchDemapperConfig without_modulation(const DemapperConfig& config);

/// Throws ArgumentError unless a scalar N0 is finite and positive, or per-symbol N0 has one value per symbol.
void check_noise(std::optional<float> scalar, std::size_t values, std::size_t symbols);

/// The factor for components: the value of an integer sample of 1, or 1 over the gain.
float unit_of(const BatchDemapperConfig& config, SampleFormat format);

}  // namespace phy::detail

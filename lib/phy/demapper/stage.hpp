#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy {

/// Soft demapping of a stream of symbols: phy::SoftDemapper on a CPU, phy::gpu::SoftDemapper on CUDA. An item
/// is a symbol. Inputs: "symbols", and "noise_variance" (binary32) where each symbol has its own; output:
/// "llr".
class PHY_EXPORT SoftDemapStage : public Stage {
public:
    struct Config {
        DemapperConfig demapper = {};
        SampleFormat input = SampleFormat::cf32;
        SoftBitFormat output = SoftBitFormat::int8;
        std::optional<float> noise_variance = {};  ///< N0 of all symbols; none: each has its own
        bool counts = false;                       ///< keep counters(), which costs some of the speed
    };

    /// Throws ArgumentError if a value is out of its range.
    explicit SoftDemapStage(const Config& config);
    ~SoftDemapStage() override;
    SoftDemapStage(SoftDemapStage&&) noexcept;
    SoftDemapStage& operator=(SoftDemapStage&&) noexcept;

    /// Of all runs that came to their end, with Config::counts; else zeros.
    [[nodiscard]] DemapCounters counters() const;

    [[nodiscard]] const Config& config() const;

    [[nodiscard]] std::string_view name() const override { return "demap"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    struct Impl;
    detail::Owned<Impl, "SoftDemapStage"> impl_;
};

}  // namespace phy

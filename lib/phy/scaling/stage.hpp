#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/pipeline/stage.hpp"
#include "phy/scaling/scaler.hpp"

namespace phy {

/// Scaling of a stream of symbols: phy::SymbolScaler on a CPU, phy::gpu::SymbolScaler on CUDA. An item is a
/// symbol. Input: "unscaled", in the format `input`; output: "symbols", in cf32, which stages that work on
/// symbols take.
class PHY_EXPORT ScaleStage : public Stage {
public:
    struct Config {
        SymbolScaler::Config scaler = {};
        SampleFormat input = SampleFormat::cf32;
    };

    /// Throws ArgumentError if a value is out of its range.
    explicit ScaleStage(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    [[nodiscard]] std::string_view name() const override { return "scale"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    Config config_;
};

}  // namespace phy

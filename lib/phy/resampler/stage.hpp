#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/pipeline/stage.hpp"
#include "phy/resampler/resampler.hpp"

namespace phy {

/// A stage that resamples rows of samples, such as those of antennas: phy::Resampler on a CPU,
/// phy::gpu::Resampler on CUDA. An item is a block of rows. Inputs per item: "samples", (rows, inputs);
/// "rows", a ResampledRow per row, whose position counts from the first input of the row in this item.
/// Output per item: "output", (rows, outputs) in cf32.
///
/// Samples outside of an item count as 0, so items cut from a stream must overlap by twice
/// Resampler::margin(). Positions and steps that Resampler rejects stop the run with an ArgumentError on a
/// CPU. On CUDA the run goes on, and the outputs of their rows are NaN.
class PHY_EXPORT ResampleStage : public Stage {
public:
    struct Config {
        ResamplerConfig resampler = {};
        SampleFormat format = SampleFormat::cf32;  ///< of the inputs
        std::size_t rows = 1;                      ///< per item
        std::size_t inputs = 0;                    ///< per row
        std::size_t outputs = 0;                   ///< per row
    };

    /// Throws ArgumentError as Resampler does, and for sizes of 0 or too large to address.
    explicit ResampleStage(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    [[nodiscard]] std::string_view name() const override { return "resample"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    Config config_;
};

}  // namespace phy

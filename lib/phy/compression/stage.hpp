#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "phy/compression/block_float.hpp"
#include "phy/core/export.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy {

/// A stage that decompresses resource blocks: phy::BlockFloatDecompressor on a CPU,
/// phy::gpu::BlockFloatDecompressor on CUDA. An item is a resource block. Input: "compressed". Output:
/// "grid", its 12 elements in the format `output`.
class PHY_EXPORT DecompressStage : public Stage {
public:
    struct Config {
        BlockFloatConfig compression = {};
        SampleFormat output = SampleFormat::ci16;  ///< ci16 or cf32
    };

    /// Throws ArgumentError if a value is out of range.
    explicit DecompressStage(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    [[nodiscard]] std::string_view name() const override { return "decompress"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    Config config_;
};

}  // namespace phy

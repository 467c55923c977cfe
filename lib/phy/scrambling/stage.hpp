#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy {

/// Descrambling of a stream of codewords: phy::Descrambler on a CPU, phy::gpu::Descrambler on CUDA.
/// Input: "llr"; output: "descrambled". An item is a symbol, or whatever has soft_bits_of_item soft bits.
class PHY_EXPORT DescrambleStage : public Stage {
public:
    struct Config {
        std::uint32_t c_init = 0;  ///< ScramblingIdentity::c_init()
        SoftBitFormat format = SoftBitFormat::int8;
        std::size_t soft_bits_of_item = 1;
        std::uint64_t first = 0;     ///< the index in its codeword of the stream's first soft bit
        std::uint64_t codeword = 0;  ///< soft bits of each codeword; 0: the stream is one
    };

    /// Throws ArgumentError if a value is out of its range.
    explicit DescrambleStage(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    [[nodiscard]] std::string_view name() const override { return "descramble"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    Config config_;
};

}  // namespace phy

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy {

/// Sums over a stream of symbols, by row: phy::SymbolMeter on a CPU, phy::gpu::SymbolMeter on CUDA. An item
/// is a symbol. Inputs: "symbols", and "sent" (cf32) if the sent points are known. Output: "symbol_sums", one
/// SymbolSums per row. A row must fit into a chunk.
///
/// To measure a stream as one row, use rows of 2^k blocks of symbol_tree and join their sums with NodeJoiner
/// in order.
class PHY_EXPORT MeasureStage : public Stage {
public:
    struct Config {
        SymbolMeterConfig meter = {};
        SampleFormat input = SampleFormat::cf32;
        std::size_t row = 32 * 1024;     ///< symbols
        bool sent = false;               ///< the sent points are known
        std::uint64_t first_symbol = 0;  ///< index of item 0 in its sequence; pi/2-BPSK needs its parity
    };

    /// Throws ArgumentError if a value is out of its range.
    explicit MeasureStage(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    [[nodiscard]] std::string_view name() const override { return "measure"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    [[nodiscard]] std::size_t granularity() const override { return config_.row; }
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    Config config_;
};

}  // namespace phy

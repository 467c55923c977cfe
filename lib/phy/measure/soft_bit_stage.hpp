#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/measure/soft_bit_sums.hpp"
#include "phy/pipeline/stage.hpp"
#include "phy/reduce/tree.hpp"

namespace phy {

/// Sums over a stream of soft bits, by row: phy::SoftBitMeter on a CPU, phy::gpu::SoftBitMeter on CUDA. An
/// item is a soft bit. Inputs: "llr", and "truth" (std::uint8_t) if the transmitted bits are known. Output:
/// "soft_bit_sums", one SoftBitSums per row. A row must fit into a chunk.
///
/// To measure a stream as one row, use rows of 2^k blocks of row_tree and join their sums with NodeJoiner in
/// order.
class PHY_EXPORT SoftBitMeasureStage : public Stage {
public:
    struct Config {
        SoftBitMeterConfig meter = {};
        SoftBitFormat input = SoftBitFormat::int8;
        std::size_t row = 32 * row_tree.block;  ///< soft bits
        bool truth = false;                     ///< transmitted bits are known
    };

    /// Throws ArgumentError if a value is out of its range.
    explicit SoftBitMeasureStage(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    [[nodiscard]] std::string_view name() const override { return "measure_soft_bits"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    [[nodiscard]] std::size_t granularity() const override { return config_.row; }
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    Config config_;
};

}  // namespace phy

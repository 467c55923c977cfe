#include "phy/compression/stage.hpp"

#include "phy/compression/block_float.hpp"
#include "phy/compression/blocks.hpp"
#include "phy/pipeline/operator_runner.hpp"

namespace phy {

DecompressStage::DecompressStage(const Config& config) : config_(config) {
    detail::check_config(config.compression);
    detail::check_element_format(config.output);
}

std::vector<Port> DecompressStage::inputs() const {
    return {{.name = "compressed", .bytes = bytes_per_block(config_.compression)}};
}

std::vector<Port> DecompressStage::outputs() const {
    return {{.name = "grid", .bytes = elements_per_block * size_of(config_.output)}};
}

std::unique_ptr<StageRunner> DecompressStage::on(const Place& place) {
    return detail::operator_runner<BlockFloatDecompressor, gpu::BlockFloatDecompressor>(
        place, config_.compression,
        [output = config_.output](auto& decompress, const auto& work, const auto&... device) {
            decompress(work.in[0], {output, work.out[0]}, device.stream...);
        });
}

}  // namespace phy

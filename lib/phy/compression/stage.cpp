#include "phy/compression/stage.hpp"

#include "phy/compression/math/check.hpp"
#include "phy/compression/stage_runners.hpp"
#include "phy/core/version.hpp"

namespace phy {
namespace {

class DecompressOnHost : public StageRunner {
public:
    DecompressOnHost(const DecompressStage::Config& config, const Host& host)
        : output_(config.output), decompress_(host, config.compression) {}

    void run_on_host(const HostWork& work) override { decompress_(work.in[0], {output_, work.out[0]}); }

private:
    SampleFormat output_;
    BlockFloatDecompressor decompress_;
};

}  // namespace

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
    if constexpr (built_with_cuda) {
        if (place.is_cuda()) return detail::make_decompress_on_device(config_, place.device());
    }
    return std::make_unique<DecompressOnHost>(config_, place.host());
}

}  // namespace phy

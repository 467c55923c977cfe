#include "phy/compression/block_float_cuda.hpp"
#include "phy/compression/stage_runners.hpp"

namespace phy::detail {
namespace {

class DecompressOnDevice : public StageRunner {
public:
    DecompressOnDevice(const DecompressStage::Config& config, const gpu::Device& device)
        : output_(config.output), decompress_(device, config.compression) {}

    void run_on_device(const DeviceWork& work) override {
        decompress_(work.in[0], {output_, work.out[0]}, work.stream);
    }

private:
    SampleFormat output_;
    gpu::BlockFloatDecompressor decompress_;
};

}  // namespace

std::unique_ptr<StageRunner> make_decompress_on_device(const DecompressStage::Config& config, int device) {
    return std::make_unique<DecompressOnDevice>(config, gpu::Device(device));
}

}  // namespace phy::detail

#include "phy/scrambling/scrambler_cuda.hpp"
#include "phy/scrambling/stage_runners.hpp"

namespace phy::detail {
namespace {

class DescrambleOnDevice : public StageRunner {
public:
    DescrambleOnDevice(const DescrambleStage::Config& config, const gpu::Device& device)
        : config_(config), descramble_(device) {}

    void run_on_device(const DeviceWork& work) override {
        descramble_(config_.c_init, gpu::SoftBitView(config_.format, work.in[0]),
                    gpu::SoftBitSpan(config_.format, work.out[0]), work.stream,
                    config_.first + work.chunk.first * config_.soft_bits_of_item);
    }

private:
    DescrambleStage::Config config_;
    gpu::Descrambler descramble_;
};

}  // namespace

std::unique_ptr<StageRunner> make_descramble_on_device(const DescrambleStage::Config& config, int device) {
    return std::make_unique<DescrambleOnDevice>(config, gpu::Device(device));
}

}  // namespace phy::detail

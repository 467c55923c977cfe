#include "phy/scrambling/scrambler_cuda.hpp"
#include "phy/scrambling/stage_runners.hpp"

namespace phy::detail {
namespace {

class DescrambleOnDevice : public StageRunner {
public:
    DescrambleOnDevice(const DescrambleStage::Config& config, const gpu::Device& device)
        : config_(config), descramble_(device) {}

    void run_on_device(const DeviceWork& work) override {
        const gpu::SoftBitView scrambled(config_.format, work.in[0]);
        const gpu::SoftBitSpan llr(config_.format, work.out[0]);
        for_codewords(config_, work.chunk,
                      [&](std::uint64_t first, std::uint64_t count, std::uint64_t in_codeword) {
                          descramble_(config_.c_init, scrambled.subspan(first, count),
                                      llr.subspan(first, count), work.stream, in_codeword);
                      });
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

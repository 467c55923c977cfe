#include "phy/scaling/scaler_cuda.hpp"
#include "phy/scaling/stage_runners.hpp"

namespace phy::detail {
namespace {

class ScaleOnDevice : public StageRunner {
public:
    ScaleOnDevice(const ScaleStage::Config& config, const gpu::Device& device)
        : input_(config.input), scale_(device, config.scaler) {}

    void run_on_device(const DeviceWork& work) override {
        scale_({input_, work.in[0]}, gpu::elements_of<cf32>(work.out[0]), work.stream);
    }

private:
    SampleFormat input_;
    gpu::SymbolScaler scale_;
};

}  // namespace

std::unique_ptr<StageRunner> make_scale_on_device(const ScaleStage::Config& config, int device) {
    return std::make_unique<ScaleOnDevice>(config, gpu::Device(device));
}

}  // namespace phy::detail

#include <algorithm>

#include "phy/receiver/chain/plan.hpp"
#include "phy/receiver/cuda/tuning.hpp"
#include "phy/receiver/receiver_cuda.hpp"
#include "phy/receiver/stage_runners.hpp"

namespace phy::detail {
namespace {

/// Max slots per call of the receiver: all slots of most chunks.
std::size_t max_slots_of(const ReceiveStage::Config& config) {
    const ReceiverPlan plan(config.receiver);
    const std::size_t of_slot = plan.antennas * plan.input * size_of(config.format);
    return std::clamp(gpu::detail::call_bytes / of_slot, gpu::detail::min_call_slots,
                      gpu::detail::max_call_slots);
}

/// A device's work is on one stream at a time, so one workspace is enough.
class ReceiveOnDevice : public StageRunner {
public:
    ReceiveOnDevice(const ReceiveStage::Config& config, const gpu::Device& device)
        : config_(config), receive_(device, config.receiver, max_slots_of(config)) {}

    void run_on_device(const DeviceWork& work) override {
        for (std::size_t first = 0; first < work.chunk.items; first += receive_.max_slots())
            run(work, first, std::min(receive_.max_slots(), work.chunk.items - first));
    }

private:
    /// Some slots of the chunk.
    void run(const DeviceWork& work, std::size_t first, std::size_t slots) const {
        const auto part = [&]<typename Byte>(gpu::DeviceSpan<Byte> of_chunk) {
            const std::size_t bytes = of_chunk.size() / work.chunk.items;
            return of_chunk.subspan(first * bytes, slots * bytes);
        };
        gpu::ReceiverOutput output = {
            .llr = {config_.receiver.format, part(work.out[0])},
            .slots = gpu::elements_of<ReceivedSlot>(part(work.out[1])),
        };
        std::size_t next = 2;
        if (config_.symbols) {
            output.symbols = gpu::elements_of<cf32>(part(work.out[next++]));
            output.noise_variance = gpu::elements_of<float>(part(work.out[next++]));
        }
        if (config_.channel) output.channel = gpu::elements_of<cf32>(part(work.out[next]));
        receive_({config_.format, part(work.in[0])}, work.chunk.first + first, output, work.stream);
    }

    const ReceiveStage::Config& config_;
    gpu::Receiver receive_;
};

}  // namespace

std::unique_ptr<StageRunner> make_receive_on_device(const ReceiveStage::Config& config, int device) {
    return std::make_unique<ReceiveOnDevice>(config, gpu::Device(device));
}

}  // namespace phy::detail

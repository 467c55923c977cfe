#include "phy/receiver/stage.hpp"

#include <algorithm>

#include "phy/core/check.hpp"
#include "phy/pipeline/operator_runner.hpp"
#include "phy/receiver/chain/plan.hpp"
#include "phy/receiver/cuda/tuning.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy {
namespace {

/// Max slots per call of the receiver on a device: all slots of most chunks.
std::size_t max_slots_of(const detail::ReceiverPlan& plan, SampleFormat format) {
    const std::size_t of_slot = plan.antennas * plan.input * size_of(format);
    return std::clamp(gpu::detail::call_bytes / of_slot, gpu::detail::min_call_slots,
                      gpu::detail::max_call_slots);
}

/// Receives some slots of a chunk.
void receive_slots(const ReceiveStage::Config& config, std::size_t first, std::size_t slots, auto& receive,
                   const auto& work, const auto&... device) {
    const auto part = [&](auto of_chunk) {
        const std::size_t bytes = of_chunk.size() / work.chunk.items;
        return of_chunk.subspan(first * bytes, slots * bytes);
    };
    std::size_t next = 2;
    const auto if_wanted = [&]<typename T>(bool is_wanted, const char* port, T /*element*/) {
        using Elements = decltype(detail::elements_of<T>(work.out[0], port));
        return is_wanted ? detail::elements_of<T>(part(work.out[next++]), port) : Elements();
    };
    // Braces, so that the optional ports are taken in their order.
    receive({config.format, part(work.in[0])}, work.chunk.first + first,
            {.llr = {config.receiver.format, part(work.out[0])},
             .slots = detail::elements_of<ReceivedSlot>(part(work.out[1]), "slots"),
             .symbols = if_wanted(config.symbols, "symbols", cf32()),
             .noise_variance = if_wanted(config.symbols, "noise_variance", float()),
             .channel = if_wanted(config.channel, "channel", cf32())},
            device.stream...);
}

}  // namespace

struct PHY_HIDDEN ReceiveStage::Impl {
    Config config;
    detail::ReceiverPlan plan;
};

ReceiveStage::ReceiveStage(const Config& config) {
    detail::check_enum("sample format", config.format, all_sample_formats.back());
    impl_.reset(new Impl{config, detail::ReceiverPlan(config.receiver)});
}

const ReceiveStage::Config& ReceiveStage::config() const {
    return impl_->config;
}

std::vector<Port> ReceiveStage::inputs() const {
    const detail::ReceiverPlan& plan = impl_->plan;
    return {{.name = "input", .bytes = plan.antennas * plan.input * size_of(impl_->config.format)}};
}

std::vector<Port> ReceiveStage::outputs() const {
    const detail::ReceiverPlan& plan = impl_->plan;
    std::vector<Port> ports = {{.name = "llr", .bytes = plan.soft_bits * size_of(plan.config.format)},
                               {.name = "slots", .bytes = sizeof(ReceivedSlot)}};
    if (impl_->config.symbols) {
        ports.push_back({.name = "symbols", .bytes = plan.symbols * sizeof(cf32)});
        ports.push_back({.name = "noise_variance", .bytes = plan.symbols * sizeof(float)});
    }
    if (impl_->config.channel) ports.push_back({.name = "channel", .bytes = plan.channel * sizeof(cf32)});
    return ports;
}

std::unique_ptr<StageRunner> ReceiveStage::on(const Place& place) {
    const std::size_t max_slots = max_slots_of(impl_->plan, impl_->config.format);
    const auto run = [&config = impl_->config, max_slots](auto& receive, const auto& work,
                                                          const auto&... device) {
        const std::size_t items = work.chunk.items;
        const std::size_t at_once = sizeof...(device) == 0 ? items : max_slots;
        for (std::size_t first = 0; first < items; first += at_once)
            receive_slots(config, first, std::min(at_once, items - first), receive, work, device...);
    };
    return detail::operator_runner<Receiver, gpu::Receiver>(place, impl_->config.receiver, run, max_slots);
}

}  // namespace phy

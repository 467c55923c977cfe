#include "phy/receiver/stage.hpp"

#include "phy/core/check_enum.hpp"
#include "phy/core/version.hpp"
#include "phy/pipeline/elements_of.hpp"
#include "phy/receiver/chain/plan.hpp"
#include "phy/receiver/stage_runners.hpp"

namespace phy {
namespace {

class ReceiveOnHost : public StageRunner {
public:
    ReceiveOnHost(const ReceiveStage::Config& config, const Host& host)
        : config_(config), receive_(host, config.receiver) {}

    void run_on_host(const HostWork& work) override {
        ReceiverOutput output = {.llr = {config_.receiver.format, work.out[0]},
                                 .slots = detail::elements_of<ReceivedSlot>(work.out[1], "slots")};
        std::size_t next = 2;
        if (config_.symbols) {
            output.symbols = detail::elements_of<cf32>(work.out[next++], "symbols");
            output.noise_variance = detail::elements_of<float>(work.out[next++], "noise_variance");
        }
        if (config_.channel) output.channel = detail::elements_of<cf32>(work.out[next], "channel");
        receive_({config_.format, work.in[0]}, work.chunk.first, output);
    }

private:
    const ReceiveStage::Config& config_;
    Receiver receive_;
};

}  // namespace

struct PHY_HIDDEN ReceiveStage::Impl {
    Config config;
    detail::ReceiverPlan plan;
};

ReceiveStage::ReceiveStage(const Config& config) {
    detail::check_enum("sample format", config.format, all_sample_formats.back());
    impl_.reset(new Impl{config, detail::ReceiverPlan(config.receiver)});
}

ReceiveStage::~ReceiveStage() = default;
ReceiveStage::ReceiveStage(ReceiveStage&&) noexcept = default;
ReceiveStage& ReceiveStage::operator=(ReceiveStage&&) noexcept = default;

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
    if constexpr (built_with_cuda) {
        if (place.is_cuda()) return detail::make_receive_on_device(impl_->config, place.device());
    }
    return std::make_unique<ReceiveOnHost>(impl_->config, place.host());
}

}  // namespace phy

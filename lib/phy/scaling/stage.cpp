#include "phy/scaling/stage.hpp"

#include "phy/core/check_enum.hpp"
#include "phy/core/version.hpp"
#include "phy/scaling/math/factor.hpp"
#include "phy/scaling/stage_runners.hpp"

namespace phy {
namespace {

class ScaleOnHost : public StageRunner {
public:
    ScaleOnHost(const ScaleStage::Config& config, const Host& host)
        : input_(config.input), scale_(host, config.scaler) {}

    void run_on_host(const HostWork& work) override {
        auto* const scaled = reinterpret_cast<cf32*>(work.out[0].data());
        scale_({input_, work.in[0]}, {scaled, work.out[0].size() / sizeof(cf32)});
    }

private:
    SampleFormat input_;
    SymbolScaler scale_;
};

}  // namespace

ScaleStage::ScaleStage(const Config& config) : config_(config) {
    detail::check_enum("sample format", config.input, all_sample_formats.back());
    detail::check_config(config.scaler);
}

std::vector<Port> ScaleStage::inputs() const {
    return {{.name = "unscaled", .bytes = size_of(config_.input)}};
}

std::vector<Port> ScaleStage::outputs() const {
    return {{.name = "symbols", .bytes = sizeof(cf32)}};
}

std::unique_ptr<StageRunner> ScaleStage::on(const Place& place) {
    if constexpr (built_with_cuda) {
        if (place.is_cuda()) return detail::make_scale_on_device(config_, place.device());
    }
    return std::make_unique<ScaleOnHost>(config_, place.host());
}

}  // namespace phy

#include "phy/detector/detector.hpp"

#include "phy/core/constellation.hpp"
#include "phy/cuda/device.hpp"
#include "phy/detector/cuda/launch.hpp"
#include "phy/detector/math/plan.hpp"

namespace phy::gpu {

struct PHY_HIDDEN JointDetector::Impl {
    Device device;
    Config config;
};

JointDetector::JointDetector(const Device& device, const Config& config)
    : impl_(new Impl{device, (phy::detail::check(config), config)}) {
    const CurrentDevice current(device);
    detail::load_detector(bits_per_axis(config.modulation));
}

void JointDetector::operator()(DeviceSpan<const LayerPair> pairs, SoftBitSpan llr, cudaStream_t stream,
                               DeviceSpan<const std::uint32_t> signs,
                               DeviceSpan<const std::int8_t> priors) const {
    phy::detail::check(impl_->config, {pairs.size(), llr.size(), signs.size(), priors.size()}, llr.format());
    if (pairs.empty()) return;
    const CurrentDevice current(device());
    detail::launch(bits_per_axis(impl_->config.modulation),
                   {.pairs = pairs.data(),
                    .symbols = 2 * pairs.size(),
                    .llr = llr.data(),
                    .signs = signs.empty() ? nullptr : signs.data(),
                    .priors = priors.empty() ? nullptr : priors.data(),
                    .range = phy::detail::llr_range(impl_->config.llr, llr.format()),
                    .format = llr.format(),
                    .soft_bit_bytes = static_cast<unsigned>(size_of(llr.format())),
                    .is_aligned = reinterpret_cast<std::uintptr_t>(llr.data()) % 16 == 0},
                   stream);
}

const Device& JointDetector::device() const {
    return impl_->device;
}

const JointDetector::Config& JointDetector::config() const {
    return impl_->config;
}

}  // namespace phy::gpu

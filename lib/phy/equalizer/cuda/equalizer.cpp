#include "phy/core/check.hpp"
#include "phy/core/integers.hpp"
#include "phy/equalizer/cuda/jobs.hpp"
#include "phy/equalizer/equalizer_cuda.hpp"

namespace phy::gpu {

struct PHY_HIDDEN Equalizer::Impl {
    detail::EqualizerJobs jobs;
};

Equalizer::Equalizer(const Device& device, const Config& config)
    : impl_(new Impl{detail::EqualizerJobs(device, config)}) {}

Equalizer::~Equalizer() = default;
Equalizer::Equalizer(Equalizer&&) noexcept = default;
Equalizer& Equalizer::operator=(Equalizer&&) noexcept = default;

std::size_t Equalizer::elements_per_slot() const {
    return impl_->jobs.plan().map().elements();
}

std::size_t Equalizer::symbols_per_slot() const {
    return impl_->jobs.plan().symbols();
}

int Equalizer::estimates() const {
    return impl_->jobs.plan().estimates();
}

std::size_t Equalizer::workspace_bytes(std::size_t slots) const {
    return impl_->jobs.workspace_bytes(slots);
}

void Equalizer::operator()(SymbolView grid, DeviceSpan<const float> channel,
                           DeviceSpan<const SlotEstimate> slots, DeviceSpan<cf32> symbols,
                           DeviceSpan<float> noise_variance, cudaStream_t stream,
                           DeviceSpan<const cf32> covariance, DeviceSpan<std::byte> workspace) const {
    const detail::EqualizerJobs::Inputs inputs = {grid, channel, slots, covariance, workspace};
    impl_->jobs.check(inputs);
    const std::size_t expected = slots.size() * symbols_per_slot();
    phy::detail::check_size("symbols", symbols.size(), expected);
    phy::detail::check_size("noise_variance", noise_variance.size(), expected);
    if (slots.empty()) return;
    constexpr std::size_t piece = 16;
    const detail::EqualizerOutput out = {reinterpret_cast<float*>(symbols.data()), noise_variance.data(),
                                         phy::detail::is_aligned(symbols.data(), piece) &&
                                             phy::detail::is_aligned(noise_variance.data(), piece)};
    const CurrentDevice current(device());
    impl_->jobs.run(inputs, stream,
                    [&](const detail::EqualizerJob& job) { detail::launch(job, out, stream); });
}

const Device& Equalizer::device() const {
    return impl_->jobs.device();
}

const Equalizer::Config& Equalizer::config() const {
    return impl_->jobs.plan().config();
}

}  // namespace phy::gpu

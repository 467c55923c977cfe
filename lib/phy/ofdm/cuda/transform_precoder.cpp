#include "phy/ofdm/transform_precoder.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/ofdm/cuda/launch.hpp"
#include "phy/ofdm/math/check_precoding.hpp"

namespace phy::gpu {

struct PHY_HIDDEN TransformPrecoder::Impl {
    Impl(const Device& on, const Config& given);

    Device device;
    Config config;
    detail::PrecodeJob job;  ///< without the members that each call sets
    DeviceBuffer<float> table;
};

TransformPrecoder::Impl::Impl(const Device& on, const Config& given) : device(on), config(given), job{} {
    const std::size_t size = phy::detail::checked_precoding(given);
    const phy::detail::FftPlan plan(size, phy::detail::FactorOrder::threads);
    const CurrentDevice current(device);
    table = detail::upload(device, plan.table());
    detail::prepare_precode();
    job.fft = plan.fft();
    job.fft.table = table.data();
    job.inverse = config.direction == Config::Direction::undo;
    job.factor = phy::detail::precoding_factor(size);
}

TransformPrecoder::TransformPrecoder(const Device& device, const Config& config)
    : impl_(std::make_unique<Impl>(device, config)) {}
void TransformPrecoder::operator()(DeviceSpan<const cf32> in, DeviceSpan<cf32> out,
                                   cudaStream_t stream) const {
    const std::size_t size = impl_->job.fft.size;
    phy::detail::check_precoding_sizes(size, "in", in.size(), "out", out.size());
    if (in.size() == 0) return;
    detail::PrecodeJob job = impl_->job;
    job.in = in.data();
    job.out = out.data();
    job.symbols = static_cast<std::uint32_t>(in.size() / size);
    const CurrentDevice current(impl_->device);
    detail::launch(job, stream);
}

const Device& TransformPrecoder::device() const {
    return impl_->device;
}

const TransformPrecoder::Config& TransformPrecoder::config() const {
    return impl_->config;
}

}  // namespace phy::gpu

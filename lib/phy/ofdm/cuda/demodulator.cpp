#include "phy/ofdm/demodulator.hpp"
#include "phy/core/check.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/ofdm/cuda/launch.hpp"
#include "phy/ofdm/math/check.hpp"

namespace phy::gpu {

struct PHY_HIDDEN OfdmDemodulator::Impl {
    Impl(const Device& on, const Config& given);

    Device device;
    Config config;
    detail::DemodulateJob job;  ///< without the members that each call sets
    DeviceBuffer<float> table;
    DeviceBuffer<cf32> compensation;
    DeviceBuffer<cf32> turns;
    DeviceBuffer<cf32> rotation;
};

OfdmDemodulator::Impl::Impl(const Device& on, const Config& given)
    : device(on),
      config(given),
      job{.fft = {}, .phases = {}, .timing = phy::detail::checked_timing(given.ofdm)} {
    const phy::detail::FftPlan plan(job.timing.fft_size(), phy::detail::FactorOrder::threads);
    const phy::detail::PhaseTables phases(given.ofdm, job.timing, phy::detail::PhaseTables::Side::receiver);
    const std::size_t window_offset = phy::detail::checked_window_offset(given, job.timing);
    const std::vector<cf32> of_samples = phy::detail::receiver_rotation(window_offset, job.timing, phases);
    const CurrentDevice current(device);
    table = detail::upload(device, plan.table());
    compensation = detail::upload(device, phases.compensation());
    turns = detail::upload(device, phases.turns());
    rotation = detail::upload(device, of_samples);
    detail::prepare_demodulate(plan.fft());
    job.fft = plan.fft();
    job.fft.table = table.data();
    job.phases = phases.symbols();
    job.phases.compensation = compensation.data();
    job.phases.turns = turns.data();
    job.rotation = of_samples.empty() ? nullptr : rotation.data();
    job.window_offset = static_cast<std::uint32_t>(window_offset);
}

OfdmDemodulator::OfdmDemodulator(const Device& device, const Config& config)
    : impl_(std::make_unique<Impl>(device, config)) {}
void OfdmDemodulator::operator()(SymbolView samples, const OfdmSlots& slots, DeviceSpan<cf32> grid,
                                 cudaStream_t stream) const {
    phy::detail::check_enum("sample format", samples.format(), all_sample_formats.back());
    const phy::detail::OfdmSizes sizes =
        phy::detail::checked_sizes(impl_->config.ofdm, timing(), slots, samples.size(), grid.size());
    if (sizes.rows == 0) return;
    detail::DemodulateJob job = impl_->job;
    job.unit = phy::detail::unit_of(impl_->config, samples.format());
    job.format = samples.format();
    job.samples = samples.data();
    job.sizes = sizes;
    job.first_slot = slots.first;
    job.symbols = static_cast<std::uint32_t>(sizes.rows);
    job.grid = grid.data();
    const CurrentDevice current(impl_->device);
    detail::launch(job, stream);
}

const OfdmTiming& OfdmDemodulator::timing() const {
    return impl_->job.timing;
}

const Device& OfdmDemodulator::device() const {
    return impl_->device;
}

const OfdmDemodulator::Config& OfdmDemodulator::config() const {
    return impl_->config;
}

}  // namespace phy::gpu

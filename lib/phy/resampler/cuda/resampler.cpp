#include "phy/resampler/resampler.hpp"

#include "phy/core/check.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/resampler/cuda/launch.hpp"

namespace phy::gpu {
namespace {

bool is_aligned(const void* address, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

/// Input samples that outputs of so many teams take.
unsigned window_of(const detail::ResampleJob& job, unsigned teams) {
    return static_cast<unsigned>((teams * detail::resampler_team * job.max_step) >> 32U) + 2 +
           job.filter.taps;
}

}  // namespace

struct PHY_HIDDEN Resampler::Impl {
    Impl(const Device& on, const Config& given);

    Device device;
    Config config;
    phy::detail::PolyphaseFilter filter;
    DeviceBuffer<float> coefficients;
    detail::ResampleJob job;  ///< without the members that each call sets
};

Resampler::Impl::Impl(const Device& on, const Config& given) : device(on), config(given), filter(given) {
    const CurrentDevice current(device);
    coefficients = detail::upload(device, filter.coefficients());
    detail::prepare_resample();
    job.filter = filter.view();
    job.filter.coefficients = coefficients.data();
    job.min_step = filter.min_step();
    job.max_step = filter.max_step();
    job.teams = detail::resampler_threads / detail::resampler_team;
    // Whole warps, that is, pairs of teams.
    while (job.teams > 2 && window_of(job, job.teams) > detail::resampler_window)
        job.teams -= 2;
    job.window = window_of(job, job.teams);
}

Resampler::Resampler(const Device& device, const Config& config)
    : impl_(std::make_unique<Impl>(device, config)) {}
Resampler::~Resampler() = default;
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler& Resampler::operator=(Resampler&&) noexcept = default;

void Resampler::operator()(SymbolView input, DeviceSpan<const ResampledRow> rows, DeviceSpan<cf32> output,
                           cudaStream_t stream) const {
    phy::detail::check_enum("sample format", input.format(), all_sample_formats.back());
    detail::ResampleJob job = impl_->job;
    job.sizes = impl_->filter.checked_sizes(rows.size(), input.size(), output.size());
    if (job.sizes.outputs == 0) return;
    job.format = input.format();
    job.unit = static_cast<float>(1.0 / double{impl_->config.full_scale.value_for(input.format())});
    job.input = input.data();
    job.rows = rows.data();
    job.output = output.data();
    job.aligned = is_aligned(job.input, size_of(input.format())) && is_aligned(job.output, sizeof(cf32));
    const std::size_t of_block = std::size_t{job.teams} * detail::resampler_team;
    job.row_blocks = static_cast<unsigned>((job.sizes.outputs + of_block - 1) / of_block);
    const CurrentDevice current(impl_->device);
    detail::launch(job, stream);
}

std::size_t Resampler::margin() const {
    return impl_->filter.margin();
}

std::uint64_t Resampler::step() const {
    return impl_->filter.step();
}

const Device& Resampler::device() const {
    return impl_->device;
}

const Resampler::Config& Resampler::config() const {
    return impl_->config;
}

}  // namespace phy::gpu

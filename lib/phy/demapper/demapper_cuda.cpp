#include "phy/demapper/demapper_cuda.hpp"

#include <string>

#include "phy/core/error.hpp"
#include "phy/demapper/jobs_cuda.hpp"
#include "phy/demapper/launch_cuda.hpp"
#include "phy/demapper/soft_runner.hpp"

namespace phy::gpu {
namespace {

using detail::Batch;
using detail::Common;
using detail::Evaluation;
using detail::JobMaker;

/// What the CPU's demapper is configured with; a backend that is there everywhere, as none is used.
template <typename Config>
phy::SoftDemapper::Config host_config(const Config& config) {
    phy::SoftDemapper::Config host{.backend = Backend::scalar()};
    if constexpr (requires { config.modulation; }) host.modulation = config.modulation;
    host.method = config.method;
    host.evaluator = config.evaluator;
    host.llr_scale = config.llr_scale;
    host.llr_clip = config.llr_clip;
    host.full_scale = config.full_scale;
    return host;
}

}  // namespace

struct SoftDemapper::Impl {
    Config config;
    JobMaker maker;
};

SoftDemapper::SoftDemapper(const Device& device, const Config& config)
    : impl_(new Impl{config, JobMaker(device, host_config(config))}) {}

SoftDemapper::~SoftDemapper() = default;
SoftDemapper::SoftDemapper(SoftDemapper&&) noexcept = default;
SoftDemapper& SoftDemapper::operator=(SoftDemapper&&) noexcept = default;

void SoftDemapper::prepare(NoiseVariance noise, SoftBitFormat format) {
    const Modulation modulation = impl_->config.modulation;
    const Evaluation evaluation = impl_->maker.prepare(modulation, noise, format);
    const CurrentDevice current(device());
    detail::load(evaluation, phy::detail::grid_of(modulation), format);
}

void SoftDemapper::forget_tables() {
    impl_->maker.forget_tables();
}

void SoftDemapper::operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, cudaStream_t stream,
                              std::uint64_t first_symbol, DemapCounters* counters) const {
    const auto [evaluation, job] =
        impl_->maker.make({impl_->config.modulation, symbols, noise, llr, first_symbol});
    if (job.count == 0) return;
    const CurrentDevice current(device());
    detail::launch(evaluation, job, impl_->maker.common(llr.format(), counters), device(), stream);
}

Evaluator SoftDemapper::evaluator_for(NoiseVariance noise, SoftBitFormat format) const {
    const auto& planner = impl_->maker.planner(impl_->config.modulation);
    return planner.table_for(noise, format) ? Evaluator::table : Evaluator::arithmetic;
}

const Device& SoftDemapper::device() const {
    return impl_->maker.device();
}

const SoftDemapper::Config& SoftDemapper::config() const {
    return impl_->config;
}

struct BatchDemapper::Impl {
    Config config;
    JobMaker maker;

    [[nodiscard]] JobMaker::Planned make(std::span<const Allocation> allocations, std::size_t index) const;
    void launch(std::span<const Allocation> allocations, Evaluation evaluation, const Common& common,
                cudaStream_t stream) const;
};

JobMaker::Planned BatchDemapper::Impl::make(std::span<const Allocation> allocations,
                                            std::size_t index) const {
    try {
        const JobMaker::Planned planned = maker.make(allocations[index]);
        phy::detail::check_same_format(allocations[index], allocations.front());
        return planned;
    } catch (const ArgumentError& error) {
        throw ArgumentError("allocation " + std::to_string(index) + ": " + error.what());
    }
}

void BatchDemapper::Impl::launch(std::span<const Allocation> allocations, Evaluation evaluation,
                                 const Common& common, cudaStream_t stream) const {
    Batch batch;
    batch.common = common;
    batch.jobs = 0;
    for (std::size_t i = 0; i < allocations.size(); ++i) {
        auto planned = make(allocations, i);
        if (planned.evaluation != evaluation || planned.job.count == 0) continue;
        batch.job[batch.jobs++] = planned.job;
        if (batch.jobs == detail::most_jobs) {
            detail::launch(evaluation, batch, stream);
            batch.jobs = 0;
        }
    }
    if (batch.jobs > 0) detail::launch(evaluation, batch, stream);
}

BatchDemapper::BatchDemapper(const Device& device, const Config& config)
    : impl_(new Impl{config, JobMaker(device, host_config(config))}) {}

BatchDemapper::~BatchDemapper() = default;
BatchDemapper::BatchDemapper(BatchDemapper&&) noexcept = default;
BatchDemapper& BatchDemapper::operator=(BatchDemapper&&) noexcept = default;

void BatchDemapper::prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format) {
    const Evaluation evaluation = impl_->maker.prepare(modulation, noise, format);
    const CurrentDevice current(device());
    detail::load_batch(evaluation, format);
}

void BatchDemapper::forget_tables() {
    impl_->maker.forget_tables();
}

void BatchDemapper::operator()(std::span<const Allocation> allocations, cudaStream_t stream,
                               DemapCounters* counters) const {
    if (allocations.empty()) return;
    bool uses[3] = {};
    for (std::size_t i = 0; i < allocations.size(); ++i)
        uses[static_cast<std::size_t>(impl_->make(allocations, i).evaluation)] = true;
    const Common common = impl_->maker.common(allocations.front().llr.format(), counters);
    const CurrentDevice current(device());
    for (const Evaluation evaluation : {Evaluation::closed_form, Evaluation::log_sum, Evaluation::table}) {
        if (uses[static_cast<std::size_t>(evaluation)])
            impl_->launch(allocations, evaluation, common, stream);
    }
}

const Device& BatchDemapper::device() const {
    return impl_->maker.device();
}

const BatchDemapper::Config& BatchDemapper::config() const {
    return impl_->config;
}

}  // namespace phy::gpu

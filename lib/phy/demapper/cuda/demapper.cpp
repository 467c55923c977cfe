#include "phy/demapper/demapper.hpp"
#include "phy/demapper/batch.hpp"

#include <array>

#include "phy/demapper/cuda/jobs.hpp"
#include "phy/demapper/cuda/launch.hpp"
#include "phy/demapper/math/check.hpp"

namespace phy::gpu {

using detail::Algorithm;
using detail::Batch;
using detail::Common;
using detail::JobMaker;

namespace {

const DemapperConfig& checked(const DemapperConfig& config) {
    phy::detail::check_config(config);
    return config;
}

}  // namespace

struct PHY_HIDDEN SoftDemapper::Impl {
    Config config;
    JobMaker maker;
};

SoftDemapper::SoftDemapper(const Device& device, const Config& config)
    : impl_(new Impl{checked(config), JobMaker(device, phy::detail::without_modulation(config))}) {}

void SoftDemapper::prepare(NoiseVariance noise, SoftBitFormat format) {
    const Modulation modulation = impl_->config.modulation;
    const Algorithm algorithm = impl_->maker.prepare(modulation, noise, format);
    const CurrentDevice current(device());
    detail::load(algorithm, phy::detail::constellation_of(modulation), format);
}

void SoftDemapper::clear_tables() {
    impl_->maker.clear_tables();
}

void SoftDemapper::operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, cudaStream_t stream,
                              std::uint64_t first_symbol, DeviceSpan<DemapCounters> counters,
                              DeviceSpan<const std::uint32_t> signs) const {
    const auto [algorithm, job] =
        impl_->maker.make({impl_->config.modulation, symbols, noise, llr, first_symbol, signs});
    if (job.count == 0) return;
    const CurrentDevice current(device());
    detail::launch(algorithm, job, impl_->maker.common(llr.format(), counters), device(), stream);
}

Evaluator SoftDemapper::evaluator_for(NoiseVariance noise, SoftBitFormat format) const {
    return impl_->maker.planner(impl_->config.modulation).evaluator_for(noise.scalar(), format);
}

const Device& SoftDemapper::device() const {
    return impl_->maker.device();
}

const SoftDemapper::Config& SoftDemapper::config() const {
    return impl_->config;
}

struct PHY_HIDDEN BatchDemapper::Impl {
    Config config;
    JobMaker maker;

    [[nodiscard]] JobMaker::Planned make(std::span<const Allocation> allocations, std::size_t index) const;
};

JobMaker::Planned BatchDemapper::Impl::make(std::span<const Allocation> allocations,
                                            std::size_t index) const {
    return phy::detail::naming_allocation(index, [&] {
        const JobMaker::Planned planned = maker.make(allocations[index]);
        phy::detail::check_same_format(allocations[index], allocations.front());
        return planned;
    });
}

BatchDemapper::BatchDemapper(const Device& device, const Config& config)
    : impl_(new Impl{config, JobMaker(device, config)}) {}

void BatchDemapper::prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format) {
    const Algorithm algorithm = impl_->maker.prepare(modulation, noise, format);
    const CurrentDevice current(device());
    detail::load_batch(algorithm, format);
}

void BatchDemapper::clear_tables() {
    impl_->maker.clear_tables();
}

void BatchDemapper::operator()(std::span<const Allocation> allocations, cudaStream_t stream,
                               DeviceSpan<DemapCounters> counters) const {
    if (allocations.empty()) return;
    const JobMaker::Planned first = impl_->make(allocations, 0);
    // With more than max_jobs allocations the loop below may start a launch before it has checked them all.
    for (std::size_t i = 1; allocations.size() > detail::max_jobs && i < allocations.size(); ++i)
        static_cast<void>(impl_->make(allocations, i));
    const Common common = impl_->maker.common(allocations.front().llr.format(), counters);
    const CurrentDevice current(device());
    std::array<Batch, phy::detail::all_algorithms.size()> batches;
    for (Batch& batch : batches)
        batch.jobs = 0;
    const auto start = [&](Algorithm algorithm) {
        Batch& batch = batches[static_cast<std::size_t>(algorithm)];
        if (batch.jobs == 0) return;
        batch.common = common;
        detail::launch(algorithm, batch, stream);
        batch.jobs = 0;
    };
    for (std::size_t i = 0; i < allocations.size(); ++i) {
        const JobMaker::Planned planned = i == 0 ? first : impl_->make(allocations, i);
        if (planned.job.count == 0) continue;
        Batch& batch = batches[static_cast<std::size_t>(planned.algorithm)];
        batch.job[batch.jobs++] = planned.job;
        if (batch.jobs == detail::max_jobs) start(planned.algorithm);
    }
    for (const Algorithm algorithm : phy::detail::all_algorithms)
        start(algorithm);
}

const Device& BatchDemapper::device() const {
    return impl_->maker.device();
}

const BatchDemapper::Config& BatchDemapper::config() const {
    return impl_->config;
}

}  // namespace phy::gpu

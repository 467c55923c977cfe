#include "phy/demapper/demapper_cuda.hpp"

#include <array>

#include "phy/demapper/cuda/jobs.hpp"
#include "phy/demapper/cuda/launch.hpp"
#include "phy/demapper/math/check.hpp"

namespace phy::gpu {

using detail::Algorithm;
using detail::Batch;
using detail::Common;
using detail::JobMaker;

struct PHY_HIDDEN BatchDemapper::Impl {
    Config config;
    JobMaker maker;

    [[nodiscard]] JobMaker::Planned make(std::span<const Allocation> allocations, std::size_t index) const;
    void launch(std::span<const Allocation> allocations, Algorithm algorithm, const Common& common,
                cudaStream_t stream) const;
};

JobMaker::Planned BatchDemapper::Impl::make(std::span<const Allocation> allocations,
                                            std::size_t index) const {
    return phy::detail::naming_allocation(index, [&] {
        const JobMaker::Planned planned = maker.make(allocations[index]);
        phy::detail::check_same_format(allocations[index], allocations.front());
        return planned;
    });
}

void BatchDemapper::Impl::launch(std::span<const Allocation> allocations, Algorithm algorithm,
                                 const Common& common, cudaStream_t stream) const {
    Batch batch;
    batch.common = common;
    batch.jobs = 0;
    for (std::size_t i = 0; i < allocations.size(); ++i) {
        auto planned = make(allocations, i);
        if (planned.algorithm != algorithm || planned.job.count == 0) continue;
        batch.job[batch.jobs++] = planned.job;
        if (batch.jobs == detail::most_jobs) {
            detail::launch(algorithm, batch, stream);
            batch.jobs = 0;
        }
    }
    if (batch.jobs > 0) detail::launch(algorithm, batch, stream);
}

BatchDemapper::BatchDemapper(const Device& device, const Config& config)
    : impl_(new Impl{config, JobMaker(device, config)}) {}

BatchDemapper::~BatchDemapper() = default;
BatchDemapper::BatchDemapper(BatchDemapper&&) noexcept = default;
BatchDemapper& BatchDemapper::operator=(BatchDemapper&&) noexcept = default;

void BatchDemapper::prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format) {
    const Algorithm algorithm = impl_->maker.prepare(modulation, noise, format);
    const CurrentDevice current(device());
    detail::load_batch(algorithm, format);
}

void BatchDemapper::forget_tables() {
    impl_->maker.forget_tables();
}

void BatchDemapper::operator()(std::span<const Allocation> allocations, cudaStream_t stream,
                               DeviceSpan<DemapCounters> counters) const {
    if (allocations.empty()) return;
    std::array<bool, phy::detail::all_algorithms.size()> uses = {};
    for (std::size_t i = 0; i < allocations.size(); ++i)
        uses[static_cast<std::size_t>(impl_->make(allocations, i).algorithm)] = true;
    const Common common = impl_->maker.common(allocations.front().llr.format(), counters);
    const CurrentDevice current(device());
    for (const Algorithm algorithm : phy::detail::all_algorithms) {
        if (uses[static_cast<std::size_t>(algorithm)]) impl_->launch(allocations, algorithm, common, stream);
    }
}

const Device& BatchDemapper::device() const {
    return impl_->maker.device();
}

const BatchDemapper::Config& BatchDemapper::config() const {
    return impl_->config;
}

}  // namespace phy::gpu

#include "phy/demapper/demapper_cuda.hpp"

#include "phy/demapper/cuda/jobs.hpp"
#include "phy/demapper/cuda/launch.hpp"

namespace phy::gpu {

using detail::Algorithm;
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

SoftDemapper::~SoftDemapper() = default;
SoftDemapper::SoftDemapper(SoftDemapper&&) noexcept = default;
SoftDemapper& SoftDemapper::operator=(SoftDemapper&&) noexcept = default;

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

}  // namespace phy::gpu

#include "phy/demapper/demapper.hpp"
#include "phy/demapper/host/soft_runner.hpp"
#include "phy/demapper/math/check.hpp"

namespace phy {

using detail::Planner;
using detail::SoftRunner;
using detail::SoftWork;
using detail::TableCache;

struct PHY_HIDDEN SoftDemapper::Impl {
    Config config;
    Planner planner;
    SoftRunner runner;
    TableCache tables{1};
};

SoftDemapper::SoftDemapper(const Host& host, const Config& config)
    : impl_(new Impl{config, Planner(config), SoftRunner(host, detail::without_modulation(config))}) {}

SoftDemapper::~SoftDemapper() = default;
SoftDemapper::SoftDemapper(SoftDemapper&&) noexcept = default;
SoftDemapper& SoftDemapper::operator=(SoftDemapper&&) noexcept = default;

void SoftDemapper::operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr,
                              std::uint64_t first_symbol, DemapCounters* counters,
                              std::span<const std::uint32_t> signs) {
    const Allocation allocation{impl_->config.modulation, symbols, noise, llr, first_symbol, signs};
    detail::check_allocation(allocation);
    impl_->tables.start_call();
    SoftWork work(allocation, impl_->planner, impl_->tables);
    impl_->runner.run({&work, 1}, counters);
}

Evaluator SoftDemapper::evaluator_for(NoiseVariance noise, SoftBitFormat format) const {
    return impl_->planner.evaluator_for(noise.scalar(), format);
}

const Host& SoftDemapper::host() const {
    return impl_->runner.host();
}

const SoftDemapper::Config& SoftDemapper::config() const {
    return impl_->config;
}

}  // namespace phy

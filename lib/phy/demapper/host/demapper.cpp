#include <vector>

#include "phy/demapper/batch.hpp"
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

namespace {

constexpr std::size_t kept_tables = 32;

void check(std::span<const Allocation> allocations) {
    for (std::size_t i = 0; i < allocations.size(); ++i) {
        detail::naming_allocation(i, [&] {
            detail::check_allocation(allocations[i]);
            detail::check_same_format(allocations[i], allocations[0]);
        });
    }
}

}  // namespace

struct PHY_HIDDEN BatchDemapper::Impl {
    Config config;
    std::vector<Planner> planners;  ///< by modulation
    SoftRunner runner;
    TableCache tables{kept_tables};
    std::vector<SoftWork> works = {};  ///< of the current call
};

BatchDemapper::BatchDemapper(const Host& host, const Config& config)
    : impl_(new Impl{config, detail::planners_of(config), SoftRunner(host, config)}) {}

void BatchDemapper::operator()(std::span<const Allocation> allocations, DemapCounters* counters) {
    check(allocations);
    impl_->tables.start_call();
    impl_->works.clear();
    for (const Allocation& allocation : allocations) {
        const Planner& planner = impl_->planners[static_cast<std::size_t>(allocation.modulation)];
        impl_->works.emplace_back(allocation, planner, impl_->tables);
    }
    impl_->runner.run(impl_->works, counters);
}

const Host& BatchDemapper::host() const {
    return impl_->runner.host();
}

const BatchDemapper::Config& BatchDemapper::config() const {
    return impl_->config;
}

}  // namespace phy

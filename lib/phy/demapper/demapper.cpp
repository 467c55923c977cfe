#include "phy/demapper/demapper.hpp"

#include "phy/demapper/soft_runner.hpp"

namespace phy {

using detail::Planner;
using detail::SoftRunner;
using detail::SoftWork;
using detail::TableCache;

struct SoftDemapper::Impl {
    explicit Impl(const Config& checked)
        : config(checked),
          planner(checked),
          runner(checked.full_scale, checked.llr_clip, checked.threads, checked.backend) {}

    void run(SymbolView symbols, const NoiseVariance& noise, SoftBitSpan llr, std::uint64_t first_symbol,
             DemapCounters* counters);

    Config config;
    Planner planner;
    SoftRunner runner;
    TableCache tables{1};
};

void SoftDemapper::Impl::run(SymbolView symbols, const NoiseVariance& noise, SoftBitSpan llr,
                             std::uint64_t first_symbol, DemapCounters* counters) {
    const Allocation allocation{config.modulation, symbols, noise, llr, first_symbol};
    detail::check_allocation(allocation);
    tables.start_call();
    SoftWork work(allocation, planner, tables);
    runner.run({&work, 1}, counters);
}

SoftDemapper::SoftDemapper(const Config& config) {
    impl_ = std::make_unique<Impl>(config);
}

SoftDemapper::~SoftDemapper() = default;
SoftDemapper::SoftDemapper(SoftDemapper&&) noexcept = default;
SoftDemapper& SoftDemapper::operator=(SoftDemapper&&) noexcept = default;

void SoftDemapper::operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr,
                              std::uint64_t first_symbol) {
    impl_->run(symbols, noise, llr, first_symbol, nullptr);
}

void SoftDemapper::operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr,
                              DemapCounters& counters, std::uint64_t first_symbol) {
    impl_->run(symbols, noise, llr, first_symbol, &counters);
}

Evaluator SoftDemapper::evaluator_for(NoiseVariance noise, SoftBitFormat format) const {
    return impl_->planner.table_for(noise, format) ? Evaluator::table : Evaluator::arithmetic;
}

Backend SoftDemapper::backend() const {
    return impl_->runner.backend();
}

const SoftDemapper::Config& SoftDemapper::config() const {
    return impl_->config;
}

}  // namespace phy

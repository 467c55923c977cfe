#include "phy/demapper/batch.hpp"

#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/demapper/soft_runner.hpp"

namespace phy {

using detail::Planner;
using detail::SoftRunner;
using detail::SoftWork;
using detail::TableCache;

namespace {

constexpr std::size_t kept_tables = 32;

/// One a modulation.
std::vector<Planner> planners_of(const BatchDemapper::Config& config) {
    std::vector<Planner> planners;
    for (const Modulation modulation : all_modulations) {
        planners.emplace_back(SoftDemapper::Config{.modulation = modulation,
                                                   .method = config.method,
                                                   .evaluator = config.evaluator,
                                                   .llr_scale = config.llr_scale,
                                                   .llr_clip = config.llr_clip,
                                                   .full_scale = config.full_scale,
                                                   .threads = config.threads,
                                                   .backend = config.backend});
    }
    return planners;
}

void check(std::span<const Allocation> allocations) {
    for (std::size_t i = 0; i < allocations.size(); ++i) {
        try {
            detail::check_allocation(allocations[i]);
            detail::check_same_format(allocations[i], allocations[0]);
        } catch (const ArgumentError& error) {
            throw ArgumentError("allocation " + std::to_string(i) + ": " + error.what());
        }
    }
}

}  // namespace

struct BatchDemapper::Impl {
    explicit Impl(const Config& checked)
        : config(checked),
          planners(planners_of(checked)),
          runner(checked.full_scale, checked.llr_clip, checked.threads, checked.backend) {}

    void run(std::span<const Allocation> allocations, DemapCounters* counters);

    Config config;
    std::vector<Planner> planners;
    SoftRunner runner;
    TableCache tables{kept_tables};
    std::vector<SoftWork> works;  ///< of the running call
};

void BatchDemapper::Impl::run(std::span<const Allocation> allocations, DemapCounters* counters) {
    check(allocations);
    tables.start_call();
    works.clear();
    for (const Allocation& allocation : allocations)
        works.emplace_back(allocation, planners[static_cast<std::size_t>(allocation.modulation)], tables);
    runner.run(works, counters);
}

BatchDemapper::BatchDemapper(const Config& config) : impl_(std::make_unique<Impl>(config)) {}

BatchDemapper::~BatchDemapper() = default;
BatchDemapper::BatchDemapper(BatchDemapper&&) noexcept = default;
BatchDemapper& BatchDemapper::operator=(BatchDemapper&&) noexcept = default;

void BatchDemapper::operator()(std::span<const Allocation> allocations) {
    impl_->run(allocations, nullptr);
}

void BatchDemapper::operator()(std::span<const Allocation> allocations, DemapCounters& counters) {
    impl_->run(allocations, &counters);
}

Backend BatchDemapper::backend() const {
    return impl_->runner.backend();
}

const BatchDemapper::Config& BatchDemapper::config() const {
    return impl_->config;
}

}  // namespace phy

#pragma once

#include <memory>
#include <mutex>

#include "phy/demapper/stage.hpp"

namespace phy::detail {

/// What all runners of a stage have counted in runs that came to their end.
class SharedDemapCounters {
public:
    void add(const DemapCounters& counters) {
        const std::lock_guard lock(mutex_);
        sum_.erasures += counters.erasures;
        sum_.saturated += counters.saturated;
    }

    [[nodiscard]] DemapCounters sum() const {
        const std::lock_guard lock(mutex_);
        return sum_;
    }

private:
    mutable std::mutex mutex_;
    DemapCounters sum_;
};

/// The configuration and the counters outlive the runner.
std::unique_ptr<StageRunner> make_demap_on_device(const SoftDemapStage::Config& config, int device,
                                                  SharedDemapCounters& total);

}  // namespace phy::detail

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "phy/cuda/buffer.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/cuda/launch.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/demapper/math/plan.hpp"
#include "phy/demapper/math/table.hpp"

namespace phy::gpu::detail {

/// The latest SoftDemapper::max_tables tables in device memory, by key.
class DeviceTables {
public:
    explicit DeviceTables(const Device& device) : device_(device) {}

    /// Waits until the table is on the device. If it replaces another table, waits for all work of the
    /// device.
    void add(const phy::detail::TableKey& key);

    /// Null if it was not added.
    [[nodiscard]] const Table* find(const phy::detail::TableKey& key) const;

    /// Waits for the device.
    void clear();

private:
    struct Entry {
        DeviceBuffer<std::byte> memory;
        Table table;
        std::uint64_t added;  ///< number of the latest add() call for this table
    };

    Device device_;
    std::uint64_t calls_ = 0;
    std::map<phy::detail::TableKey, Entry> entries_;
};

/// Turns the arguments of a call into a job for the kernels, for every modulation.
class JobMaker {
public:
    JobMaker(const Device& device, const BatchDemapperConfig& config);

    struct Planned {
        Algorithm algorithm;
        Job job;
    };

    /// Throws ArgumentError if the allocation is invalid or its table is not prepared.
    [[nodiscard]] Planned make(const Allocation& allocation) const;

    /// Throws ArgumentError if there is more than one counters element.
    [[nodiscard]] Common common(SoftBitFormat format, DeviceSpan<DemapCounters> counters) const;

    /// Puts the table that such allocations need, if any, on the device. Returns their algorithm.
    Algorithm prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format);
    void clear_tables() { tables_.clear(); }

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const phy::detail::Planner& planner(Modulation modulation) const {
        return planners_[static_cast<std::size_t>(modulation)];
    }

private:
    [[nodiscard]] const Table& prepared_table(const phy::detail::TableKey& key) const;

    Device device_;
    BatchDemapperConfig config_;
    std::vector<phy::detail::Planner> planners_;  ///< by modulation
    DeviceTables tables_;
};

}  // namespace phy::gpu::detail

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "phy/cuda/buffer.hpp"
#include "phy/demapper/cuda/launch.hpp"
#include "phy/demapper/demapper_cuda.hpp"
#include "phy/demapper/math/plan.hpp"
#include "phy/demapper/math/table.hpp"

namespace phy::gpu::detail {

/// Tables in device memory, by what they were made for: the latest ones,
/// SoftDemapper::max_tables of them.
class DeviceTables {
public:
    explicit DeviceTables(const Device& device) : device_(device) {}

    /// Waits until the table is on the device, and where it takes the place of another, for all work of the
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
        std::uint64_t added;  ///< by which call of add()
    };

    Device device_;
    std::uint64_t calls_ = 0;
    std::map<phy::detail::TableKey, Entry> entries_;
};

/// From the arguments of a call to a job for the kernels, for every modulation.
class JobMaker {
public:
    /// The modulation of the configuration does not matter.
    JobMaker(const Device& device, const DemapperConfig& config);

    struct Planned {
        Algorithm algorithm;
        Job job;
    };

    /// Throws ArgumentError for what is wrong with the allocation, or where its table is not prepared.
    [[nodiscard]] Planned make(const Allocation& allocation) const;

    /// Throws ArgumentError unless counters are none or one.
    [[nodiscard]] Common common(SoftBitFormat format, DeviceSpan<DemapCounters> counters) const;

    /// Puts the table on the device that such allocations need, and returns how they are evaluated.
    Algorithm prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format);
    void clear_tables() { tables_.clear(); }

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const phy::detail::Planner& planner(Modulation modulation) const {
        return planners_[static_cast<std::size_t>(modulation)];
    }

private:
    [[nodiscard]] const Table& prepared_table(const phy::detail::TableKey& key) const;

    Device device_;
    DemapperConfig config_;
    std::vector<phy::detail::Planner> planners_;  ///< by modulation
    DeviceTables tables_;
};

}  // namespace phy::gpu::detail

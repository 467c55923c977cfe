#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "phy/core/cuda.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/launch_cuda.hpp"
#include "phy/demapper/plan.hpp"
#include "phy/demapper/table.hpp"

namespace phy::gpu::detail {

/// Tables in device memory, by what they were made for.
class DeviceTables {
public:
    explicit DeviceTables(const Device& device) : device_(device) {}

    /// Waits until the table is on the device.
    void add(const phy::detail::TableKey& key);

    /// Null if it was not added.
    [[nodiscard]] const Table* find(const phy::detail::TableKey& key) const;

    /// Waits for the device.
    void clear();

private:
    struct Entry {
        phy::detail::TableKey key;
        DeviceBuffer<std::byte> memory;
        Table table;
    };

    Device device_;
    std::vector<Entry> entries_;
};

/// From the arguments of a call to a job for the kernels, for every modulation.
class JobMaker {
public:
    /// The modulation, threads and backend of the configuration do not matter.
    JobMaker(const Device& device, const phy::SoftDemapper::Config& config);

    struct Planned {
        Evaluation evaluation;
        Job job;
    };

    /// Throws ArgumentError for what is wrong with the allocation, or where its table is not prepared.
    [[nodiscard]] Planned make(const Allocation& allocation) const;

    [[nodiscard]] Common common(SoftBitFormat format, DemapCounters* counters) const;

    /// Puts the table on the device that such allocations need, and returns how they are evaluated.
    Evaluation prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format);
    void forget_tables() { tables_.clear(); }

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const phy::detail::Planner& planner(Modulation modulation) const {
        return planners_[static_cast<std::size_t>(modulation)];
    }

private:
    [[nodiscard]] float unit_of(SampleFormat format) const;

    Device device_;
    int llr_clip_;
    float full_scale_;
    std::vector<phy::detail::Planner> planners_;  ///< by modulation
    DeviceTables tables_;
};

}  // namespace phy::gpu::detail

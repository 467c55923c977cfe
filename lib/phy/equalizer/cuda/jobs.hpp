#pragma once

#include <array>
#include <cstddef>

#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/equalizer/cuda/launch.hpp"
#include "phy/equalizer/math/plan.hpp"

namespace phy::gpu::detail {

/// Turns the arguments of a call into jobs for the kernels.
class EqualizerJobs {
public:
    EqualizerJobs(const Device& device, const EqualizerConfig& config);

    struct Inputs {
        SymbolView grid;
        DeviceSpan<const float> channel;
        DeviceSpan<const SlotEstimate> slots;
        DeviceSpan<const cf32> covariance;
        DeviceSpan<std::byte> workspace;
    };

    /// Throws ArgumentError if the inputs are invalid.
    void check(const Inputs& inputs) const;

    /// Starts the whitening kernels, if any, and calls start(job) for each job: first symbols that share
    /// filters, then those that do not. Inputs must be checked and have at least one slot.
    template <typename Start>
    void run(const Inputs& inputs, cudaStream_t stream, Start start) const {
        EqualizerJob job = job_of(inputs, stream);
        for (const bool shares : {true, false}) {
            set_groups(job, shares);
            if (job.group_count == 0) continue;
            start(job);
            job.follows = job.slot_count < max_blocks_of_slots;
        }
    }

    [[nodiscard]] std::size_t workspace_bytes(std::size_t slots) const;
    [[nodiscard]] const phy::detail::EqualizerPlan& plan() const { return plan_; }
    [[nodiscard]] const Device& device() const { return device_; }

private:
    [[nodiscard]] EqualizerJob job_of(const Inputs& inputs, cudaStream_t stream) const;
    void set_groups(EqualizerJob& job, bool shares_filters) const;

    Device device_;
    unsigned multiprocessors_;
    unsigned max_parts_ = 1;  ///< symbols of the largest group
    phy::detail::EqualizerPlan plan_;
    DeviceBuffer<ResourceMap::Entry> entries_;
    DeviceBuffer<float> weights_;
    std::array<DeviceBuffer<DeviceGroup>, 2> groups_;  ///< without shared filters, with shared filters
};

}  // namespace phy::gpu::detail

#pragma once

#include <array>
#include <cstddef>

#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/equalizer/cuda/launch.hpp"
#include "phy/equalizer/math/plan.hpp"

namespace phy::gpu::detail {

/// From the arguments of a call to jobs for the kernels.
class EqualizerJobs {
public:
    EqualizerJobs(const Device& device, const EqualizerConfig& config);

    struct Inputs {
        SymbolView grid;
        DeviceSpan<const float> channel;
        DeviceSpan<const SlotEstimate> slots;
        DeviceSpan<const cf32> covariance;
        DeviceSpan<float> workspace;
    };

    /// Throws ArgumentError for what is wrong with the inputs.
    void check(const Inputs& inputs) const;

    /// Starts the kernels that whiten, if any, and calls start(job) for the jobs that the work takes: symbols
    /// that share filters, and those that do not. Of checked inputs with at least one slot.
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

    [[nodiscard]] std::size_t workspace_size(std::size_t slots) const;
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
    std::array<DeviceBuffer<DeviceGroup>, 2> groups_;  ///< those that do not share filters, those that do
};

/// True if the memory begins at a multiple of as many bytes.
inline bool is_aligned(const void* memory, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(memory) % bytes == 0;
}

}  // namespace phy::gpu::detail

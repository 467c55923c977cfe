#include "phy/equalizer/cuda/jobs.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/core/integers.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/workspace.hpp"

namespace phy::gpu::detail {
namespace {

unsigned blocks_of_group(const EqualizerJob& job) {
    return (job.subcarriers + equalizer_threads - 1) / equalizer_threads;
}

}  // namespace

EqualizerJobs::EqualizerJobs(const Device& device, const EqualizerConfig& config)
    : device_(device), multiprocessors_(static_cast<unsigned>(device.multiprocessors())), plan_(config) {
    std::vector<float> weights;
    std::array<std::vector<DeviceGroup>, 2> groups;
    for (const phy::detail::WeightGroup& group : plan_.groups()) {
        DeviceGroup entry{};
        entry.first_weight = group.weights.empty() ? -1 : static_cast<std::int32_t>(weights.size());
        entry.estimate = group.estimate;
        entry.symbols = static_cast<std::int32_t>(group.symbols.size());
        std::ranges::copy(group.symbols, entry.symbol.begin());
        weights.insert(weights.end(), group.weights.begin(), group.weights.end());
        groups[group.shares_filters() ? 1 : 0].push_back(entry);
        max_parts_ = std::max(max_parts_, static_cast<unsigned>(group.symbols.size()));
    }
    entries_ = upload(device, plan_.map().entries());
    weights_ = upload(device, weights);
    for (std::size_t i = 0; i < groups.size(); ++i)
        groups_[i] = upload(device, groups[i]);
}

std::size_t EqualizerJobs::workspace_bytes(std::size_t slots) const {
    return slots * (plan_.channel_size() + 2 * plan_.covariance_size()) * sizeof(float);
}

void EqualizerJobs::check(const Inputs& inputs) const {
    const std::size_t slots = inputs.slots.size();
    plan_.check_inputs({inputs.grid.size(), inputs.channel.size(), slots, inputs.covariance.size()},
                       inputs.grid.format());
    if (slots > max_blocks_of_slots)
        throw ArgumentError(std::to_string(slots) + " slots: expected at most " +
                            std::to_string(max_blocks_of_slots));
    if (!phy::detail::is_aligned(inputs.grid.data(), size_of(inputs.grid.format())))
        throw ArgumentError("grid: expected an address that is a multiple of a sample's size, " +
                            std::to_string(size_of(inputs.grid.format())) + " bytes");
    if (!inputs.covariance.empty()) checked_workspace<float>(inputs.workspace, workspace_bytes(slots));
}

EqualizerJob EqualizerJobs::job_of(const Inputs& inputs, cudaStream_t stream) const {
    EqualizerJob job{};
    job.format = inputs.grid.format();
    job.unit = plan_.unit_of(job.format);
    job.sample_bytes = static_cast<unsigned>(size_of(job.format));
    job.grid = inputs.grid.data();
    job.channel = inputs.channel.data();
    job.slots = reinterpret_cast<const float*>(inputs.slots.data());
    job.entries = entries_.data();
    job.weights = weights_.data();
    job.estimates = static_cast<unsigned>(plan_.estimates());
    job.antennas = static_cast<unsigned>(plan_.antennas());
    job.layers = static_cast<unsigned>(plan_.layers());
    job.subcarriers = static_cast<unsigned>(plan_.subcarriers());
    job.slot_count = static_cast<unsigned>(inputs.slots.size());
    job.elements = static_cast<unsigned>(plan_.map().elements());
    job.mmse = plan_.mmse();
    if (inputs.covariance.empty()) return job;

    WhiteningJob whitening{};
    whitening.covariance = reinterpret_cast<const float*>(inputs.covariance.data());
    whitening.slots = job.slots;
    whitening.channel = job.channel;
    whitening.whitened = checked_workspace<float>(inputs.workspace, workspace_bytes(inputs.slots.size()));
    whitening.whitening = whitening.whitened + inputs.slots.size() * plan_.channel_size();
    whitening.estimates = job.estimates;
    whitening.antennas = job.antennas;
    whitening.layers = job.layers;
    whitening.subcarriers = job.subcarriers;
    whitening.slot_count = job.slot_count;
    launch(whitening, stream);
    job.whitening = whitening.whitening;
    job.channel = whitening.whitened;
    return job;
}

void EqualizerJobs::set_groups(EqualizerJob& job, bool shares_filters) const {
    const DeviceBuffer<DeviceGroup>& groups = groups_[shares_filters ? 1 : 0];
    job.shares_filters = shares_filters;
    job.groups = groups.data();
    job.group_count = static_cast<unsigned>(groups.size());
    job.parts = 1;
    if (groups.size() == 0) return;
    const unsigned blocks = blocks_of_group(job) * job.slot_count * (shares_filters ? job.group_count : 1);
    const unsigned most = shares_filters ? max_parts_ : job.group_count;
    job.parts = std::clamp(equalizer_blocks_wanted * multiprocessors_ / blocks, 1U, most);
}

}  // namespace phy::gpu::detail

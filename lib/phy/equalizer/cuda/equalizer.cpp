#include "phy/equalizer/equalizer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/workspace.hpp"
#include "phy/equalizer/cuda/launch.hpp"
#include "phy/equalizer/math/plan.hpp"

namespace phy::gpu {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace)

bool is_aligned(const void* memory, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(memory) % bytes == 0;
}

struct Inputs {
    SymbolView grid;
    DeviceSpan<const float> channel;
    DeviceSpan<const SlotEstimate> slots;
    DeviceSpan<const cf32> covariance;
    DeviceSpan<std::byte> workspace;
};

}  // namespace

struct PHY_HIDDEN Equalizer::Impl {
    Impl(const Device& on, const Config& config);

    [[nodiscard]] std::size_t workspace_bytes(std::size_t slots) const;

    /// Throws ArgumentError if inputs of the right sizes are invalid.
    void check(const Inputs& inputs) const;

    /// Returns the job without groups of symbols. Starts the whitening kernels, if any.
    [[nodiscard]] EqualizerJob make_job(const Inputs& inputs, cudaStream_t stream) const;
    void set_groups(EqualizerJob& job, bool shares_filters) const;

    Device device;
    unsigned multiprocessors;
    unsigned max_parts = 1;  ///< symbols of the largest group
    phy::detail::EqualizerPlan plan;
    DeviceBuffer<ResourceMap::Entry> entries;
    DeviceBuffer<float> weights;
    std::array<DeviceBuffer<DeviceGroup>, 2> groups;  ///< without shared filters, with shared filters
};

Equalizer::Impl::Impl(const Device& on, const Config& config)
    : device(on), multiprocessors(static_cast<unsigned>(on.multiprocessors())), plan(config) {
    std::vector<float> all_weights;
    std::array<std::vector<DeviceGroup>, 2> all_groups;
    for (const phy::detail::WeightGroup& group : plan.groups()) {
        DeviceGroup entry{};
        entry.first_weight = group.weights.empty() ? -1 : static_cast<std::int32_t>(all_weights.size());
        entry.estimate = group.estimate;
        entry.symbols = static_cast<std::int32_t>(group.symbols.size());
        std::ranges::copy(group.symbols, entry.symbol.begin());
        all_weights.insert(all_weights.end(), group.weights.begin(), group.weights.end());
        all_groups[group.shares_filters ? 1 : 0].push_back(entry);
        max_parts = std::max(max_parts, static_cast<unsigned>(group.symbols.size()));
    }
    entries = upload(device, plan.map().entries());
    weights = upload(device, all_weights);
    for (std::size_t i = 0; i < groups.size(); ++i)
        groups[i] = upload(device, all_groups[i]);
}

std::size_t Equalizer::Impl::workspace_bytes(std::size_t slots) const {
    const auto matrices =
        static_cast<std::size_t>(subbands(plan.antennas(), plan.config().allocation.carrier_resource_blocks));
    return slots * (plan.channel_size() + 2 * matrices * plan.matrix_size()) * sizeof(float);
}

void Equalizer::Impl::check(const Inputs& inputs) const {
    const std::size_t slots = inputs.slots.size();
    if (slots > max_blocks_of_slots)
        throw ArgumentError(std::to_string(slots) + " slots: expected at most " +
                            std::to_string(max_blocks_of_slots));
    if (!is_aligned(inputs.grid.data(), size_of(inputs.grid.format())))
        throw ArgumentError("grid: expected an address that is a multiple of a sample's size, " +
                            std::to_string(size_of(inputs.grid.format())) + " bytes");
    if (!inputs.covariance.empty()) checked_workspace<float>(inputs.workspace, workspace_bytes(slots));
}

EqualizerJob Equalizer::Impl::make_job(const Inputs& inputs, cudaStream_t stream) const {
    EqualizerJob job{};
    job.format = inputs.grid.format();
    job.unit = plan.unit_of(job.format);
    job.sample_bytes = static_cast<unsigned>(size_of(job.format));
    job.grid = inputs.grid.data();
    job.channel = inputs.channel.data();
    job.slots = reinterpret_cast<const float*>(inputs.slots.data());
    job.entries = entries.data();
    job.weights = weights.data();
    job.estimates = static_cast<unsigned>(plan.estimates());
    job.time_sets = static_cast<unsigned>(plan.config().time_sets);
    job.antennas = static_cast<unsigned>(plan.antennas());
    job.layers = static_cast<unsigned>(plan.layers());
    job.subcarriers = static_cast<unsigned>(plan.subcarriers());
    job.slot_count = static_cast<unsigned>(inputs.slots.size());
    job.elements = static_cast<unsigned>(plan.map().elements());
    job.mmse = plan.mmse();
    if (inputs.covariance.empty()) return job;

    WhiteningJob whitening{};
    whitening.covariance = reinterpret_cast<const float*>(inputs.covariance.data());
    whitening.slots = job.slots;
    whitening.channel = job.channel;
    whitening.whitened = checked_workspace<float>(inputs.workspace, workspace_bytes(inputs.slots.size()));
    whitening.whitening = whitening.whitened + inputs.slots.size() * plan.channel_size();
    whitening.estimates = job.estimates;
    whitening.antennas = job.antennas;
    whitening.layers = job.layers;
    whitening.subcarriers = job.subcarriers;
    const auto all = plan.subbands_of(inputs.slots.size(), inputs.covariance.size());
    job.subbands = whitening.subbands = static_cast<unsigned>(all.count);
    job.of_subband = whitening.of_subband =
        static_cast<unsigned>(all.blocks) * subcarriers_per_resource_block;
    whitening.slot_count = job.slot_count;
    launch(whitening, stream);
    job.whitening = whitening.whitening;
    job.channel = whitening.whitened;
    return job;
}

void Equalizer::Impl::set_groups(EqualizerJob& job, bool shares_filters) const {
    const DeviceBuffer<DeviceGroup>& of_kind = groups[shares_filters ? 1 : 0];
    job.shares_filters = shares_filters;
    job.groups = of_kind.data();
    job.group_count = static_cast<unsigned>(of_kind.size());
    job.parts = 1;
    if (of_kind.size() == 0) return;
    const unsigned blocks_of_group = (job.subcarriers + equalizer_threads - 1) / equalizer_threads;
    const unsigned blocks = blocks_of_group * job.slot_count * (shares_filters ? job.group_count : 1);
    const unsigned limit = shares_filters ? max_parts : job.group_count;
    job.parts = std::clamp(equalizer_blocks_wanted * multiprocessors / blocks, 1U, limit);
}

Equalizer::Equalizer(const Device& device, const Config& config) : impl_(new Impl(device, config)) {}

std::size_t Equalizer::elements_per_slot() const {
    return impl_->plan.map().elements();
}

std::size_t Equalizer::symbols_per_slot() const {
    return impl_->plan.symbols();
}

int Equalizer::estimates() const {
    return impl_->plan.estimates();
}

std::size_t Equalizer::workspace_bytes(std::size_t slots) const {
    return impl_->workspace_bytes(slots);
}

void Equalizer::operator()(SymbolView grid, DeviceSpan<const float> channel,
                           DeviceSpan<const SlotEstimate> slots, DeviceSpan<cf32> symbols,
                           DeviceSpan<float> noise_variance, cudaStream_t stream,
                           DeviceSpan<const cf32> covariance, DeviceSpan<std::byte> workspace,
                           DeviceSpan<LayerPair> pairs) const {
    const Inputs inputs = {grid, channel, slots, covariance, workspace};
    impl_->plan.check_sizes({.grid = grid.size(),
                             .channel = channel.size(),
                             .slots = slots.size(),
                             .covariance = covariance.size(),
                             .symbols = symbols.size(),
                             .noise_variance = noise_variance.size(),
                             .pairs = pairs.size()},
                            grid.format());
    impl_->check(inputs);
    if (slots.empty()) return;
    constexpr std::size_t piece = 16;
    const EqualizerOutput out = {
        reinterpret_cast<float*>(symbols.data()), noise_variance.data(),
        pairs.empty() ? nullptr : pairs.data(),
        is_aligned(symbols.data(), piece) && is_aligned(noise_variance.data(), piece)};
    const CurrentDevice current(device());
    EqualizerJob job = impl_->make_job(inputs, stream);
    for (const bool shares_filters : {true, false}) {
        impl_->set_groups(job, shares_filters);
        if (job.group_count == 0) continue;
        job.is_followed =
            shares_filters && impl_->groups[0].size() > 0 && job.slot_count < max_blocks_of_slots;
        launch(job, out, stream);
        job.follows = job.is_followed;
    }
}

const Device& Equalizer::device() const {
    return impl_->device;
}

const Equalizer::Config& Equalizer::config() const {
    return impl_->plan.config();
}

}  // namespace phy::gpu

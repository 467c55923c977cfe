#include "phy/equalizer/equalizer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "phy/core/check.hpp"
#include "phy/equalizer/host/kernels.hpp"
#include "phy/equalizer/host/whitening.hpp"
#include "phy/equalizer/math/plan.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/simd/aligned_vector.hpp"
#include "phy/simd/arrays.hpp"

#define PHY_KERNELS "phy/equalizer/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

constexpr std::size_t block_subcarriers = subcarriers_per_resource_block;

std::size_t as_size(int number) {
    return static_cast<std::size_t>(number);
}

float* floats_of(LayerPair* pairs) {
    return reinterpret_cast<float*>(pairs);
}

/// Resource blocks that are equalised together in all OFDM symbols: few enough to keep their coefficients and
/// filters in the nearest caches, and as many as possible for long reads.
std::size_t blocks_at_once(const EqualizerPlan& plan) {
    // 4 resource blocks are whole vectors of any length.
    constexpr std::size_t min_blocks = 8;
    constexpr std::size_t max_blocks = 32;
    constexpr std::size_t floats = 6144;
    const auto is_sum = [](const WeightGroup& group) { return !group.weights.empty(); };
    const int estimates = std::ranges::any_of(plan.groups(), is_sum) ? plan.estimates() : 1;
    const std::size_t rows = as_size(2 * estimates * plan.antennas() * plan.layers());
    return std::clamp(floats / (rows * block_subcarriers) / 4 * 4, min_blocks, max_blocks);
}

/// Memory of one thread.
struct EqualizerWorkspace {
    // Rows are not a power of two apart, so that they use different sets of the cache.
    EqualizerWorkspace(const EqualizerPlan& plan, std::size_t subcarriers)
        : row(whole_vectors(subcarriers) + max_lanes),
          received_row(2 * row + padding),
          channel(as_size(2 * plan.estimates() * plan.antennas() * plan.layers()) * row),
          received(as_size(plan.antennas()) * received_row),
          filters(filter_rows(plan.layers(), plan.antennas()) * row),
          symbols(as_size(2 * plan.layers()) * row),
          noise(as_size(plan.layers()) * row),
          pairs(plan.config().pairs ? row : 0),
          whitening(plan.antennas(), subcarriers / block_subcarriers) {}

    std::size_t row;                ///< floats from row to row
    std::size_t received_row;       ///< floats from antenna to antenna
    AlignedVector<float> channel;   ///< rows as ChannelRows has them
    AlignedVector<float> received;  ///< of all antennas
    AlignedVector<float> filters;   ///< see EqualizerKernels
    AlignedVector<float> symbols;   ///< results to pick from
    AlignedVector<float> noise;
    AlignedVector<LayerPair> pairs;
    SubbandWhitening whitening;
};

/// Resource blocks without elements that a run may have in a row: to equalise them, as between PT-RS, costs
/// less than to begin anew.
constexpr std::size_t max_gap = 3;

/// Neighbouring subcarriers of an OFDM symbol whose elements follow each other in the codeword.
struct ElementRun {
    std::size_t first_subcarrier;
    std::size_t subcarriers;
    std::size_t first_element;
    std::size_t elements;
    std::span<const ResourceMap::Entry> entries;

    [[nodiscard]] bool is_full() const { return elements == subcarriers; }
};

/// Equalises a slot by blocks of neighbouring resource blocks.
class BlockEqualizer {
public:
    BlockEqualizer(const Host& host, const EqualizerConfig& config);
    BlockEqualizer(const BlockEqualizer&) = delete;  // runs point into the plan
    BlockEqualizer& operator=(const BlockEqualizer&) = delete;

    struct Call {
        SymbolView grid;
        const float* channel;
        std::span<const SlotEstimate> slots;
        const cf32* covariance;  ///< null: none
        EqualizerPlan::Subbands subbands;
        float* symbols;
        float* noise;
        LayerPair* pairs;    ///< null: none
        std::size_t number;  ///< tells the call from others
    };

    [[nodiscard]] const EqualizerPlan& plan() const { return plan_; }
    [[nodiscard]] std::size_t blocks() const;
    [[nodiscard]] EqualizerWorkspace make_workspace() const {
        return {plan_, blocks_at_once_ * block_subcarriers};
    }

    void operator()(EqualizerWorkspace& workspace, const Call& call, std::size_t slot,
                    std::size_t block) const;

private:
    struct Block {
        std::size_t slot;
        std::size_t first_block;
        std::size_t resource_blocks;
        bool at_end;  ///< reading beyond the last subcarrier is not allowed

        [[nodiscard]] std::size_t first() const { return first_block * block_subcarriers; }
        [[nodiscard]] std::size_t count() const { return resource_blocks * block_subcarriers; }
    };

    [[nodiscard]] Block block_of(const Call& call, std::size_t slot, std::size_t block) const;
    [[nodiscard]] std::span<const ElementRun> runs_of(std::size_t block, std::size_t symbols,
                                                      std::size_t first_symbol) const;

    /// Stages coefficients that need whitening or are at the end of the array.
    ChannelRows channel_of(EqualizerWorkspace& workspace, const Call& call, const Block& block) const;
    void stage_channel(EqualizerWorkspace& workspace, const Call& call, const Block& block,
                       const float* from) const;
    [[nodiscard]] ChannelRows with_weights(ChannelRows channel, const WeightGroup& group,
                                           const SlotEstimate& slot) const;
    [[nodiscard]] bool has_set(const SlotEstimate& slot) const;
    void make_whitening(EqualizerWorkspace& workspace, const Call& call, const Block& block) const;
    void make_filters(EqualizerWorkspace& workspace, const ChannelRows& channel, const Block& block) const;

    /// Stages samples that need widening or whitening, or are at the end of the array.
    ReceivedRows received_of(EqualizerWorkspace& workspace, const Call& call, const Block& block, int symbol,
                             const ElementRun& run) const;
    void equalize(const EqualizerWorkspace& workspace, const ChannelRows& channel, const WeightGroup& group,
                  const ReceivedRows& received, std::size_t offset, std::size_t count,
                  const EqualizedRow& out) const;

    /// Finds the runs of all blocks and OFDM symbols, once: counting elements takes as long as equalising
    /// some.
    void find_runs();
    /// Returns the run from the first entry with data, and removes its entries from the front.
    static ElementRun next_run(std::span<const ResourceMap::Entry>& entries, std::size_t first_subcarrier);
    void pick(const EqualizerWorkspace& workspace, const ElementRun& run, const EqualizedRow& out) const;

    void run_symbol(EqualizerWorkspace& workspace, const Call& call, const Block& block,
                    const ChannelRows& channel, const WeightGroup& group, int symbol) const;

    EqualizerPlan plan_;
    std::size_t blocks_at_once_;
    const EqualizerKernels* kernels_;
    const ArrayKernels* arrays_;
    std::vector<ElementRun> runs_;
    std::vector<std::size_t> first_run_;  ///< (blocks, symbols_per_slot), and the number of runs
};

BlockEqualizer::BlockEqualizer(const Host& host, const EqualizerConfig& config)
    : plan_(config),
      blocks_at_once_(blocks_at_once(plan_)),
      kernels_(&PHY_KERNELS_FOR(host.backend(), EqualizerKernels)),
      arrays_(&array_kernels(host.backend())) {
    find_runs();
}

std::size_t BlockEqualizer::blocks() const {
    const std::size_t of_block = blocks_at_once_ * block_subcarriers;
    return (plan_.subcarriers() + of_block - 1) / of_block;
}

void BlockEqualizer::operator()(EqualizerWorkspace& workspace, const Call& call, std::size_t slot,
                                std::size_t block) const {
    if (runs_of(block, symbols_per_slot, 0).empty()) return;
    const Block where = block_of(call, slot, block);
    const ChannelRows channel = channel_of(workspace, call, where);
    for (const WeightGroup& group : plan_.groups()) {
        const ChannelRows weighted = with_weights(channel, group, call.slots[slot]);
        if (group.shares_filters) make_filters(workspace, weighted, where);
        for (const int symbol : group.symbols)
            run_symbol(workspace, call, where, weighted, group, symbol);
    }
}

void BlockEqualizer::run_symbol(EqualizerWorkspace& workspace, const Call& call, const Block& block,
                                const ChannelRows& channel, const WeightGroup& group, int symbol) const {
    const std::size_t layers = as_size(plan_.layers());
    for (const ElementRun& run : runs_of(block.first_block / blocks_at_once_, 1, as_size(symbol))) {
        const ReceivedRows received = received_of(workspace, call, block, symbol, run);
        const std::size_t first = block.slot * plan_.symbols() + layers * run.first_element;
        LayerPair* const pairs = call.pairs == nullptr ? nullptr : call.pairs + first / layers;
        const EqualizedRow out = {call.symbols + 2 * first, call.noise + first, floats_of(pairs)};
        const EqualizedRow staged = {workspace.symbols.data(), workspace.noise.data(),
                                     pairs == nullptr ? nullptr : floats_of(workspace.pairs.data())};
        equalize(workspace, channel, group, received, run.first_subcarrier - block.first(), run.subcarriers,
                 run.is_full() ? out : staged);
        if (!run.is_full()) pick(workspace, run, out);
    }
}

BlockEqualizer::Block BlockEqualizer::block_of(const Call& call, std::size_t slot, std::size_t block) const {
    const std::size_t resource_blocks = plan_.subcarriers() / block_subcarriers;
    const std::size_t first = block * blocks_at_once_;
    const std::size_t count = std::min(blocks_at_once_, resource_blocks - first);
    // Runs may begin at any resource block, so their whole vectors may end after those of the whole row.
    const std::size_t reach = (first + count) * block_subcarriers + max_lanes;
    return {slot, first, count, slot + 1 == call.slots.size() && reach > plan_.subcarriers()};
}

std::span<const ElementRun> BlockEqualizer::runs_of(std::size_t block, std::size_t symbols,
                                                    std::size_t first_symbol) const {
    const std::size_t* const first = &first_run_[block * symbols_per_slot + first_symbol];
    return {runs_.data() + first[0], first[symbols] - first[0]};
}

void BlockEqualizer::find_runs() {
    const std::size_t resource_blocks = plan_.subcarriers() / block_subcarriers;
    for (std::size_t first = 0; first < resource_blocks; first += blocks_at_once_) {
        const std::size_t count = std::min(blocks_at_once_, resource_blocks - first);
        const std::size_t end = (first + count) * block_subcarriers;
        for (std::size_t symbol = 0; symbol < symbols_per_slot; ++symbol) {
            first_run_.push_back(runs_.size());
            auto entries = plan_.map().entries().subspan(symbol * resource_blocks + first, count);
            while (!entries.empty()) {
                const ElementRun run = next_run(entries, end - entries.size() * block_subcarriers);
                if (run.elements > 0) runs_.push_back(run);
            }
        }
    }
    first_run_.push_back(runs_.size());
}

ElementRun BlockEqualizer::next_run(std::span<const ResourceMap::Entry>& entries,
                                    std::size_t first_subcarrier) {
    std::size_t skipped = 0;
    while (skipped < entries.size() && entries[skipped].mask == 0)
        ++skipped;
    entries = entries.subspan(skipped);
    std::size_t count = 0;
    std::size_t elements = 0;
    for (std::size_t i = 0; i < entries.size() && i <= count + max_gap; ++i) {
        if (entries[i].mask == 0) continue;
        if (entries[i].first != entries[0].first + elements) break;
        elements += static_cast<std::size_t>(std::popcount(entries[i].mask));
        count = i + 1;
    }
    const ElementRun run = {first_subcarrier + skipped * block_subcarriers, count * block_subcarriers,
                            count == 0 ? 0 : entries[0].first, elements, entries.first(count)};
    entries = entries.subspan(count);
    return run;
}

void BlockEqualizer::make_whitening(EqualizerWorkspace& workspace, const Call& call,
                                    const Block& block) const {
    const std::size_t first = block.first_block / call.subbands.blocks;
    const std::size_t last = (block.first_block + block.resource_blocks - 1) / call.subbands.blocks;
    const float errors =
        scalar::noise_of_errors<scalar::Ops>(call.slots[block.slot].channel_error, plan_.layers());
    workspace.whitening.make(
        {.call = call.number,
         .slot = block.slot,
         .first = first,
         .count = last - first + 1,
         .subcarriers = call.subbands.blocks * block_subcarriers},
        call.covariance + (block.slot * call.subbands.count + first) * plan_.matrix_size(), errors);
}

void BlockEqualizer::stage_channel(EqualizerWorkspace& workspace, const Call& call, const Block& block,
                                   const float* from) const {
    const std::size_t row = workspace.row;
    const std::size_t subcarriers = plan_.subcarriers();
    const std::size_t rows = as_size(2 * plan_.estimates() * plan_.antennas() * plan_.layers());
    for (std::size_t r = 0; r < rows; ++r)
        std::memcpy(&workspace.channel[r * row], from + r * subcarriers, block.count() * sizeof(float));
    if (call.covariance == nullptr) return;
    const std::size_t of_antenna = as_size(2 * plan_.layers()) * row;
    const std::size_t of_estimate = as_size(plan_.antennas()) * of_antenna;
    for (std::size_t e = 0; e < as_size(plan_.estimates()); ++e) {
        for (std::size_t layer = 0; layer < as_size(plan_.layers()); ++layer) {
            float* const rows_of_layer = &workspace.channel[e * of_estimate + 2 * layer * row];
            workspace.whitening.for_pieces(
                block.first(), block.count(),
                [&](const WhiteningRows& whitening, std::size_t first, std::size_t count) {
                    kernels_->whiten_channel(whitening, rows_of_layer + first, of_antenna, row, count);
                });
        }
    }
}

ChannelRows BlockEqualizer::channel_of(EqualizerWorkspace& workspace, const Call& call,
                                       const Block& block) const {
    const bool whitens = call.covariance != nullptr;
    const SlotEstimate& slot = call.slots[block.slot];
    const float* const from = call.channel + block.slot * plan_.channel_size() + block.first();
    ChannelRows rows{};
    rows.antennas = plan_.antennas();
    rows.estimates = plan_.estimates();
    rows.noise =
        whitens ? 1.0F
                : scalar::noise_of_slot<scalar::Ops>(slot.noise_variance, slot.channel_error, plan_.layers());
    rows.first = from;
    rows.stride = plan_.subcarriers();
    if (!has_set(slot)) rows.noise = std::numeric_limits<float>::quiet_NaN();
    if (whitens) make_whitening(workspace, call, block);
    if (whitens || block.at_end) {
        stage_channel(workspace, call, block, from);
        rows.first = workspace.channel.data();
        rows.stride = workspace.row;
    }
    return rows;
}

bool BlockEqualizer::has_set(const SlotEstimate& slot) const {
    return slot.time_set >= 0 && slot.time_set < plan_.config().time_sets;
}

ChannelRows BlockEqualizer::with_weights(ChannelRows channel, const WeightGroup& group,
                                         const SlotEstimate& slot) const {
    channel.weights = nullptr;
    if (!group.weights.empty()) {
        channel.weights =
            group.weights.data() + (has_set(slot) ? as_size(slot.time_set) * as_size(plan_.estimates()) : 0);
    } else {
        const std::size_t rows = as_size(2 * plan_.antennas() * plan_.layers());
        channel.first += as_size(group.estimate) * rows * channel.stride;
    }
    return channel;
}

void BlockEqualizer::make_filters(EqualizerWorkspace& workspace, const ChannelRows& channel,
                                  const Block& block) const {
    const auto make = kernels_->make_filters[as_size(plan_.layers() - 1)][plan_.mmse() ? 1 : 0];
    make(channel, block.count(), workspace.filters.data(), workspace.row);
}

ReceivedRows BlockEqualizer::received_of(EqualizerWorkspace& workspace, const Call& call, const Block& block,
                                         int symbol, const ElementRun& run) const {
    const std::size_t row = workspace.received_row;
    const SampleFormat format = call.grid.format();
    const std::size_t of_antenna = symbols_per_slot * plan_.subcarriers();
    const std::size_t first =
        block.slot * plan_.grid_size() + as_size(symbol) * plan_.subcarriers() + run.first_subcarrier;
    const std::byte* const from = call.grid.data() + first * size_of(format);
    ReceivedRows rows = {nullptr, 2 * of_antenna, call.slots[block.slot].phase[as_size(symbol)]};
    const bool aligned = reinterpret_cast<std::uintptr_t>(from) % alignof(float) == 0;
    const bool whitens = call.covariance != nullptr;
    const bool stays = format == SampleFormat::cf32 && aligned && !block.at_end;
    float* const staged = workspace.received.data();
    if (stays) {
        rows.first = reinterpret_cast<const float*>(from);
    } else {
        const auto widen = arrays_->widen[static_cast<std::size_t>(format)];
        for (std::size_t a = 0; a < as_size(plan_.antennas()); ++a)
            widen(from + a * of_antenna * size_of(format), staged + a * row, 2 * run.subcarriers,
                  plan_.unit_of(format));
        rows.first = staged;
        rows.stride = row;
    }
    if (whitens) {
        workspace.whitening.for_pieces(
            run.first_subcarrier, run.subcarriers,
            [&](const WhiteningRows& whitening, std::size_t at, std::size_t count) {
                kernels_->whiten_received(whitening, {rows.first + 2 * at, rows.stride, rows.phase},
                                          staged + 2 * at, row, count);
            });
        rows.first = staged;
        rows.stride = row;
    }
    return rows;
}

void BlockEqualizer::equalize(const EqualizerWorkspace& workspace, const ChannelRows& channel,
                              const WeightGroup& group, const ReceivedRows& received, std::size_t offset,
                              std::size_t count, const EqualizedRow& out) const {
    const std::size_t layers = as_size(plan_.layers() - 1);
    if (group.shares_filters) {
        kernels_->apply_filters[layers](workspace.filters.data() + offset, workspace.row, plan_.antennas(),
                                        received, count, out);
    } else {
        ChannelRows here = channel;
        here.first += offset;
        kernels_->solve[layers][plan_.mmse() ? 1 : 0](here, received, count, out);
    }
}

void BlockEqualizer::pick(const EqualizerWorkspace& workspace, const ElementRun& run,
                          const EqualizedRow& out) const {
    const std::size_t layers = as_size(plan_.layers());
    std::size_t element = 0;
    std::size_t first = 0;  // neighbouring subcarriers with elements
    std::size_t count = 0;
    const auto copy = [&] {
        std::memcpy(out.symbols + 2 * layers * element, &workspace.symbols[2 * layers * first],
                    2 * layers * count * sizeof(float));
        std::memcpy(out.noise + layers * element, &workspace.noise[layers * first],
                    layers * count * sizeof(float));
        if (out.pairs != nullptr)
            std::memcpy(out.pairs + element * floats_of_pair, &workspace.pairs[first],
                        count * sizeof(LayerPair));
        element += count;
    };
    for (std::size_t b = 0; b < run.entries.size(); ++b) {
        for (std::uint32_t left = run.entries[b].mask; left != 0;) {
            const int from = std::countr_zero(left);
            const int length = std::countr_one(left >> from);
            left &= ~std::uint32_t{0} << (from + length);
            const std::size_t subcarrier = b * block_subcarriers + as_size(from);
            if (subcarrier != first + count) {
                copy();
                first = subcarrier;
                count = 0;
            }
            count += as_size(length);
        }
    }
    copy();
}

}  // namespace
}  // namespace detail

struct PHY_HIDDEN Equalizer::Impl {
    Host host;
    detail::BlockEqualizer blocks;
    std::vector<detail::EqualizerWorkspace> workspaces;  ///< by part of the pool
    std::size_t calls = 0;

    Impl(const Host& on, const EqualizerConfig& config)
        : host(on),
          blocks(on, config),
          workspaces(static_cast<std::size_t>(on.threads()), blocks.make_workspace()) {}
};

Equalizer::Equalizer(const Host& host, const Config& config) : impl_(new Impl(host, config)) {}

std::size_t Equalizer::elements_per_slot() const {
    return impl_->blocks.plan().map().elements();
}

std::size_t Equalizer::symbols_per_slot() const {
    return impl_->blocks.plan().symbols();
}

int Equalizer::estimates() const {
    return impl_->blocks.plan().estimates();
}

void Equalizer::operator()(SymbolView grid, std::span<const float> channel,
                           std::span<const SlotEstimate> slots, std::span<cf32> symbols,
                           std::span<float> noise_variance, std::span<const cf32> covariance,
                           std::span<LayerPair> pairs) {
    const detail::EqualizerPlan& plan = impl_->blocks.plan();
    plan.check_sizes({.grid = grid.size(),
                      .channel = channel.size(),
                      .slots = slots.size(),
                      .covariance = covariance.size(),
                      .symbols = symbols.size(),
                      .noise_variance = noise_variance.size(),
                      .pairs = pairs.size()},
                     grid.format());
    if (covariance.empty()) detail::check_noise(slots);
    // std::complex is laid out as two floats.
    const detail::BlockEqualizer::Call call = {.grid = grid,
                                               .channel = channel.data(),
                                               .slots = slots,
                                               .covariance = covariance.empty() ? nullptr : covariance.data(),
                                               .subbands = plan.subbands_of(slots.size(), covariance.size()),
                                               .symbols = reinterpret_cast<float*>(symbols.data()),
                                               .noise = noise_variance.data(),
                                               .pairs = pairs.empty() ? nullptr : pairs.data(),
                                               .number = ++impl_->calls};
    const std::size_t blocks = impl_->blocks.blocks();
    impl_->host.pool().for_each(slots.size() * blocks, [&](int part, std::size_t item) noexcept {
        impl_->blocks(impl_->workspaces[static_cast<std::size_t>(part)], call, item / blocks, item % blocks);
    });
}

const Host& Equalizer::host() const {
    return impl_->host;
}

const Equalizer::Config& Equalizer::config() const {
    return impl_->blocks.plan().config();
}

}  // namespace phy

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "phy/core/view.hpp"
#include "phy/equalizer/host/kernels.hpp"
#include "phy/equalizer/math/plan.hpp"
#include "phy/machine/host.hpp"
#include "phy/simd/arrays.hpp"

namespace phy::detail {

/// Resource blocks that are equalised together in all OFDM symbols: few enough to keep their coefficients and
/// filters in the nearest caches, and as many as possible for long reads.
std::size_t blocks_at_once(const EqualizerPlan& plan);

/// Memory of one thread.
struct EqualizerWorkspace {
    explicit EqualizerWorkspace(const EqualizerPlan& plan);

    std::size_t row;              ///< floats from row to row
    std::size_t received_row;     ///< floats from antenna to antenna
    std::vector<float> channel;   ///< rows as ChannelRows has them
    std::vector<float> received;  ///< of all antennas
    std::vector<float> filters;   ///< see EqualizerKernels
    std::vector<float> symbols;   ///< results to pick from
    std::vector<float> noise;
    std::vector<cf32> whitening;
    std::size_t whitening_call = 0;  ///< call and slot of the whitening matrix
    std::size_t whitening_slot = 0;
};

/// Neighbouring subcarriers of an OFDM symbol whose elements follow each other in the codeword.
struct ElementRun {
    std::size_t first_subcarrier;
    std::size_t subcarriers;
    std::size_t first_element;
    std::size_t elements;
    std::span<const ResourceMap::Entry> entries;

    [[nodiscard]] bool is_full() const { return elements == subcarriers; }
};

/// Equalises a slot by blocks of neighbouring resource blocks. The caller decides where results go.
class BlockEqualizer {
public:
    BlockEqualizer(const Host& host, const EqualizerConfig& config);

    struct Call {
        SymbolView grid;
        const float* channel;
        std::span<const SlotEstimate> slots;
        const cf32* covariance;  ///< null: none
        std::size_t number = 0;  ///< see next_call()
    };

    [[nodiscard]] const EqualizerPlan& plan() const { return plan_; }
    [[nodiscard]] std::size_t blocks() const;

    /// Returns a new call number.
    std::size_t next_call() { return ++calls_; }

    /// target(run) returns the place for a run's results; target.done(run) is called when they are there.
    template <class Target>
    void run(EqualizerWorkspace& workspace, const Call& call, std::size_t slot, std::size_t block,
             Target& target) const {
        const Block where = block_of(call, slot, block);
        if (!carries_data(block)) return;
        const ChannelRows channel = channel_of(workspace, call, where);
        for (const WeightGroup& group : plan_.groups()) {
            const ChannelRows weighted = with_weights(channel, group);
            if (group.shares_filters()) make_filters(workspace, weighted, where);
            for (const int symbol : group.symbols)
                run_symbol(workspace, call, where, weighted, group, symbol, target);
        }
    }

private:
    struct Block {
        std::size_t slot;
        std::size_t first_block;
        std::size_t resource_blocks;
        bool at_end;  ///< reading beyond the last subcarrier is not allowed

        [[nodiscard]] std::size_t first() const { return first_block * subcarriers_per_resource_block; }
        [[nodiscard]] std::size_t count() const { return resource_blocks * subcarriers_per_resource_block; }
    };

    [[nodiscard]] Block block_of(const Call& call, std::size_t slot, std::size_t block) const;
    [[nodiscard]] bool carries_data(std::size_t block) const { return has_data_[block]; }
    [[nodiscard]] std::span<const ResourceMap::Entry> entries_of(int symbol, const Block& block) const;

    /// Stages coefficients that need whitening or are at the end of the array.
    ChannelRows channel_of(EqualizerWorkspace& workspace, const Call& call, const Block& block) const;
    void stage_channel(EqualizerWorkspace& workspace, const Call& call, const Block& block,
                       const float* from) const;
    [[nodiscard]] ChannelRows with_weights(ChannelRows channel, const WeightGroup& group) const;
    void make_whitening(EqualizerWorkspace& workspace, const Call& call, std::size_t slot) const;
    void make_filters(EqualizerWorkspace& workspace, const ChannelRows& channel, const Block& block) const;

    /// Stages samples that need widening or whitening, or are at the end of the array.
    ReceivedRows received_of(EqualizerWorkspace& workspace, const Call& call, const Block& block, int symbol,
                             const ElementRun& run) const;
    void equalize(const EqualizerWorkspace& workspace, const ChannelRows& channel, const WeightGroup& group,
                  const ReceivedRows& received, std::size_t offset, std::size_t count,
                  const EqualizedRow& out) const;

    /// Returns the run from the first entry with data, and removes its entries from the front.
    static ElementRun next_run(std::span<const ResourceMap::Entry>& entries, std::size_t first_subcarrier);
    void pick(const EqualizerWorkspace& workspace, const ElementRun& run, const EqualizedRow& out) const;

    template <class Target>
    void run_symbol(EqualizerWorkspace& workspace, const Call& call, const Block& block,
                    const ChannelRows& channel, const WeightGroup& group, int symbol, Target& target) const {
        std::span<const ResourceMap::Entry> entries = entries_of(symbol, block);
        const std::size_t end = block.first() + block.count();
        while (!entries.empty()) {
            const ElementRun run = next_run(entries, end - entries.size() * subcarriers_per_resource_block);
            if (run.elements == 0) return;
            const ReceivedRows received = received_of(workspace, call, block, symbol, run);
            const EqualizedRow out = target(run);
            const EqualizedRow staged = {workspace.symbols.data(), workspace.noise.data()};
            equalize(workspace, channel, group, received, run.first_subcarrier - block.first(),
                     run.subcarriers, run.is_full() ? out : staged);
            if (!run.is_full()) pick(workspace, run, out);
            target.done(run);
        }
    }

    EqualizerPlan plan_;
    std::size_t blocks_at_once_;
    const EqualizerKernels* kernels_;
    const ArrayKernels* arrays_;
    std::vector<char> has_data_;  ///< by block
    std::size_t calls_ = 0;
};

}  // namespace phy::detail

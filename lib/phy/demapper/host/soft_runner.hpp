#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "phy/demapper/batch.hpp"
#include "phy/demapper/host/kernels.hpp"
#include "phy/demapper/math/plan.hpp"
#include "phy/demapper/math/table.hpp"

namespace phy::detail {

/// The tables of the latest calls.
class TableCache {
public:
    explicit TableCache(std::size_t capacity) : capacity_(capacity) {}

    /// Allows tables of earlier calls to be dropped. All tables of the latest call stay, even beyond the
    /// capacity.
    void start_call();

    /// Builds the table unless it is cached. It stays at least until the next call, even if a call needs more
    /// tables than the capacity.
    const LlrTable& table(const TableKey& key);

    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        LlrTable table;
        std::uint64_t last_call;
    };

    void make_room();

    std::size_t capacity_;
    std::uint64_t call_ = 0;
    std::map<TableKey, Entry> entries_;
};

/// Symbols that pass through all steps together, so that intermediate results stay in the nearest caches.
inline constexpr std::size_t block_symbols = 1024;

/// The arrays that one thread needs between the steps of a block.
struct alignas(64) Workspace {
    static constexpr std::size_t components = 2 * block_symbols + padding;

    alignas(64) float iq[components];
    alignas(64) float scale[components];
    alignas(64) float limit[components];
    alignas(64) float fraction[components];
    alignas(64) std::uint32_t entry[components];
    alignas(64) float llr[max_bits_per_symbol * block_symbols + padding];  ///< of a table, before rounding
    alignas(64) std::uint32_t signs[words_of_signs(max_bits_per_symbol * block_symbols)];
    alignas(64) std::byte out[sizeof(float) * max_bits_per_symbol * block_symbols];  ///< before streaming
};

/// An allocation, and how to evaluate it.
struct SoftWork {
    /// Takes the table from the cache if the plan needs one. planner must be for the allocation's modulation.
    SoftWork(const Allocation& of_call, const Planner& planner, TableCache& tables);

    Allocation allocation;
    Plan plan;
    const LlrTable* table = nullptr;  ///< null: no table

    // SoftRunner sets these. Every block but the first begins a multiple of cut_multiple after the head.
    bool streams = false;   ///< the kernel writes past the caches, after the head
    bool staged = false;    ///< streamed from the workspace
    std::size_t head = 0;   ///< symbols of the first block if not 0
    std::size_t block = 0;  ///< max symbols of the other blocks
    std::size_t begin = 0;  ///< position in the row of all works of a call, a multiple of cut_multiple

    /// Number of its symbols before a position of the row.
    [[nodiscard]] std::size_t before(std::size_t point) const {
        return point <= begin ? 0 : std::min(allocation.symbols.size(), head + (point - begin));
    }
};

/// Executes the work of soft demappers: splits it into blocks and spreads them over threads.
class SoftRunner {
public:
    SoftRunner(const Host& host, const BatchDemapperConfig& config);

    /// Does not count if counters is null.
    void run(std::span<SoftWork> works, DemapCounters* counters);

    [[nodiscard]] const Host& host() const { return host_; }

private:
    /// Counts of all threads.
    struct Counts {
        std::atomic<std::uint64_t> erasures = 0;
        std::atomic<std::uint64_t> saturated = 0;
    };

    /// Chooses the route of every work and puts it in a row. Returns the length of the row.
    std::size_t arrange(std::span<SoftWork> works, bool counts) const;

    /// Symbols that a thread takes at a time, from so many symbols in so many works.
    [[nodiscard]] std::size_t symbols_of_item(std::size_t symbols, std::size_t works) const;

    /// counts is null if the call does not count.
    void demap_block(const SoftWork& work, std::size_t first, std::size_t symbols, Workspace& workspace,
                     Counts* counts) const;
    Block load_block(const SoftWork& work, std::size_t first, std::size_t symbols,
                     Workspace& workspace) const;
    [[nodiscard]] bool widens(SymbolView symbols) const;
    const float* load(SymbolView symbols, Workspace& workspace) const;
    void look_up(const LlrTable& table, Workspace& workspace, const Block& block, std::byte* out) const;
    [[nodiscard]] std::uint64_t count_saturated(SoftBitFormat format, const std::byte* llr,
                                                std::size_t count) const;

    Host host_;
    const ArrayKernels* arrays_;
    const DemapKernels* kernels_;
    std::array<float, SampleTypes::size> units_;  ///< by SampleFormat: factor for components
    int llr_clip_;
    std::vector<Workspace> workspaces_;  ///< by part of the pool
};

}  // namespace phy::detail

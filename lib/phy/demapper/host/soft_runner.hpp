#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "phy/demapper/batch.hpp"
#include "phy/demapper/host/block_runner.hpp"
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

/// An allocation, and how to evaluate it.
struct SoftWork : Stretch {
    /// Takes the table from the cache if the plan needs one. planner must be for the allocation's modulation.
    SoftWork(const Allocation& allocation, const Planner& planner, TableCache& tables);

    std::span<const float> noise;  ///< one per symbol; empty for a scalar N0
    SoftBitSpan llr;
    std::span<const std::uint32_t> signs;
    std::size_t qm;
    Plan plan;
    const LlrTable* table = nullptr;  ///< null: no table
    bool streams = false;             ///< the kernel writes past the caches, after the head
    bool staged = false;              ///< streamed from the workspace
};

/// Executes the work of soft demappers.
class SoftRunner {
public:
    SoftRunner(const Host& host, const BatchDemapperConfig& config)
        : blocks_(host, config), llr_clip_(config.llr.clip) {}

    /// Does not count if counters is null.
    void run(std::span<SoftWork> works, DemapCounters* counters);

    [[nodiscard]] const Host& host() const { return blocks_.host(); }

private:
    void choose_routes(std::span<SoftWork> works, bool counts) const;
    void demap_block(const SoftWork& work, Workspace& workspace, Block block, const float* noise,
                     std::byte* out) const;
    void evaluate(const SoftWork& work, Workspace& workspace, Block& block, bool per_symbol,
                  float largest_limit, void* out) const;
    void look_up(const LlrTable& table, Workspace& workspace, const Block& block, void* out) const;
    void flip(const SoftWork& work, Workspace& workspace, std::size_t first, std::size_t count,
              std::byte* out) const;
    [[nodiscard]] std::uint64_t count_saturated(SoftBitFormat format, const std::byte* llr,
                                                std::size_t count) const;

    BlockRunner blocks_;
    int llr_clip_;
};

}  // namespace phy::detail

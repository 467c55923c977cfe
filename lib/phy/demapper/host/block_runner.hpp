#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/core/demapper_config.hpp"
#include "phy/core/view.hpp"
#include "phy/demapper/host/kernels.hpp"
#include "phy/demapper/host/workspace.hpp"
#include "phy/machine/host.hpp"
#include "phy/machine/thread_pool.hpp"

namespace phy::detail {

/// Symbols of one modulation that a job processes.
struct Stretch {
    Stretch(Modulation modulation, SymbolView symbols_of_it, std::uint64_t index_of_first);

    SymbolView symbols;
    std::uint64_t first_symbol;
    Constellation constellation;
    bool rotating;                ///< pi/2-BPSK
    bool uses_workspace = false;  ///< the job uses it
    std::size_t head = 0;         ///< symbols of the first block if not 0

    /// Position in the row of all stretches of a call, a multiple of cut_multiple.
    std::size_t begin = 0;

    /// Number of its symbols before a position of the row.
    [[nodiscard]] std::size_t before(std::size_t point) const {
        return point <= begin ? 0 : std::min(symbols.size(), head + (point - begin));
    }
};

/// Splits symbols into blocks of floats and spreads them over
/// threads.
class BlockRunner {
public:
    BlockRunner(const Host& host, const BatchDemapperConfig& config);

    [[nodiscard]] const Host& host() const { return host_; }
    [[nodiscard]] const ArrayKernels& arrays() const { return *arrays_; }
    [[nodiscard]] const DemapKernels& kernels() const { return *kernels_; }

    /// Calls job(workspace, stretch, block, first) for every block; block.iq holds the symbols of the stretch
    /// from first on. Blocks are small if the job uses the workspace, and as large as a thread's items
    /// otherwise. Every block but the first of a stretch begins a multiple of cut_multiple after its head. A
    /// type derived from Stretch may hold more for the job.
    template <std::derived_from<Stretch> Work, typename Job>
    void for_each_block(std::span<Work> row, const Job& job) {
        std::size_t end = 0;
        for (Work& work : row) {
            work.begin = end;
            end += multiple_from(work.symbols.size());
        }
        const std::size_t of_item = symbols_of_item(end, row.size());
        const std::size_t items = (end + of_item - 1) / of_item;
        host_.pool().for_each(items, [&](int part, std::size_t item) noexcept {
            Workspace& workspace = workspaces_[static_cast<std::size_t>(part)];
            run_item(row, item * of_item, (item + 1) * of_item, workspace, job);
            arrays_->finish_streams();
        });
    }

private:
    // So that threads do not share cache lines.
    static constexpr std::size_t cut_multiple = 64;

    static constexpr std::size_t multiple_from(std::size_t symbols) {
        return (symbols + cut_multiple - 1) / cut_multiple * cut_multiple;
    }

    template <typename Work, typename Job>
    void run_item(std::span<Work> row, std::size_t begin, std::size_t end, Workspace& workspace,
                  const Job& job) const {
        auto work = std::ranges::upper_bound(row, begin, {}, &Work::begin) - 1;
        for (; work != row.end() && work->begin < end; ++work)
            run_blocks(*work, work->before(begin), work->before(end), workspace, job);
    }

    template <typename Work, typename Job>
    void run_blocks(const Work& work, std::size_t begin, std::size_t end, Workspace& workspace,
                    const Job& job) const {
        const bool small = work.uses_workspace || goes_through_workspace(work.symbols);
        const std::size_t step = small ? block_symbols : end;
        std::size_t count = 0;
        for (std::size_t first = begin; first < end; first += count) {
            count = std::min(first < work.head ? work.head : step, end - first);
            Block block{};
            block.iq = load(work.symbols.subspan(first, count), workspace);
            block.symbols = count;
            block.rotating = work.rotating;
            block.phase = static_cast<int>((work.first_symbol + first) & 1);
            job(workspace, work, block, first);
        }
    }

    /// Items that threads take at a time, for so many symbols in so many stretches.
    [[nodiscard]] std::size_t symbols_of_item(std::size_t symbols, std::size_t stretches) const;
    [[nodiscard]] bool goes_through_workspace(SymbolView symbols) const;
    const float* load(SymbolView symbols, Workspace& workspace) const;

    Host host_;
    const ArrayKernels* arrays_;
    const DemapKernels* kernels_;
    std::array<float, SampleTypes::size> units_;  ///< by SampleFormat: factor for components
    std::array<bool, SampleTypes::size> scales_;  ///< by SampleFormat: see scales_floats()
    std::vector<Workspace> workspaces_;           ///< by part of the pool
};

}  // namespace phy::detail

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "phy/core/thread_pool.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/demapper/kernels.hpp"
#include "phy/demapper/workspace.hpp"

namespace phy::detail {

/// The kernels that run for a backend; BackendError if it does not run here or needs device memory.
const Kernels& kernels_of(const Backend& backend);

/// What soft and hard demapping share: blocks of symbols as floats, spread over threads.
class BlockRunner {
public:
    BlockRunner(Modulation modulation, float full_scale, int threads, const Backend& backend);

    [[nodiscard]] const Kernels& kernels() const { return *kernels_; }
    [[nodiscard]] Grid grid() const { return grid_; }
    [[nodiscard]] Backend backend() const;

    /// Calls job(workspace, block, first) for every block, where block.iq holds the symbols from first on.
    /// Blocks are small where the job keeps something in the workspace, and as large as a thread's share
    /// otherwise. The first block has head symbols if head > 0; every other begins a multiple of 64 after it.
    template <typename Job>
    void for_each_block(SymbolView symbols, std::uint64_t first_symbol, bool job_uses_workspace,
                        std::size_t head, const Job& job) {
        const std::size_t share = share_of_thread(symbols.size());
        const std::size_t step = job_uses_workspace || must_widen(symbols) ? block_symbols : share;
        const std::size_t parts = (symbols.size() + share - 1) / share;
        pool_->run(static_cast<int>(parts), [&](int part) noexcept {
            Workspace& workspace = workspaces_[static_cast<std::size_t>(part)];
            const auto boundary = [&](std::size_t p) {
                return p == 0 ? 0 : std::min(symbols.size(), head + p * share);
            };
            const std::size_t end = boundary(static_cast<std::size_t>(part) + 1);
            std::size_t count = 0;
            for (std::size_t first = boundary(static_cast<std::size_t>(part)); first < end; first += count) {
                count = std::min(first < head ? head : step, end - first);
                Block block{};
                block.iq = widen(symbols.subview(first, count), workspace);
                block.symbols = count;
                block.rotating = rotating_;
                block.phase = static_cast<int>((first_symbol + first) & 1);
                job(workspace, block, first);
            }
            kernels_->finish_streams();
        });
    }

private:
    [[nodiscard]] std::size_t share_of_thread(std::size_t symbols) const;
    static bool must_widen(SymbolView symbols);
    const float* widen(SymbolView symbols, Workspace& workspace) const;

    const Kernels* kernels_;
    Grid grid_;
    bool rotating_;
    float full_scale_;
    std::unique_ptr<ThreadPool> pool_;
    std::vector<Workspace> workspaces_;
};

}  // namespace phy::detail

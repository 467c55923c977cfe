#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "phy/core/export.hpp"
#include "phy/core/integers.hpp"
#include "phy/machine/host.hpp"

/// Access to a host's threads for operators whose loops are in public headers, which do not include the
/// thread pool.
namespace phy::detail {

/// Calls work(job, part, item) once per item on the threads of the host. See ThreadPool::for_each() for part.
PHY_EXPORT void share_items(const Host& host, std::size_t items,
                            void (*work)(const void* job, int part, std::size_t item) noexcept,
                            const void* job);

/// Calls work(first, end) or work(part, first, end) for disjoint ranges of at most piece items, which
/// together cover 0 to count - 1. Threads share the ranges.
template <class Work>
void share_pieces(const Host& host, std::uint64_t count, std::uint64_t piece, const Work& work) {
    struct Job {
        std::uint64_t count;
        std::uint64_t piece;
        const Work& work;
    };
    const Job job{count, piece, work};
    const auto call = [](const void* erased, [[maybe_unused]] int part, std::size_t item) noexcept {
        const Job& all = *static_cast<const Job*>(erased);
        const std::uint64_t first = item * all.piece;
        const std::uint64_t end = std::min(first + all.piece, all.count);
        if constexpr (std::is_invocable_v<const Work&, int, std::uint64_t, std::uint64_t>) {
            all.work(part, first, end);
        } else {
            all.work(first, end);
        }
    };
    share_items(host, pieces_of(count, piece), call, &job);
}

}  // namespace phy::detail

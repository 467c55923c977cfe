#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "phy/scrambling/host/kernels.hpp"
#include "phy/scrambling/math/gold.hpp"
#include "phy/simd/arrays.hpp"

namespace phy::detail {

/// c from some bit on, in blocks that stay in the nearest cache.
class GoldStream {
public:
    static constexpr std::size_t block_bits = 16384;

    GoldStream(const ScramblingKernels& kernels, std::uint32_t c_init, std::uint64_t first)
        : kernels_(kernels) {
        // The words before the first one, which a period leads to where c has not begun there.
        GoldRegisters registers(c_init, steps_to(first) + gold_period - 32 * gold_history);
        for (std::size_t i = 0; i < gold_history; ++i)
            words_[i] = registers.next();
    }

    /// The next bits, at most block_bits, until the next call; all but the last call take a multiple of 32.
    /// ArrayKernels::flip may read all that it reads.
    const std::uint32_t* next(std::size_t bits) {
        std::memmove(words_, words_ + used_, gold_history * sizeof(std::uint32_t));
        used_ = (bits + 31) / 32;
        kernels_.follow(words_ + gold_history, used_);
        return words_ + gold_history;
    }

private:
    const ScramblingKernels& kernels_;
    std::size_t used_ = 0;
    std::uint32_t words_[gold_history + words_of_signs(block_bits)] = {};
};

}  // namespace phy::detail

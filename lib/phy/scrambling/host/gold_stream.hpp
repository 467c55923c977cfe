#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/scrambling/host/kernels.hpp"
#include "phy/scrambling/math/gold.hpp"
#include "phy/simd/arrays.hpp"

namespace phy::detail {

/// c from a given bit on, block by block.
class GoldStream {
public:
    static constexpr std::size_t block_bits = 16384;
    static constexpr std::size_t max_bits = 8 * block_bits;

    GoldStream(const ScramblingKernels& kernels, std::uint32_t c_init, std::uint64_t first)
        : kernels_(kernels) {
        // The words before the first one. If they would be before c(0), the period provides them.
        GoldRegisters registers(c_init, steps_to(first) + gold_period - 32 * gold_history);
        for (std::size_t i = 0; i < gold_history; ++i)
            words_[i] = registers.next();
    }

    /// Returns the next bits, up to max_bits over all calls. All calls but the last take a multiple of 32.
    /// The result is padded for ArrayKernels::flip.
    const std::uint32_t* next(std::size_t bits) {
        std::uint32_t* const next = words_ + done_;
        kernels_.follow(next, done_, (bits + 31) / 32);
        done_ += (bits + 31) / 32;
        return next;
    }

private:
    const ScramblingKernels& kernels_;
    std::size_t done_ = gold_history;
    alignas(64) std::uint32_t words_[gold_history + words_of_signs(max_bits)];
};

}  // namespace phy::detail

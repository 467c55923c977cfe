#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace phy::gpu::detail {

/// The first `bits` bits of words, repeated without gaps. The least significant bit of a word comes first.
inline std::vector<std::uint32_t> repeat_bits(std::span<const std::uint32_t> words, std::size_t bits,
                                              std::size_t times) {
    constexpr std::size_t of_word = 32;
    std::vector<std::uint32_t> all((times * bits + of_word - 1) / of_word);
    for (std::size_t i = 0; i < times; ++i) {
        for (std::size_t bit = 0; bit < bits; bit += of_word) {
            const std::size_t count = std::min(of_word, bits - bit);
            const std::uint32_t word = words[bit / of_word] & (UINT32_MAX >> (of_word - count));
            const std::size_t at = i * bits + bit;
            const std::size_t shift = at % of_word;
            all[at / of_word] |= word << shift;
            if (shift + count > of_word) all[at / of_word + 1] |= word >> (of_word - shift);
        }
    }
    return all;
}

}  // namespace phy::gpu::detail

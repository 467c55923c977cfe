#include "phy/scrambling/gold_sequence.hpp"

#include <string>

#include "phy/core/error.hpp"

namespace phy {

std::uint32_t ScramblingIdentity::c_init() const {
    if (rnti > 0xFFFF) throw ArgumentError("n_RNTI " + std::to_string(rnti) + ": expected 0 to 65535");
    if (id > 1023) throw ArgumentError("n_ID " + std::to_string(id) + ": expected 0 to 1023");
    if (codeword != 0 && codeword != 1)
        throw ArgumentError("codeword " + std::to_string(codeword) + ": expected 0 or 1");
    return (rnti << 15) + (static_cast<std::uint32_t>(codeword) << 14) + id;
}

void gold_sequence(std::uint32_t c_init, std::uint64_t first, std::span<std::uint32_t> words) {
    if (c_init > largest_c_init)
        throw ArgumentError("c_init " + std::to_string(c_init) + ": expected at most 31 bits");
    constexpr std::uint64_t skipped = 1600;
    std::uint32_t x1 = 1;
    std::uint32_t x2 = c_init;
    const auto step = [&] {
        const std::uint32_t next1 = (x1 ^ (x1 >> 3)) & 1;
        const std::uint32_t next2 = (x2 ^ (x2 >> 1) ^ (x2 >> 2) ^ (x2 >> 3)) & 1;
        x1 = (x1 >> 1) | (next1 << 30);
        x2 = (x2 >> 1) | (next2 << 30);
    };
    for (std::uint64_t i = 0; i < skipped + first; ++i)
        step();
    for (std::uint32_t& word : words) {
        word = 0;
        for (int bit = 0; bit < 32; ++bit) {
            word |= ((x1 ^ x2) & 1) << bit;
            step();
        }
    }
}

}  // namespace phy

#pragma once

#include <cstdint>
#include <vector>

namespace phy_test {

/// c(0), c(1) ... c(count - 1) as TS 38.211 clause 5.2.1 writes them, bit by bit.
inline std::vector<int> gold_bits(std::uint32_t c_init, std::size_t count) {
    constexpr std::size_t n_c = 1600;
    std::vector<int> x1(n_c + count + 31);
    std::vector<int> x2(n_c + count + 31);
    x1[0] = 1;
    for (std::size_t i = 0; i < 31; ++i)
        x2[i] = static_cast<int>(c_init >> i & 1U);
    for (std::size_t n = 0; n < n_c + count; ++n) {
        x1[n + 31] = (x1[n + 3] + x1[n]) % 2;
        x2[n + 31] = (x2[n + 3] + x2[n + 2] + x2[n + 1] + x2[n]) % 2;
    }
    std::vector<int> c(count);
    for (std::size_t n = 0; n < count; ++n)
        c[n] = (x1[n + n_c] + x2[n + n_c]) % 2;
    return c;
}

}  // namespace phy_test

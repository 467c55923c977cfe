#include "phy/simd/arrays.hpp"

#define PHY_KERNELS "phy/simd/arrays-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy::detail {

const ArrayKernels& array_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, ArrayKernels);
}

const std::uint32_t* signs_from(std::span<const std::uint32_t> signs, std::size_t first, std::size_t count,
                                std::uint32_t* room) {
    signs = signs.subspan(first / 32);
    const std::size_t shift = first % 32;
    if (shift == 0 && signs.size() >= words_of_signs(count)) return signs.data();
    for (std::size_t w = 0; w < (count + 31) / 32; ++w) {
        const std::uint64_t next = w + 1 < signs.size() ? signs[w + 1] : 0;
        room[w] = static_cast<std::uint32_t>((next << 32 | signs[w]) >> shift);
    }
    return room;
}

}  // namespace phy::detail

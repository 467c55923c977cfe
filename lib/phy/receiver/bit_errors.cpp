#include "phy/receiver/bit_errors.hpp"

#include <algorithm>
#include <type_traits>

namespace phy::detail {
namespace {

template <typename SoftBit>
bool is_one(SoftBit soft_bit) {
    if constexpr (std::is_arithmetic_v<SoftBit>)
        return soft_bit < 0;
    else
        return soft_bit.bits > 0x8000U;  // minus zero
}

/// In pieces whose count fits into a byte, so that many are compared at once.
template <typename SoftBit>
std::uint64_t count_wrong(const std::byte* soft_bits, std::span<const std::uint8_t> truth) {
    constexpr std::size_t piece = 128;
    const auto* const values = reinterpret_cast<const SoftBit*>(soft_bits);
    std::uint64_t wrong = 0;
    for (std::size_t first = 0; first < truth.size(); first += piece) {
        const std::size_t end = std::min(first + piece, truth.size());
        std::uint8_t here = 0;
        for (std::size_t i = first; i < end; ++i)
            here = static_cast<std::uint8_t>(here + (is_one(values[i]) != (truth[i] != 0) ? 1 : 0));
        wrong += here;
    }
    return wrong;
}

}  // namespace

std::uint64_t count_bit_errors(SoftBitView soft_bits, std::span<const std::uint8_t> truth) {
    return with_constant(soft_bits.format(), [&](auto format) {
        return count_wrong<SoftBitOf<format()>>(soft_bits.data(), truth);
    });
}

}  // namespace phy::detail

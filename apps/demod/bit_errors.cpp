#include "demod/bit_errors.hpp"

#include <algorithm>

#include "phy/core/half.hpp"

namespace phy::apps {
namespace {

template <typename SoftBit>
bool is_one(SoftBit soft_bit) {
    return soft_bit < 0;
}

bool is_one(half soft_bit) {
    constexpr std::uint16_t minus_zero = 0x8000U;
    return soft_bit.bits > minus_zero;
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

std::uint64_t count_bit_errors(SoftBitFormat format, std::span<const std::byte> soft_bits,
                               std::span<const std::uint8_t> truth) {
    switch (format) {
        case SoftBitFormat::int8:
            return count_wrong<std::int8_t>(soft_bits.data(), truth);
        case SoftBitFormat::float16:
            return count_wrong<half>(soft_bits.data(), truth);
        case SoftBitFormat::float32:
            return count_wrong<float>(soft_bits.data(), truth);
    }
    return 0;
}

}  // namespace phy::apps

#include "link_sim/statistics.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>

namespace phy::apps {
namespace {

/// The information in one soft bit; agreement is (1 - 2 b) L in nats.
double information_of(double agreement) {
    // The rest is below the rounding of 1.
    if (agreement > 40.0) return 1.0;
    const double nats = std::log1p(std::exp(-std::fabs(agreement))) + (agreement < 0.0 ? -agreement : 0.0);
    return 1.0 - nats * std::numbers::log2e;
}

/// int8 has few values, so the information in each is computed once.
double information_of_int8(SoftBitView soft_bits, float scale, std::span<const std::uint8_t> bits) {
    std::array<std::uint64_t, 257> counts = {};
    for (std::size_t i = 0; i < bits.size(); ++i) {
        // 128 + L, from 0 to 255.
        const auto level = std::to_integer<std::size_t>(soft_bits.data()[i]) ^ 0x80U;
        ++counts[bits[i] != 0 ? 256 - level : level];
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double agreement = (static_cast<double>(i) - 128.0) / static_cast<double>(scale);
        sum += static_cast<double>(counts[i]) * information_of(agreement);
    }
    return sum;
}

BlockSums join_blocks(const BlockSums& left, const BlockSums& right) {
    return {left.blocks + right.blocks, left.errors + right.errors, left.code_blocks + right.code_blocks,
            left.iterations + right.iterations};
}

}  // namespace

LinkSums join(const LinkSums& left, const LinkSums& right) {
    return {phy::join(left.symbols, right.symbols), phy::join(left.soft_bits, right.soft_bits),
            left.information + right.information, join(left.bit_errors, right.bit_errors),
            join_blocks(left.blocks, right.blocks)};
}

double information(SoftBitView soft_bits, float scale, std::span<const std::uint8_t> bits) {
    return with_constant(soft_bits.format(), [&](auto format) {
        using T = SoftBitOf<format()>;
        if constexpr (sizeof(T) == 1) return information_of_int8(soft_bits, scale, bits);
        double sum = 0.0;
        for (std::size_t i = 0; i < bits.size(); ++i) {
            T value;
            std::memcpy(&value, soft_bits.data() + i * sizeof value, sizeof value);
            const auto nats = static_cast<double>(static_cast<float>(value));
            sum += information_of(bits[i] != 0 ? -nats : nats);
        }
        return sum;
    });
}

}  // namespace phy::apps

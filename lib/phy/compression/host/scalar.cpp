// One number at a time: the reference for every instruction set.

#include <cstring>

#include "phy/compression/host/kernels.hpp"
#include "phy/compression/math/integers.hpp"
#include "phy/simd/ops_scalar.hpp"

namespace phy::detail {
namespace scalar {
namespace {

/// The big-endian word from a byte of a block on; missing bytes are 0.
std::uint32_t word_at(const std::uint8_t* block, std::size_t bytes, std::size_t byte) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i)
        word = word << 8 | (byte + i < bytes ? block[byte + i] : 0U);
    return word;
}

template <typename Component, typename Convert>
void decompress(const CompressedBlocks& in, void* out, const Convert& convert) {
    auto* to = static_cast<std::byte*>(out);
    const std::size_t bytes = in.bytes_per_block();
    const std::size_t header = in.has_exponent ? 1 : 0;
    for (std::size_t block = 0; block < in.blocks; ++block) {
        const std::uint8_t* const from = in.bytes + block * bytes;
        const unsigned exponent = in.has_exponent ? exponent_of(*from) : 0;
        for (std::size_t i = 0; i < components_per_block; ++i) {
            const std::size_t bit = i * in.width;
            const std::uint32_t word = word_at(from, bytes, header + bit / 8);
            const std::int32_t mantissa = mantissa_of(word, static_cast<unsigned>(bit % 8), in.width);
            const Component component = convert(value_of(mantissa, exponent));
            std::memcpy(to, &component, sizeof component);
            to += sizeof component;
        }
    }
}

void to_integers(const CompressedBlocks& in, void* out) {
    decompress<std::int16_t>(in, out, [](std::int32_t value) { return limited_to_16_bits(value); });
}

void to_floats(const CompressedBlocks& in, float unit, void* out) {
    decompress<float>(in, out,
                      [unit](std::int32_t value) { return Ops::mul(static_cast<float>(value), unit); });
}

}  // namespace
}  // namespace scalar

constinit const DecompressionKernels scalar_decompression_kernels = {&scalar::to_integers,
                                                                     &scalar::to_floats};

}  // namespace phy::detail

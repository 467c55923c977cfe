// One number at a time: the reference for all instruction sets.

#include "phy/scrambling/host/kernels.hpp"
#include "phy/scrambling/math/gold.hpp"
#include "phy/scrambling/math/gold_words-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

void follow(std::uint32_t* words, std::size_t /*before*/, std::size_t count) {
    for (std::uint32_t* word = words; word != words + count; ++word)
        *word = following_words([&](std::size_t k) { return *(word - gold_history + k); });
}

void scramble(const std::uint8_t* in, std::uint8_t* out, std::size_t count, const std::uint32_t* c) {
    for (std::size_t i = 0; i < count; ++i)
        out[i] = static_cast<std::uint8_t>(in[i] ^ (c[i / 32] >> (i % 32) & 1));
}

}  // namespace
}  // namespace scalar

constinit const ScramblingKernels scalar_scrambling_kernels = {&scalar::follow, &scalar::scramble};

}  // namespace phy::detail

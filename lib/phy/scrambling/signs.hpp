#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/machine/host.hpp"

/// Signs of soft bits for demappers. Codewords may begin at any bit.
namespace phy::detail {

/// The bits of an array of signs that are c(first), c(first + 1) ...
struct SignBits {
    std::uint64_t begin;
    std::uint64_t count;  ///< not 0
    std::uint64_t first;

    /// The words that hold the bits, and the index in c of the first bit of those words. That may be before
    /// c(0): c is periodic.
    [[nodiscard]] std::uint64_t first_word() const { return begin / 32; }
    [[nodiscard]] std::uint64_t words() const { return (begin % 32 + count + 31) / 32; }
    [[nodiscard]] std::uint64_t first_of_words() const;
};

/// Bits before these stay unchanged; bits after them in the last word may change.
void write_signs(const Host& host, std::uint32_t c_init, const SignBits& bits,
                 std::span<std::uint32_t> signs);
void write_signs(const gpu::Device& device, std::uint32_t c_init, const SignBits& bits,
                 gpu::DeviceSpan<std::uint32_t> signs, cudaStream_t stream);

/// Cuts the elements first ... first + count - 1 of a stream of codewords where a codeword begins. codeword:
/// elements per codeword; none: the stream is one codeword. For each piece calls use(begin, count, first):
/// its begin among the count elements, and the index of its first element in its codeword.
template <typename Use>
void for_codewords(std::uint64_t first, std::uint64_t count, std::optional<std::uint64_t> codeword,
                   const Use& use) {
    for (std::uint64_t done = 0; done < count;) {
        const std::uint64_t left = count - done;
        const std::uint64_t index = codeword ? (first + done) % *codeword : first + done;
        const std::uint64_t now = codeword ? std::min(left, *codeword - index) : left;
        use(done, now, index);
        done += now;
    }
}

}  // namespace phy::detail

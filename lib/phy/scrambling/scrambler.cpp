#include "phy/scrambling/scrambler.hpp"

#include <algorithm>

#include "phy/machine/thread_pool.hpp"
#include "phy/scrambling/host/gold_stream.hpp"
#include "phy/scrambling/math/check.hpp"

namespace phy {
namespace {

/// Calls work(first, count, c) for blocks of bits of all codewords, which follow each other, with their bits
/// of c.
template <typename Work>
void for_each_block(const Host& host, std::span<const std::uint32_t> c_init, std::size_t all_bits,
                    std::uint64_t first, const Work& work) {
    if (all_bits == 0) return;
    const detail::ScramblingKernels& kernels = detail::scrambling_kernels(host.backend());
    const std::size_t length = all_bits / c_init.size();
    // A jump to a piece takes little time compared with the piece.
    constexpr std::size_t piece = detail::GoldStream::max_bits;
    const std::size_t pieces = (length + piece - 1) / piece;
    host.pool().for_each(pieces * c_init.size(), [&](int, std::size_t index) noexcept {
        const std::size_t codeword = index / pieces;
        const std::size_t begin = index % pieces * piece;
        const std::size_t end = std::min(length, begin + piece);
        detail::GoldStream stream(kernels, c_init[codeword], first + begin);
        for (std::size_t at = begin; at < end; at += detail::GoldStream::block_bits) {
            const std::size_t count = std::min(end - at, detail::GoldStream::block_bits);
            work(codeword * length + at, count, stream.next(count));
        }
    });
}

}  // namespace

void Scrambler::operator()(std::span<const std::uint32_t> c_init, std::span<const std::uint8_t> bits,
                           std::span<std::uint8_t> scrambled, std::uint64_t first) const {
    detail::check_c_init(c_init);
    detail::check_codewords("bits", bits.size(), "scrambled", scrambled.size(), c_init.size());
    const auto scramble = detail::scrambling_kernels(host_.backend()).scramble;
    for_each_block(host_, c_init, bits.size(), first,
                   [&](std::size_t at, std::size_t count, const std::uint32_t* c) {
                       scramble(bits.data() + at, scrambled.data() + at, count, c);
                   });
}

}  // namespace phy

#include <algorithm>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/scrambling/gold.hpp"
#include "phy/scrambling/gold_sequence.hpp"
#include "phy/scrambling/scrambler.hpp"
#include "phy/scrambling/signs.hpp"
#include "phy/simd/arrays.hpp"

#define PHY_KERNELS "phy/scrambling/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

/// Throws BackendError if the backend does not run here or needs device memory.
const ScramblingKernels& scrambling_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, ScramblingKernels);
}

void write_words(const ScramblingKernels& kernels, std::uint32_t c_init, std::uint64_t first,
                 std::span<std::uint32_t> words) {
    GoldRegisters registers(c_init, steps_to(first));
    const std::size_t head = std::min(words.size(), gold_history);
    for (std::uint32_t& word : words.first(head))
        word = registers.next();
    kernels.follow(words.data() + head, head, words.size() - head);
}

/// c from a given bit on, block by block.
class GoldStream {
public:
    static constexpr std::size_t block_bits = 16384;
    static constexpr std::size_t max_bits = 8 * block_bits;

    GoldStream(const ScramblingKernels& kernels, std::uint32_t c_init, std::uint64_t first)
        : kernels_(kernels) {
        // The words before the first one. If they would be before c(0), the period provides them.
        GoldRegisters registers(c_init, steps_to(first) + gold_period - 32 * gold_history);
        for (std::size_t i = 0; i < gold_history; ++i)
            words_[i] = registers.next();
    }

    /// Returns the next bits, up to max_bits over all calls. All calls but the last take a multiple of 32.
    /// The result is padded for ArrayKernels::flip.
    const std::uint32_t* next(std::size_t bits) {
        std::uint32_t* const next = words_ + done_;
        kernels_.follow(next, done_, (bits + 31) / 32);
        done_ += (bits + 31) / 32;
        return next;
    }

private:
    const ScramblingKernels& kernels_;
    std::size_t done_ = gold_history;
    alignas(64) std::uint32_t words_[gold_history + words_of_signs(max_bits)];
};

/// Calls work(first, count, c) for blocks of bits of all codewords, which follow each other, with their bits
/// of c.
template <typename Work>
void for_each_block(const Host& host, std::span<const std::uint32_t> c_init, std::size_t all_bits,
                    std::uint64_t first, const Work& work) {
    if (all_bits == 0) return;
    const ScramblingKernels& kernels = scrambling_kernels(host.backend());
    const std::size_t length = all_bits / c_init.size();
    // A jump to a piece takes little time compared with the piece.
    constexpr std::size_t piece = GoldStream::max_bits;
    const std::size_t pieces = (length + piece - 1) / piece;
    host.pool().for_each(pieces * c_init.size(), [&](int, std::size_t index) noexcept {
        const std::size_t codeword = index / pieces;
        const std::size_t begin = index % pieces * piece;
        const std::size_t end = std::min(length, begin + piece);
        GoldStream stream(kernels, c_init[codeword], first + begin);
        for (std::size_t at = begin; at < end; at += GoldStream::block_bits) {
            const std::size_t count = std::min(end - at, GoldStream::block_bits);
            work(codeword * length + at, count, stream.next(count));
        }
    });
}

}  // namespace
}  // namespace detail

std::uint32_t ScramblingIdentity::c_init() const {
    detail::check_range("n_RNTI", rnti, 0, 0xFFFF);
    detail::check_range("n_ID", id, 0, 1023);
    if (codeword != 0 && codeword != 1)
        throw ArgumentError("codeword " + std::to_string(codeword) + ": expected 0 or 1");
    return (rnti << 15) + (static_cast<std::uint32_t>(codeword) << 14) + id;
}

void gold_sequence(std::uint32_t c_init, std::uint64_t first, std::span<std::uint32_t> words) {
    detail::check_c_init(c_init);
    detail::write_words(detail::scalar::kernels, c_init, first, words);
}

void gold_sequence(const Host& host, std::uint32_t c_init, std::uint64_t first,
                   std::span<std::uint32_t> words) {
    detail::check_c_init(c_init);
    const detail::ScramblingKernels& kernels = detail::scrambling_kernels(host.backend());
    constexpr std::size_t piece = 16384;
    const std::size_t pieces = (words.size() + piece - 1) / piece;
    host.pool().for_each(pieces, [&](int, std::size_t index) noexcept {
        const std::size_t begin = index * piece;
        detail::write_words(kernels, c_init, first + 32 * begin,
                            words.subspan(begin, std::min(piece, words.size() - begin)));
    });
}

std::uint64_t detail::SignBits::first_of_words() const {
    return first % gold_period + gold_period - begin % 32;
}

void detail::write_signs(const Host& host, std::uint32_t c_init, const SignBits& bits,
                         std::span<std::uint32_t> signs) {
    const std::span<std::uint32_t> words = signs.subspan(bits.first_word(), bits.words());
    const std::uint32_t before = words.front();
    gold_sequence(host, c_init, bits.first_of_words(), words);
    const std::uint32_t kept = (1U << (bits.begin % 32)) - 1;
    words.front() = (words.front() & ~kept) | (before & kept);
}

void Scrambler::operator()(std::span<const std::uint32_t> c_init, std::span<const std::uint8_t> bits,
                           std::span<std::uint8_t> scrambled, std::uint64_t first) const {
    for (const std::uint32_t of_codeword : c_init)
        detail::check_c_init(of_codeword);
    detail::check_size("scrambled", scrambled.size(), bits.size());
    detail::check_codewords("bits", bits.size(), c_init.size());
    const auto scramble = detail::scrambling_kernels(host_.backend()).scramble;
    detail::for_each_block(host_, c_init, bits.size(), first,
                           [&](std::size_t at, std::size_t count, const std::uint32_t* c) {
                               scramble(bits.data() + at, scrambled.data() + at, count, c);
                           });
}

}  // namespace phy

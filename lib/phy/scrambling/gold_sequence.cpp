#include "phy/scrambling/gold_sequence.hpp"

#include <algorithm>
#include <string>

#include "phy/core/error.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/scrambling/host/kernels.hpp"
#include "phy/scrambling/math/check.hpp"
#include "phy/scrambling/math/gold.hpp"
#include "phy/scrambling/signs.hpp"

#define PHY_KERNELS "phy/scrambling/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {

const detail::ScramblingKernels& detail::scrambling_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, ScramblingKernels);
}

namespace {

void write_words(const detail::ScramblingKernels& kernels, std::uint32_t c_init, std::uint64_t first,
                 std::span<std::uint32_t> words) {
    detail::GoldRegisters registers(c_init, detail::steps_to(first));
    const std::size_t head = std::min(words.size(), detail::gold_history);
    for (std::uint32_t& word : words.first(head))
        word = registers.next();
    kernels.follow(words.data() + head, head, words.size() - head);
}

}  // namespace

std::uint32_t ScramblingIdentity::c_init() const {
    if (rnti > 0xFFFF) throw ArgumentError("n_RNTI " + std::to_string(rnti) + ": expected 0 to 65535");
    if (id > 1023) throw ArgumentError("n_ID " + std::to_string(id) + ": expected 0 to 1023");
    if (codeword != 0 && codeword != 1)
        throw ArgumentError("codeword " + std::to_string(codeword) + ": expected 0 or 1");
    return (rnti << 15) + (static_cast<std::uint32_t>(codeword) << 14) + id;
}

void gold_sequence(std::uint32_t c_init, std::uint64_t first, std::span<std::uint32_t> words) {
    detail::check_c_init(c_init);
    write_words(detail::scalar::kernels, c_init, first, words);
}

void gold_sequence(const Host& host, std::uint32_t c_init, std::uint64_t first,
                   std::span<std::uint32_t> words) {
    detail::check_c_init(c_init);
    const detail::ScramblingKernels& kernels = detail::scrambling_kernels(host.backend());
    constexpr std::size_t piece = 16384;
    const std::size_t pieces = (words.size() + piece - 1) / piece;
    host.pool().for_each(pieces, [&](int, std::size_t index) noexcept {
        const std::size_t begin = index * piece;
        write_words(kernels, c_init, first + 32 * begin,
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

}  // namespace phy
